"""Starts the user's embedding server if it is not running, and waits until it listens. The server keeps running."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from typing import TYPE_CHECKING

from .failure import EmbedderFailed

if TYPE_CHECKING:
    from ..net.client import Client

START_TIMEOUT_S = 60.0  # enough to load a model of some gigabytes from a slow disk
POLL_S = 0.1  # seconds between two checks


def start_server(command: str, client: Client, limit: float = START_TIMEOUT_S) -> subprocess.Popen[bytes]:
    """Run the command, without a shell, in its own session; return when the client can connect.

    Raise EmbedderFailed if the command fails, or if the server does not listen in time.
    """
    words = split_command(command)
    nowhere = subprocess.DEVNULL
    try:
        process = subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)
    except OSError as error:  # only the first word is shown: the others may hold a secret
        raise EmbedderFailed(f"cannot run {words[0]}: {type(error).__name__}", "Use a full path in embedder.start.")
    deadline = time.monotonic() + limit
    while not client.listens():
        if process.poll():  # 0 is no failure: some launchers exit while their server starts
            message = f"{words[0]} ended with code {process.returncode}"
            raise EmbedderFailed(message, "Run the command in embedder.start by hand.")
        if time.monotonic() > deadline:
            process.terminate()
            place = f"{client.target.host}:{client.target.port}"
            message = f"{words[0]} runs, but {place} did not open within {limit:g} s"
            raise EmbedderFailed(message, "Check that embedder.provider and embedder.start mean the same server.")
        time.sleep(POLL_S)
    return process


def split_command(command: str) -> list[str]:
    """Return the words of a command line; raise EmbedderFailed if there are none."""
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError:  # a quote that is not closed
        words = []
    if not words:
        raise EmbedderFailed("the start command is empty or has an open quote", "Correct embedder.start.")
    return words
