"""Connects a repository's git with its memories: the merge driver, what git ignores, and a hook that checks commits.

A plan first: every file and setting that would change, with what it was. Removing is a plan too, and takes out only
what was put in. Hooks that another program manages are its own: then the plan says what to add there.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, TypeVar

from ..model.errors import NotFound, Unwritable
from ..model.record import record
from ..text.marked import cut_block, put_block
from .git import GitFailed
from .worktree import WorkTree, work_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .layout import Layout

T = TypeVar("T")

DRIVER = "merge.rawkomem"
ATTRIBUTE = "*.md merge=rawkomem"
IGNORED = "/local/"
CONFIG_HOOKS = (2, 54)  # the first git that takes hooks from its settings, several for one event
CHECK, SYNC = "pre-commit", "post-merge"
# What another program's hooks are told by, and how they are told to run ours.
MANAGERS = {
    "pre-commit": (".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"),
    "lefthook": tuple(f"{dot}lefthook.{end}" for dot in ("", ".") for end in ("yml", "yaml", "toml", "json", "jsonc")),
    "husky": (".husky",),
}
ADVICE = {
    "pre-commit": "add to the 'repos:' of {file}:\n"
    "  - repo: local\n    hooks:\n      - id: rawkomem-check\n        name: rawkomem check\n"
    "        entry: {check}\n        language: system\n        pass_filenames: false\n        always_run: true",
    "lefthook": "add to {file}:\n  pre-commit:\n    jobs:\n      - name: rawkomem\n        run: {check}",
    "husky": "add a line to .husky/pre-commit:\n  {check}",
}
SHELL = re.compile(rb"\A#![^\n]*\b(?:ba|da|k|z)?sh\b[^\n]*\n")
START = "#!/bin/sh\n"


@record
class FileChange:
    """A file that is written, changed or (after: None) removed."""

    path: str
    before: bytes | None
    after: bytes | None
    why: str
    executable: bool = False


@record
class SettingChange:
    """A setting of this clone's git; None is unset."""

    key: str
    before: str | None
    after: str | None
    why: str


@record
class Connection:
    """What would change, and what a person has to do."""

    tree: WorkTree
    files: tuple[FileChange, ...]
    settings: tuple[SettingChange, ...]
    advice: tuple[str, ...] = ()


@record
class Wanted:
    """How to connect: the program to run, checks to leave out, and whether the index follows merges at once."""

    program: Sequence[str]
    skip: Sequence[str] = ()
    sync: bool = False


def plan_connect(layout: Layout, wanted: Wanted) -> Connection:
    """What connecting changes; nothing where it is done already."""
    return _asked(lambda: _Connecting(layout).plan(wanted))


def plan_remove(layout: Layout) -> Connection:
    """What takes all of it out again."""
    return _asked(lambda: _Connecting(layout).removal())


def carry_out(connection: Connection) -> None:
    """Write the files, then the settings."""
    for change in connection.files:
        try:
            _write(change)
        except OSError as failure:
            raise Unwritable(f"cannot write {change.path}: {failure.strerror}", "check permissions") from None
    _asked(lambda: _set_all(connection))


def _asked(ask: Callable[[], T]) -> T:
    """What git answers; where it cannot, that is the user's to know."""
    try:
        return ask()
    except GitFailed as failure:
        raise NotFound(f"git: {failure}", "run it inside a git work tree ('git init' makes one)") from None


def _set_all(connection: Connection) -> None:
    git = connection.tree.git
    for setting in connection.settings:
        if setting.after is not None:
            git.run("config", "--local", setting.key, setting.after)
        else:
            git.run("config", "--local", "--unset-all", setting.key)


def _write(change: FileChange) -> None:
    if change.after is None:
        os.unlink(change.path)
        return
    os.makedirs(os.path.dirname(change.path), exist_ok=True)
    with open(change.path, "wb") as stream:
        stream.write(change.after)
    if change.executable:
        os.chmod(change.path, os.stat(change.path).st_mode | 0o111)


