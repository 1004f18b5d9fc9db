"""Ask a language model by running a command that reads a prompt on stdin and prints the answer, like `claude -p`.

The command runs without a shell, in its own process group, and in an empty folder, so that an agent that obeys text in
a transcript finds nothing to change. An environment variable keeps rawkomem from learning from its own question.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from typing import TYPE_CHECKING

from ...model.user_settings import GUARD
from ...redaction.find import redact
from ...text.clean import one_line
from .model import LlmFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model.user_settings import LlmSettings

MAX_SHOWN_CHARS = 200  # of a command's error output in our message


class CommandLlm:
    """A model that is asked by running a command. Messages show only its first word: the others may hold a secret."""

    def __init__(self, settings: LlmSettings):
        try:
            self._words = shlex.split(settings.command, posix=os.name == "posix")
        except ValueError:
            self._words = []
        if not self._words:
            raise LlmFailure("the command in llm.provider has an open quote", "Write it as in a terminal.")
        self._seconds = settings.timeout
        self.name = os.path.basename(self._words[0])

    def complete(self, prompt: str, system: str = "", schema: Mapping[str, object] | None = None) -> str:
        """Return the answer, as Llm.complete does. The schema is ignored: `ask` has put it into the prompt."""
        given = "\n\n".join(part for part in (system, prompt) if part)
        with tempfile.TemporaryDirectory(prefix="rawkomem-") as empty:
            process = self._start(empty)
            out, err = self._talk(process, given)
        text = out.decode("utf-8", "replace").strip()
        if process.returncode:
            raise LlmFailure(complaint(self.name, process.returncode, err), "Run the command in llm.provider by hand.")
        if not text:
            hint = "Set llm.provider to a command that reads the prompt on stdin, for example `claude -p`."
            raise LlmFailure(f"{self.name} printed nothing", hint)
        return text

    def _talk(self, process: subprocess.Popen[bytes], given: str) -> tuple[bytes, bytes]:
        """Return what the command prints. On a timeout or any error, kill it and all processes that it started."""
        try:
            return process.communicate(given.encode("utf-8", "replace"), timeout=self._seconds)
        except subprocess.TimeoutExpired:
            end_group(process)
            said = f"{self.name} did not answer within {self._seconds:g} s"
            raise LlmFailure(said, "Run the command by hand, or use a faster model.") from None
        except BaseException:
            end_group(process)
            raise

    def _start(self, folder: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        environment = {**os.environ, GUARD: "1"}
        try:
            return subprocess.Popen(
                self._words, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=environment, start_new_session=True
            )
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise LlmFailure(f"cannot run {self.name}: {reason}", "Install it, or give its full path.") from None


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the command and, except on Windows, all processes that it started."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass
    process.communicate()


def complaint(name: str, code: int, err: bytes) -> str:
    """Return a message for a failed command: its exit code and the last line of its error output, redacted."""
    lines = err.decode("utf-8", "replace").strip().splitlines()
    words = one_line(redact(lines[-1]), MAX_SHOWN_CHARS) if lines else ""
    return f"{name} ended with code {code}" + (f": {words}" if words else "")
