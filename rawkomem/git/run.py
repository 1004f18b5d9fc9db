"""Run git in an untrusted repository: a clean environment, no prompts, no network, a time limit."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping

NOTHING: Mapping[str, str] = {}  # shared, never changed
TIMEOUT_S = 60.0  # for all calls of one Git object; a history that takes longer to read gives an error
# Variables that the user sets, not a hook.
KEPT_VARIABLES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")
ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # read the history as it was committed
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone must not fetch …
    "GIT_ALLOW_PROTOCOL": "none",  # … also with a git that does not know the variable above
    "LC_ALL": "C",
}
# Override settings of the repository that could run programs or hide data.
SETTINGS = ("core.fsmonitor=false", "log.showSignature=false", "log.showRoot=true", "i18n.logOutputEncoding=UTF-8")
# part of git's message → hint
HINTS = {
    "not a git repository": "run the command inside a git work tree ('git init' creates one)",
    "must be run in a work tree": "run the command inside a git work tree, not in a bare repository",
    "dubious ownership": "tell git that you trust this folder: git config --global --add safe.directory FOLDER",
    "could not lock": "check that no other git is running and that you can write to .git, then run the command again",
}


class GitFailed(Exception):
    """Raised if git fails: the reason, and a hint what to do next."""

    def __init__(self, message: str, hint: str = "this is git's own message: fix the cause, then try again"):
        super().__init__(message)
        self.hint = hint


class Git:
    """Runs git in one folder, with one time limit for all calls; `given` is added to its environment."""

    def __init__(self, folder: str, seconds: float = TIMEOUT_S, given: Mapping[str, str] = NOTHING):
        self.folder = folder
        self.given = given
        self.program = shutil.which("git") or ""
        self.until = time.monotonic() + seconds
        if not self.program or os.path.realpath(self.program).startswith(os.path.realpath(folder) + os.sep):
            raise GitFailed("git is not installed", "install git, or put it on your PATH")

    def run(self, *words: str, given: bytes = b"", fine: tuple[int, ...] = (0,)) -> bytes:
        """Return git's output; raise GitFailed with git's message if the exit code is not in `fine`.

        `given` is the standard input.
        """
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        try:
            done = subprocess.run(
                [self.program, "--no-pager", *settings, *words],
                cwd=self.folder,
                env={**_environment(), **self.given},
                input=given,
                capture_output=True,
                timeout=max(0.1, self.until - time.monotonic()),
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GitFailed("git took too long", "try again when the machine is less busy") from None
        except OSError as failure:
            raise GitFailed(f"git cannot be run: {failure.strerror}") from None
        if done.returncode not in fine:
            said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            hints = [hint for words_of_git, hint in HINTS.items() if words_of_git in said.lower()]
            raise GitFailed(said.removeprefix("fatal: ") or f"git {words[0]} failed", *hints[:1])
        return done.stdout


def _environment() -> dict[str, str]:
    """Return our environment without the variables that a hook, an editor or another git set for a repository."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in KEPT_VARIABLES}
    return {**kept, **ENVIRONMENT}
