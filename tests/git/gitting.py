"""Real git repositories for tests: nobody's own configuration counts."""

import os
import subprocess
from pathlib import Path

PERSON = ("Ada Person", "ada@example.org")
AGENT = ("claude[bot]", "noreply@anthropic.com")
# Without `maintenance.auto`, each commit would start a process that looks for packs to join.
NAMES = ("init.defaultBranch=main", "protocol.file.allow=always", "maintenance.auto=false", "gc.auto=0")
SETTINGS = [word for name in NAMES for word in ("-c", name)]


class Git:
    """Runs git in a folder, as somebody."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, *words: str, by: tuple[str, str] = PERSON, check: bool = True, env: dict | None = None) -> str:
        done = self.run(*words, by=by, env=env)
        assert not check or done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
        return done.stdout.strip()

    def run(
        self, *words: str, by: tuple[str, str] = PERSON, env: dict | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run git, and return its exit code and what it printed."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        name, mail = by
        who = {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", name), ("EMAIL", mail))
        }
        settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_EDITOR": "true"}
        return subprocess.run(
            ["git", *SETTINGS, *words],
            cwd=self.folder, env={**clean, **who, **settings, **(env or {})}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def commit(self, message: str = "change", by: tuple[str, str] = PERSON, *flags: str) -> None:
        """Everything there is, as one commit."""
        self("add", "-A", by=by)
        self("commit", "-q", "-m", message, *flags, by=by)