class _Connecting:
    """One repository, its work tree and its hooks."""

    def __init__(self, layout: Layout):
        self.tree = work_tree(layout.project)
        self.layout = layout
        inside = self.tree.path(layout.project)
        self.inside = "" if inside == "." else inside
        self.name = f"rawkomem {self.inside}".strip()

    def plan(self, wanted: Wanted) -> Connection:
        manager = self._manager()
        hooks: tuple[FileChange, ...] = ()
        settings = [*self._driver(wanted)]
        advice: tuple[str, ...] = ()
        if manager:
            advice = (f"{manager[0]} runs this project's hooks: {self._advice(manager, wanted)}",)
        elif self._git_version() >= CONFIG_HOOKS:
            settings += self._config_hooks(wanted)
        else:
            hooks, advice = self._hook_files(wanted)
        return Connection(self.tree, (*self._attributes(), *hooks), tuple(settings), advice)

    def removal(self) -> Connection:
        paths = [self._own(".gitattributes"), self._own(".gitignore")]
        paths += [os.path.join(self._hook_folder(), event) for event in (CHECK, SYNC)]
        files = []
        for path in paths:
            before = _read(path)
            after = None if before is None else cut_block(before, self.name)
            if before != after:
                files.append(FileChange(path, before, after, "without our lines"))
        return Connection(self.tree, tuple(files), tuple(self._unset()))

    def _unset(self) -> Iterator[SettingChange]:
        for section in (DRIVER, *(f"hook.{self._hook_name(event)}" for event in (CHECK, SYNC))):
            for key in ("name", "driver", "command", "event"):
                before = self._setting(f"{section}.{key}")
                if before is not None:
                    yield SettingChange(f"{section}.{key}", before, None, "set by 'connect git'")

    def _attributes(self) -> Iterator[FileChange]:
        """The committed part: what a clone needs to know that memories are merged in their own way."""
        attributes, ignore = self._own(".gitattributes"), self._own(".gitignore")
        known = _read(attributes)
        if ATTRIBUTE.encode() not in (known or b""):
            after = put_block(known, self.name, f"{ATTRIBUTE}\n")
            yield FileChange(attributes, known, after, "memories are merged entry by entry")
        probe = os.path.join(self.layout.local, "index.db")
        if not self.tree.git.run("check-ignore", "--", self.tree.path(probe), fine=(0, 1)):
            known = _read(ignore)
            yield FileChange(ignore, known, put_block(known, self.name, f"{IGNORED}\n"), "the index is not committed")

    def _driver(self, wanted: Wanted) -> Iterator[SettingChange]:
        program = shlex.join(wanted.program).replace("%", "%%")
        values = {
            "name": "rawkomem: memory files, entry by entry",
            "driver": f"{program} merge-driver --marker-size %L %O %A %B %P",
        }
        for key, value in values.items():
            yield from self._set(f"{DRIVER}.{key}", value, "merges memory files")

    def _config_hooks(self, wanted: Wanted) -> Iterator[SettingChange]:
        for event, script in self._scripts(wanted.program, wanted).items():
            why = f"runs on {event}"
            yield from self._set(f"hook.{self._hook_name(event)}.event", event, why)
            yield from self._set(f"hook.{self._hook_name(event)}.command", script, why)

    def _hook_files(self, wanted: Wanted) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        folder = self._hook_folder()
        shared = _is_below(folder, self.tree.top) and not _is_below(folder, self._git_folder())
        if not shared and not _is_below(folder, self._git_folder()):
            told = f"core.hooksPath leads to {folder}, which other projects use: call '{self._plain(wanted)}' there"
            return (), (told,)
        program = ["rawkomem"] if shared else wanted.program  # a committed hook runs on every machine
        files, advice = [], []
        for event, script in self._scripts(program, wanted).items():
            path = os.path.join(folder, event)
            before = _read(path)
            if before is not None and not SHELL.match(before):
                advice.append(f"{path} is no shell script: have it run '{self._plain(wanted)}'")
                continue
            after = put_block(before, self.name, f"{script}\n", START, below_first_line=True)
            if after != before:
                files.append(FileChange(path, before, after, f"runs on {event}", executable=before is None))
            if before is not None and not os.access(path, os.X_OK):
                advice.append(f"git does not run {path}: make it executable")
        return tuple(files), tuple(advice)

    def _scripts(self, program: Sequence[str], wanted: Wanted) -> dict[str, str]:
        """event → shell code, from the top of the work tree. A missing program, or no memories here, stops nobody."""
        where = ["-C", self.inside] if self.inside else []
        check = shlex.join([*program, *where, "check", "--staged", *(f"--no-{name}" for name in wanted.skip)])
        folder = shlex.quote(f"{self.inside}/.rawko".lstrip("/"))
        found = f"command -v {shlex.quote(program[0])} >/dev/null 2>&1"
        absent = "echo 'rawkomem is not installed here: memories are not checked' >&2"
        scripts = {CHECK: f"if [ -d {folder} ]; then if {found}; then {check} || exit $?; else {absent}; fi; fi"}
        if wanted.sync:
            sync = shlex.join([*program, *where, "sync"])
            scripts[SYNC] = f"if [ -d {folder} ]; then {sync} >/dev/null 2>&1 || :; fi"
        return scripts

    def _advice(self, manager: tuple[str, str], wanted: Wanted) -> str:
        return ADVICE[manager[0]].format(file=manager[1], check=self._plain(wanted))

    def _plain(self, wanted: Wanted) -> str:
        where = ["-C", self.inside] if self.inside else []
        return shlex.join(["rawkomem", *where, "check", "--staged", *(f"--no-{name}" for name in wanted.skip)])

    def _manager(self) -> tuple[str, str] | None:
        """Who manages this project's hooks, and the file that tells."""
        for name, files in MANAGERS.items():
            for file in files:
                if os.path.exists(os.path.join(self.tree.top, file)):
                    return name, file
        return None

    def _hook_folder(self) -> str:
        return os.path.normpath(os.path.join(self.tree.top, self.tree.ask("rev-parse", "--git-path", "hooks")))

    def _git_folder(self) -> str:
        return os.path.normpath(os.path.join(self.tree.top, self.tree.ask("rev-parse", "--git-common-dir")))

    def _git_version(self) -> tuple[int, ...]:
        numbers = re.search(r"(\d+)\.(\d+)", self.tree.ask("version"))
        return tuple(map(int, numbers.groups())) if numbers else (0, 0)

    def _hook_name(self, event: str) -> str:
        return self.name.replace(" ", "-") + ("" if event == CHECK else f"-{event}")

    def _own(self, name: str) -> str:
        return os.path.join(self.layout.root, name)

    def _set(self, key: str, value: str, why: str) -> Iterator[SettingChange]:
        before = self._setting(key)
        if before != value:
            yield SettingChange(key, before, value, why)

    def _setting(self, key: str) -> str | None:
        return self.tree.ask("config", "--local", "--get", key) or None


def _is_below(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(folder).rstrip(os.sep) + os.sep)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise Unwritable(f"cannot read {path}: {failure.strerror}", "check permissions") from None
