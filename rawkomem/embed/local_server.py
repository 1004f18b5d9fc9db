"""Starts the user's own embedding server when it is not up, and waits until it listens. It is left running."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from typing import TYPE_CHECKING

from .failure import EmbedderFailed

if TYPE_CHECKING:
    from ..net.client import Client

START_TIMEOUT_S = 60.0  # seconds: loading a model of some gigabytes from a slow disk
POLL_S = 0.1  # seconds between two looks


def start_server(command: str, client: Client, limit: float = START_TIMEOUT_S) -> subprocess.Popen[bytes]:
    """Run the command, without a shell, in a session of its own; returns once the client can connect."""
    words = split_command(command)
    nowhere = subprocess.DEVNULL
    try:
        process = subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)
    except OSError as error:  # only the first word is shown: the others may hold a secret
        raise EmbedderFailed(f"cannot run {words[0]}: {type(error).__name__}", "Give start a full path.")
    deadline = time.monotonic() + limit
    while not client.listens():
        if process.poll():  # 0 is no failure: some launchers return once their server is on its way
            raise EmbedderFailed(f"{words[0]} ended with code {process.returncode}", "Try the start command by hand.")
        if time.monotonic() > deadline:
            process.terminate()
            place = f"{client.target.host}:{client.target.port}"
            message = f"{words[0]} runs, but {place} did not open within {limit:g} s"
            raise EmbedderFailed(message, "Do url and start agree?")
        time.sleep(POLL_S)
    return process


def split_command(command: str) -> list[str]:
    """Return the words of a command line."""
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError:  # a quote that is not closed
        words = []
    if not words:
        raise EmbedderFailed("the start command is empty or has an open quote", "Write it as in a terminal.")
    return words
