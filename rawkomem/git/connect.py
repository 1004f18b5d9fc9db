"""Connect a repository with git: the merge driver, ignored files, and a hook that checks commits.

Connecting and removing start with a plan that lists every changed file and setting. If another program manages the
hooks, they are not changed; the plan says what to add to that program's settings.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from ..files.layout import Layout
from ..files.page import PAGE
from ..files.whole import is_below, read_whole, refuse_exit, replace_whole
from ..model.errors import NotFound, Refused, Unwritable
from ..model.record import record, replace
from ..text.marked import cut_block, put_block
from .hook_advice import advice, find_manager
from .merge.driver import CONFLICT_EXIT_CODE
from .run import GitFailed
from .worktree import WorkTree, work_tree

T = TypeVar("T")

DRIVER = "merge.rawkomem"
# A merge keeps the lines of both sides of the generated page; the next write sorts them.
ATTRIBUTES = ("*.md merge=rawkomem", f"{PAGE} merge=union")
IGNORED = "/local/"
HOOK_CONFIG_VERSION = (2, 54)  # the first git that reads hooks from its settings, several per event
CHECK, MERGE, SYNC = "pre-commit", "pre-merge-commit", "post-merge"  # MERGE runs for merges without conflicts
EVENTS = (CHECK, MERGE, SYNC)
HOOKS = ("--git-path", "hooks")  # arguments of `git rev-parse` for the hooks folder
SHELL_SCRIPT = re.compile(rb"\A#![^\n]*\b(?:ba|da|k|z)?sh\b[^\n]*\n")
SCRIPT_START = "#!/bin/sh\n"


@record
class FileChange:
    """A file that is written or changed, or removed if `after` is None."""

    path: str
    before: bytes | None
    after: bytes | None
    why: str
    executable: bool = False


@record
class SettingChange:
    """A change of a git setting of this clone; None means unset."""

    key: str
    before: str | None
    after: str | None
    why: str


@record
class Connection:
    """The planned changes, and the steps that the user has to do."""

    tree: WorkTree
    files: tuple[FileChange, ...]
    settings: tuple[SettingChange, ...]
    advice: tuple[str, ...] = ()


@record
class Wanted:
    """How to connect: the program to run, checks to skip, and whether to update the index after merges."""

    program: Sequence[str]
    skip: Sequence[str] = ()
    sync: bool = False


def plan_connect(layout: Layout, wanted: Wanted) -> Connection:
    """Return the changes that connect the repository; none if it is already connected. Raise NotFound if git fails."""
    return _asked(lambda: _Connecting(layout).plan(wanted))


def plan_remove(layout: Layout) -> Connection:
    """Return the changes that remove the connection. Raise NotFound if git fails."""
    return _asked(lambda: _Connecting(layout).removal())


def carry_out(connection: Connection) -> None:
    """Write the files, then the settings; raise Unwritable or NotFound on failure."""
    for change in connection.files:
        try:
            if change.after is None:
                os.unlink(change.path)
            else:
                replace_whole(change.path, change.after, change.executable, os.path.dirname(change.path))
        except OSError as failure:
            raise Unwritable(f"cannot write {change.path}: {failure.strerror}", "check permissions") from None
    _asked(lambda: _set_all(connection))


def _asked(ask: Callable[[], T]) -> T:
    """Return what `ask` returns; raise NotFound if git fails."""
    try:
        return ask()
    except GitFailed as failure:
        raise NotFound(f"git: {failure}", failure.hint) from None


def _set_all(connection: Connection) -> None:
    for setting in connection.settings:
        words = ("--unset-all", setting.key) if setting.after is None else (setting.key, setting.after)
        connection.tree.git.run("config", "--local", *words)


class _Connecting:
    """One repository, its work tree and its hooks."""

    def __init__(self, layout: Layout):
        self.tree = work_tree(layout.project)
        self.layout = layout
        inside = self.tree.path(layout.project)
        self.inside = "" if inside == "." else inside
        if not self.inside.isprintable():
            message = f"the name of the folder {self.inside!a} contains a character that is not allowed in a git hook"
            raise Refused(message, "rename the folder")
        self.name = f"rawkomem {self.inside}".strip()
        common = self._folder("--git-common-dir")
        refuse_exit(os.path.join(common, "config"), common)

    def plan(self, wanted: Wanted) -> Connection:
        """Return the plan; if this git reads hooks from its settings, remove our lines from hook files."""
        wanted = replace(wanted, sync=wanted.sync or self._follows_merges())
        settings = [*self._driver(wanted)]
        manager = find_manager(self.tree.top)
        if manager:
            to_add = advice(manager, self._commands(wanted))
            return Connection(self.tree, tuple(self._attributes()), tuple(settings), (to_add,))
        if self._git_version() >= HOOK_CONFIG_VERSION:
            settings += self._config_hooks(wanted)
            files = (*self._attributes(), *self._without(self._hook_paths()))
            return Connection(self.tree, files, tuple(settings))
        hooks, to_do = self._hook_files(wanted)
        settings += self._unset(self._hook_sections())
        return Connection(self.tree, (*self._attributes(), *hooks), tuple(settings), to_do)

    def _follows_merges(self) -> bool:
        """Return whether an earlier run set up the hook after merges, so that a later run updates its command."""
        section = f"hook.{self._hook_name(SYNC)}.command"
        files = [path for path in self._hook_paths() if os.path.basename(path) == SYNC]
        return self._setting(section) is not None or any(self._without(files))

    def removal(self) -> Connection:
        files = self._without([self._own(".gitattributes"), self._own(".gitignore"), *self._hook_paths()])
        return Connection(self.tree, tuple(files), tuple(self._unset([DRIVER, *self._hook_sections()])))

    def _without(self, paths: Iterable[str]) -> Iterator[FileChange]:
        for path in paths:
            before = read_whole(path, os.path.dirname(path))
            after = None if before is None else cut_block(before, self.name)
            if before != after:
                yield FileChange(path, before, after, "without our lines")

    def _hook_paths(self) -> list[str]:
        """Return the hook files that may contain our lines; none if their folder is outside the project and .git."""
        folder = self._folder(*HOOKS)
        return [os.path.join(folder, event) for event in EVENTS] if any(self._owners(folder)) else []

    def _owners(self, folder: str) -> tuple[bool, bool]:
        """Return (is inside git's own folder, is inside the work tree) for a hooks folder."""
        real = os.path.realpath(folder)
        own = is_below(real, os.path.realpath(self._folder("--git-common-dir")))
        return own, not own and is_below(real, os.path.realpath(self.tree.top))

    def _hook_sections(self) -> list[str]:
        return [f"hook.{self._hook_name(event)}" for event in EVENTS]

    def _unset(self, sections: Iterable[str]) -> Iterator[SettingChange]:
        for section in sections:
            for key in ("name", "driver", "command", "event"):
                before = self._setting(f"{section}.{key}")
                if before is not None:
                    yield SettingChange(f"{section}.{key}", before, None, "set by 'connect git'")

    def _attributes(self) -> Iterator[FileChange]:
        """Yield changes of .gitattributes and .gitignore, which are committed: merge driver and ignored folder."""
        attributes, ignore = self._own(".gitattributes"), self._own(".gitignore")
        known = read_whole(attributes, self.layout.root)
        others = cut_block(known, self.name) if known else b""
        missing = [line for line in ATTRIBUTES if line.encode() not in (others or b"")]
        after = put_block(known, self.name, "".join(f"{line}\n" for line in missing)) if missing else known
        if after and after != known:
            yield FileChange(attributes, known, after, "memories are merged entry by entry")
        probe = os.path.join(self.layout.local, "index.db")
        if not self.tree.git.run("check-ignore", "--", self.tree.path(probe), fine=(0, 1)):
            known = read_whole(ignore, self.layout.root)
            yield FileChange(ignore, known, put_block(known, self.name, f"{IGNORED}\n"), "the index is not committed")

    def _driver(self, wanted: Wanted) -> Iterator[SettingChange]:
        """Yield settings of the merge driver; if our program fails, git merges by lines instead.

        Otherwise git would use our side as the result, and the other side's memories would be lost silently.
        """
        ours = f"{shlex.join(wanted.program).replace('%', '%%')} merge-driver --marker-size %L %O %A %B %P"
        lines = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
        driver = f"{ours}; case $? in 0) ;; {CONFLICT_EXIT_CODE}) exit 1 ;; *) {lines} ;; esac"
        yield from self._set(f"{DRIVER}.name", "rawkomem: memory files, entry by entry", "merges memory files")
        yield from self._set(f"{DRIVER}.driver", driver, "merges memory files")

    def _config_hooks(self, wanted: Wanted) -> Iterator[SettingChange]:
        for event, script in self._scripts(wanted.program, wanted).items():
            why = f"runs on {event}"
            yield from self._set(f"hook.{self._hook_name(event)}.event", event, why)
            yield from self._set(f"hook.{self._hook_name(event)}.command", script, why)

    def _hook_files(self, wanted: Wanted) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        folder = self._folder(*HOOKS)
        own, shared = self._owners(folder)
        commands = self._commands(wanted)
        if not shared and not own:
            to_add = "; ".join(f"'{command}' to its {event}" for event, command in commands.items())
            return (), (f"core.hooksPath is {folder}, which other projects use: add {to_add}",)
        program = ["rawkomem"] if shared else wanted.program  # a committed hook runs on every machine
        files, to_do = [], []
        for event, script in self._scripts(program, wanted).items():
            path = os.path.join(folder, event)
            before = read_whole(path, os.path.dirname(path))
            if before is not None and not SHELL_SCRIPT.match(before):
                to_do.append(f"{path} is not a shell script: make it run '{commands[event]}'")
                continue
            after = put_block(before, self.name, f"{script}\n", SCRIPT_START, below_first_line=True)
            if after != before:
                files.append(FileChange(path, before, after, f"runs on {event}", executable=before is None))
            if before is not None and not os.access(path, os.X_OK):
                to_do.append(f"git does not run {path}: make it executable")
        return tuple(files), tuple(to_do)

    def _scripts(self, program: Sequence[str], wanted: Wanted) -> dict[str, str]:
        """Return event → shell code that runs in the top folder; if rawkomem is not installed, commits still work."""
        folder = shlex.quote(f"{self.inside}/.rawko".lstrip("/"))
        found = f"{_is_there(program)} >/dev/null 2>&1"
        absent = "echo 'rawkomem is not installed here: memories are not checked' >&2"
        scripts = {}
        for event, command in self._commands(wanted, program).items():
            check = f"if {found}; then {command} || exit $?; else {absent}; fi"
            run = f"{command} >/dev/null 2>&1 || :" if event == SYNC else check
            scripts[event] = f"if [ -d {folder} ]; then {run}; fi"
        return scripts

    def _commands(self, wanted: Wanted, program: Sequence[str] = ("rawkomem",)) -> dict[str, str]:
        """Return event → command line."""
        where = ["-C", self.inside] if self.inside else []
        check = shlex.join([*program, *where, "check", "--staged", *(f"--no-{name}" for name in wanted.skip)])
        sync = {SYNC: shlex.join([*program, *where, "index", "sync"])} if wanted.sync else {}
        return {CHECK: check, MERGE: check, **sync}

    def _folder(self, *words: str) -> str:
        return os.path.normpath(os.path.join(self.tree.top, self.tree.ask("rev-parse", *words)))

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


def _is_there(program: Sequence[str]) -> str:
    """Return shell code that succeeds if the program (or, for `python -m`, the module) is installed."""
    python, module = program[:-2], program[-1]
    return shlex.join([*python, "-c", f"import {module}"] if python else ["command", "-v", program[0]])
