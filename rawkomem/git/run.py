"""Run git in an untrusted repository: a clean environment, no prompts, no network, a time limit."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping

NOTHING: Mapping[str, str] = {}  # shared, never changed
TIMEOUT_S = 60.0  # for one reading of history; a project with more than that has no answer rather than a slow one
KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")  # the user's, not a hook's
ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # history as it was committed
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone must not fetch …
    "GIT_ALLOW_PROTOCOL": "none",  # … nor with a git that does not know the line above
    "LC_ALL": "C",
}
# What a repository's own settings could make git run, or hide from us.
SETTINGS = ("core.fsmonitor=false", "log.showSignature=false", "log.showRoot=true", "i18n.logOutputEncoding=UTF-8")
# What git itself says, which is all that it gives → what helps.
HINTS = {
    "not a git repository": "run it inside a git work tree ('git init' makes one)",
    "must be run in a work tree": "run it inside a git work tree, not in a bare repository",
    "dubious ownership": "tell git that you trust this folder: git config --global --add safe.directory FOLDER",
    "could not lock": "another git may be running, or its folder cannot be written: check, then run it again",
}


class GitFailed(Exception):
    """Git has no answer: the reason in a few words, and what to do next."""

    def __init__(self, message: str, hint: str = "git said so itself: fix that, then run it again"):
        super().__init__(message)
        self.hint = hint


class Git:
    """Git in one folder, with one time limit for all calls; `given` is added to its environment."""

    def __init__(self, folder: str, seconds: float = TIMEOUT_S, given: Mapping[str, str] = NOTHING):
        self.folder = folder
        self.given = given
        self.program = shutil.which("git") or ""
        self.until = time.monotonic() + seconds
        if not self.program or os.path.realpath(self.program).startswith(os.path.realpath(folder) + os.sep):
            raise GitFailed("git is not installed", "install git, or put it on your PATH")

    def run(self, *words: str, given: bytes = b"", fine: tuple[int, ...] = (0,)) -> bytes:
        """Return what git prints; raise GitFailed with git's own words if the exit code is not in `fine`."""
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
            raise GitFailed("git takes too long", "try again when the machine is less busy") from None
        except OSError as failure:
            raise GitFailed(f"git cannot be run: {failure.strerror}") from None
        if done.returncode not in fine:
            said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            hints = [hint for words_of_git, hint in HINTS.items() if words_of_git in said.lower()]
            raise GitFailed(said.removeprefix("fatal: ") or f"git {words[0]} failed", *hints[:1])
        return done.stdout


def _environment() -> dict[str, str]:
    """Return our environment without variables that a hook, an editor or another git set for its own repository."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in KEPT}
    return {**kept, **ENVIRONMENT}
