"""A language model behind a command that reads a prompt on stdin and prints an answer: `claude -p`, `codex exec`.

It runs without a shell, in an empty folder (an agent that follows words of a transcript finds nothing to change there),
in its own process group, and with a variable that keeps us from learning from our own question.
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

MAX_SHOWN_CHARS = 200  # characters of a command's own words in an error


class CommandLlm:
    """Asks by running a command. Only its first word is ever shown: the others may hold a secret."""

    def __init__(self, settings: LlmSettings):
        try:
            self._words = shlex.split(settings.command, posix=os.name == "posix")
        except ValueError:
            self._words = []
        if not self._words:
            raise LlmFailure("llm.provider has an open quote", "Write it as in a terminal.")
        self._seconds = settings.timeout
        self.name = os.path.basename(self._words[0])

    def complete(self, prompt: str, system: str = "", schema: Mapping[str, object] | None = None) -> str:
        """Return the answer, as Llm.complete does. The schema is only in the prompt: a command takes none."""
        given = "\n\n".join(part for part in (system, prompt) if part)
        with tempfile.TemporaryDirectory(prefix="rawkomem-") as empty:
            process = self._start(empty)
            out, err = self._talk(process, given)
        text = out.decode("utf-8", "replace").strip()
        if process.returncode:
            raise LlmFailure(complaint(self.name, process.returncode, err), "Try llm.provider by hand.")
        if not text:
            hint = "It must read the prompt on stdin: for example `claude -p`."
            raise LlmFailure(f"{self.name} printed nothing", hint)
        return text

    def _talk(self, process: subprocess.Popen[bytes], given: str) -> tuple[bytes, bytes]:
        """Return what the command prints. Where that fails, end the command and everything that it started."""
        try:
            return process.communicate(given.encode("utf-8", "replace"), timeout=self._seconds)
        except subprocess.TimeoutExpired:
            end_group(process)
            said = f"{self.name} did not answer within {self._seconds:g} s"
            raise LlmFailure(said, "Try the command by hand, or a faster model.") from None
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
            raise LlmFailure(f"cannot run {self.name}: {reason}", "Is it installed? Give a full path.") from None


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End the command and all that it started."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass
    process.communicate()


def complaint(name: str, code: int, err: bytes) -> str:
    """Return what a command that failed has to say: the last line of its errors, without secrets."""
    lines = err.decode("utf-8", "replace").strip().splitlines()
    words = one_line(redact(lines[-1]), MAX_SHOWN_CHARS) if lines else ""
    return f"{name} ended with code {code}" + (f": {words}" if words else "")
