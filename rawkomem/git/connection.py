"""Connect a repository with git: the merge driver, ignored files, and a hook that checks commits.

Connecting and removing start with a plan that lists every changed file and setting. If another
program manages the hooks, they are not changed; the plan says what to add to that program's
settings.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..files.layout import Layout, read_bytes
from ..files.replace import (
    FileChange,
    is_below,
    read_whole,
    refuse_exit,
    write_change,
)
from ..model.errors import Refused
from ..model.values import record
from .merge import CONFLICT_EXIT_CODE
from .runner import MEMORY_PATTERN, WorkTree, projects_in, work_tree

# Write the lines to add if another program manages a project's hooks, as YAML.
#
# These lines are committed, so they must succeed on machines without rawkomem.

LEFTHOOK = tuple(
    f"{start}lefthook.{end}"
    for start in ("", ".", ".config/")
    for end in ("yml", "yaml", "toml", "json", "jsonc")
)
# manager → files that show that a project uses it; searched in this order
MANAGERS = {
    "pre-commit": (".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"),
    "lefthook": LEFTHOOK,
    "husky": (".husky",),
}
# manager → the advice before, for and after the commands
ADVICE = {
    "pre-commit": (
        "add to the 'repos:' of {file}:\n  - repo: local\n    hooks:\n",
        """\
      - id: rawkomem-{event}
        name: rawkomem {event}
        entry: {entry}
        language: system
        pass_filenames: false
        always_run: true
        stages: [{event}]
""",
        "then run 'pre-commit install {types}'",
    ),
    "lefthook": (
        "add to {file}:\n",
        "  {event}:\n    jobs:\n      - name: rawkomem\n        run: {run}\n",
        "then run 'lefthook install'",
    ),
    "husky": ("", "add a line to {file}/{event}:\n  {command}\n", ""),
}


def hook_advice(top: str, commands: Mapping[str, str]) -> str | None:
    """Return which lines to add to which file, if another program manages the hooks of a work tree; else None.

    `commands` is event → command line. Empty if the files have these command lines.
    """
    uses = (
        (name, file)
        for name, files in MANAGERS.items()
        for file in files
        if os.path.exists(os.path.join(top, *file.split("/")))
    )
    name, file = next(uses, ("", ""))
    if not name:
        return None
    path = os.path.join(top, *file.split("/"))
    missing = {
        event: command
        for event, command in commands.items()
        if not _runs(os.path.join(path, event) if name == "husky" else path, command)
    }
    if not missing:
        return ""
    start, each, end = ADVICE[name]
    parts = [f"{name} runs this project's hooks: {start.format(file=file)}"]
    for event, command in missing.items():
        program = shlex.split(command)[0]
        command = (
            f"if command -v {program} >/dev/null 2>&1; then {command} || exit $?; fi"
        )
        entry = json.dumps(f"sh -c {shlex.quote(command)}")  # JSON is YAML
        run = json.dumps(command)
        parts.append(
            each.format(file=file, event=event, command=command, entry=entry, run=run)
        )
    types = " ".join(f"--hook-type {event}" for event in missing)
    return "".join([*parts, end.format(types=types)]).rstrip()


def _runs(file: str, command: str) -> bool:
    """Return whether a file has a command line, or our hook of pre-commit."""
    try:
        data = read_bytes(file)
    except OSError:
        return False
    return command.encode() in data or b"rawkomem-check" in data


DRIVER_SECTION = "merge.rawkomem"
TOP_NAME = (
    "rawkomem"  # of the lines of a connection at the top of the work tree, in our files
)
ATTRIBUTE_LINES = ("*.md merge=rawkomem",)
IGNORED = "/local/"
# MERGE runs for merges without conflicts
CHECK = "pre-commit"
MERGE = "pre-merge-commit"
EVENTS = (CHECK, MERGE)
SHELL_SCRIPT = re.compile(rb"\A#![^\n]*\b(?:ba|da|k|z)?sh\b[^\n]*\n")
SCRIPT_START = "#!/bin/sh\n"


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
    """How to connect: the program to run, and checks to skip."""

    program: Sequence[str]
    skip: Sequence[str] = ()


def plan_git_connection(layout: Layout, wanted: Wanted) -> Connection:
    """Return the changes that connect the repository; none if it is already connected. Raises GitFailed.

    A layout at the top of the work tree, which need not exist, connects all projects below it, too.
    """
    return _Connecting(layout).plan(wanted)


def plan_git_removal(layout: Layout, alone: bool = False) -> Connection:
    """Return the changes that remove the connection; `alone`: not of the projects below. Raises GitFailed."""
    return _Connecting(layout, alone).removal()


def carry_out_connection(connection: Connection) -> None:
    """Write the files, then the settings; raise Refused, Unwritable or GitFailed on failure."""
    for change in connection.files:
        write_change(change, os.path.dirname(change.path))
    for setting in connection.settings:
        if setting.after is None:
            words = ("--unset-all", setting.key)
        else:
            words = (setting.key, setting.after)
        connection.tree.git.run("config", "--local", *words)


class _Connecting:
    """One repository, its work tree and its hooks; at the top of the work tree, with the projects below."""

    def __init__(self, layout: Layout, alone: bool = False):
        self.tree = work_tree(layout.project)
        self.layout = layout
        inside = self.tree.path(layout.project)
        self.inside = "" if inside == "." else inside
        if not self.inside.isprintable():
            raise Refused(
                f"the name of the folder {self.inside!a} contains a character that is not allowed in a git hook",
                "rename the folder",
            )
        self.name = self._name_of(layout)
        own = [layout] if os.path.isdir(layout.root) else []
        alone = alone or bool(self.inside)
        below = [] if alone else projects_in(self.tree, untracked=True)
        self.below = [one for one in below if self._name_of(one) != self.name]
        self.layouts = [*own, *self.below]
        top = self.tree.top
        git = self.tree.git
        common = os.path.join(top, self.tree.ask("rev-parse", "--git-common-dir"))
        refuse_exit(os.path.join(common, "config"), common)
        listed = git.names("config", "--local", "--list", "-z")
        self.settings = dict(item.partition("\n")[::2] for item in listed)
        words = ("config", "-z", "--type=path", "--get-all", "core.hooksPath")
        # the last one is ours, which stops all hooks
        named = [os.path.join(common, "hooks"), *git.names(*words)]
        self.hooks = os.path.normpath(os.path.join(top, named[-2]))
        real = os.path.realpath(self.hooks)
        self.owns_hooks = is_below(real, os.path.realpath(common))
        self.shares_hooks = not self.owns_hooks and is_below(
            real, os.path.realpath(top)
        )

    def _name_of(self, layout: Layout) -> str:
        """Return the name of a project's lines in our files."""
        inside = self.tree.path(layout.project)
        return TOP_NAME if inside == "." else f"{TOP_NAME} {inside}"

    def plan(self, wanted: Wanted) -> Connection:
        """Return the plan; if another program manages the hooks, with advice instead of hooks."""
        hooks: tuple[FileChange, ...] = ()
        managed = hook_advice(self.tree.top, self._commands(wanted))
        advice: tuple[str, ...] = (managed,) if managed else ()
        if managed is None:
            hooks, advice = self._hook_files(wanted)
        attributes = [
            change for one in self.layouts for change in self._attributes(one)
        ]
        files = (*attributes, *hooks)
        return Connection(self.tree, files, tuple(self._driver(wanted)), advice)

    def removal(self) -> Connection:
        """Return the plan; the merge driver stays while a hook checks another project of the work tree."""
        own = [
            one.path(name)
            for one in self.layouts
            for name in (".gitattributes", ".gitignore")
        ]
        names = {self.name, *map(self._name_of, self.layouts)}
        every = map(self._name_of, projects_in(self.tree, untracked=True))
        has_others = not names.issuperset(every)
        # the lines of a connection at the top check all projects
        of_hooks = names - {TOP_NAME} if has_others else names | {TOP_NAME}
        files = (
            *self._without(own, names),
            *self._without(self._hook_paths(), of_hooks),
        )
        gone = dict.fromkeys((f"{DRIVER_SECTION}.name", f"{DRIVER_SECTION}.driver"))
        is_needed = has_others and self._has_hook_after(files)
        unset = [] if is_needed else self._changed(gone, "set by 'connect git'")
        return Connection(self.tree, files, tuple(unset))

    def _has_hook_after(self, changes: Iterable[FileChange]) -> bool:
        """Return whether a hook still calls rawkomem after these changes."""
        after = {change.path: change.after for change in changes}
        for path in self._hook_paths():
            data = after[path] if path in after else read_whole(path, self.hooks)
            if b"rawkomem" in (data or b""):
                return True
        return False

    def _without(
        self, paths: Iterable[str], names: Iterable[str]
    ) -> Iterator[FileChange]:
        for path in paths:
            before = read_whole(path, os.path.dirname(path))
            after = self._cut(before, names)
            if before != after:
                yield FileChange(path, before, after, "without our lines")

    @staticmethod
    def _cut(data: bytes | None, names: Iterable[str]) -> bytes | None:
        """Return a file without our lines of these names; None if nothing else is in it."""
        for name in names:
            data = None if data is None else cut_block(data, name)
        return data

    def _hook_paths(self) -> list[str]:
        """Return the hook files that may contain our lines; none if their folder is outside the project and .git."""
        ours = self.owns_hooks or self.shares_hooks
        return [os.path.join(self.hooks, event) for event in EVENTS if ours]

    def _changed(
        self, wanted: Mapping[str, str | None], why: str
    ) -> list[SettingChange]:
        """Return the changes to these values; None means unset."""
        return [
            SettingChange(key, self.settings.get(key), value, why)
            for key, value in wanted.items()
            if self.settings.get(key) != value
        ]

    def _attributes(self, layout: Layout) -> Iterator[FileChange]:
        """Yield changes of .gitattributes and .gitignore, which are committed: merge driver and ignored folder."""
        name = self._name_of(layout)
        path = layout.path(".gitattributes")
        before = read_whole(path, layout.root)
        others = before and cut_block(before, name)
        lines = [
            line for line in ATTRIBUTE_LINES if line.encode() not in (others or b"")
        ]
        text = "".join(f"{line}\n" for line in lines)
        after = put_block(before, name, text) if lines else before
        if after != before:
            why = "memories are merged entry by entry"
            yield FileChange(path, before, after, why)
        probe = os.path.join(layout.local, "index.db")
        if not self.tree.ignored(self.tree.path(probe)):
            path = layout.path(".gitignore")
            before = read_whole(path, layout.root)
            after = put_block(before, name, f"{IGNORED}\n")
            yield FileChange(path, before, after, "the index is not committed")

    def _driver(self, wanted: Wanted) -> list[SettingChange]:
        """Return settings of the merge driver; if our program fails, git merges by lines instead.

        Otherwise git would use our side as the result, and the other side's memories would be lost silently.
        """
        ours = f"{shlex.join(wanted.program).replace('%', '%%')} merge-driver --marker-size %L %O %A %B %P"
        lines = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
        driver = f"{ours}; case $? in 0) ;; {CONFLICT_EXIT_CODE}) exit 1 ;; *) {lines} ;; esac"
        name = "rawkomem: memory files, entry by entry"
        settings = {f"{DRIVER_SECTION}.name": name, f"{DRIVER_SECTION}.driver": driver}
        return self._changed(settings, "merges memory files")

    def _hook_files(
        self, wanted: Wanted
    ) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        commands = self._commands(wanted)
        if not self._hook_paths():
            to_add = "; ".join(
                f"'{command}' to its {event}" for event, command in commands.items()
            )
            return (), (
                f"core.hooksPath is {self.hooks}, which other projects use: add {to_add}",
            )
        # a committed hook runs on every machine
        program = ["rawkomem"] if self.shares_hooks else wanted.program
        files = []
        to_do = []
        for event, script in self._scripts(program, wanted).items():
            path = os.path.join(self.hooks, event)
            before = read_whole(path, os.path.dirname(path))
            if before is not None and not SHELL_SCRIPT.match(before):
                to_do.append(
                    f"{path} is not a shell script: make it run '{commands[event]}'"
                )
                continue
            if self.inside and MEMORY_PATTERN.encode() in (before or b""):
                continue  # the check at the top also checks this project
            others = self._cut(before, map(self._name_of, self.below))
            after = put_block(
                others, self.name, f"{script}\n", SCRIPT_START, below_first_line=True
            )
            if after != before:
                files.append(
                    FileChange(
                        path,
                        before,
                        after,
                        f"runs on {event}",
                        executable=before is None,
                    )
                )
            if before is not None and not os.access(path, os.X_OK):
                to_do.append(f"git does not run {path}: make it executable")
        return tuple(files), tuple(to_do)

    def _scripts(self, program: Sequence[str], wanted: Wanted) -> dict[str, str]:
        """Return event → shell code that runs in the top folder; if rawkomem is not installed, commits still work."""
        folder = shlex.quote(f"{self.inside}/.rawko".lstrip("/"))
        is_there = f"[ -d {folder} ]"
        if self.below:
            listed = shlex.join(["git", "ls-files", "--error-unmatch", MEMORY_PATTERN])
            is_there = f"{listed} >/dev/null 2>&1"
        found = f"{_is_there(program)} >/dev/null 2>&1"
        absent = "echo 'rawkomem is not installed here: memories are not checked' >&2"
        scripts = {}
        for event, command in self._commands(wanted, program).items():
            check = f"if {found}; then {command} || exit $?; else {absent}; fi"
            scripts[event] = f"if {is_there}; then {check}; fi"
        return scripts

    def _commands(
        self, wanted: Wanted, program: Sequence[str] = ("rawkomem",)
    ) -> dict[str, str]:
        """Return event → command line."""
        where = ["-C", self.inside] if self.inside else []
        check = shlex.join(
            [
                *program,
                *where,
                "check",
                "--staged",
                *(f"--no-{name}" for name in wanted.skip),
            ]
        )
        return {CHECK: check, MERGE: check}


def _is_there(program: Sequence[str]) -> str:
    """Return shell code that succeeds if the program (or, for `python -m`, the module) is installed."""
    python = program[:-2]
    module = program[-1]
    return shlex.join(
        [*python, "-c", f"import {module}"] if python else ["command", "-v", program[0]]
    )


# Inserts our lines into a file between two comment lines, and removes them again without any
# other change.

WHOLE_FILE = "this file"
OUR_LINES = "these lines"
OUR_LINES_AND_BREAK = "these lines and the line end above them"
EMPTY_FILE = re.compile(rb"\A(?:#![^\n]*\n)?\s*\Z")  # empty except for a `#!` line


@record
class MarkedBlock:
    """A file with our block, split at the marks. `what` says what to remove together with our lines."""

    before: bytes
    what: str
    after: bytes


def put_block(
    data: bytes | None,
    name: str,
    text: str,
    head: str = "",
    below_first_line: bool = False,
) -> bytes:
    """Return the file with our lines at its end or below its first line. A new file starts with `head`.

    A block of the same name is replaced. The first mark says what to remove together with the lines later.
    """
    if data is None:
        return head.encode() + _marked_block(name, WHOLE_FILE, text, b"\n")
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    known = find_block(data, name)
    if known:
        return (
            known.before + _marked_block(name, known.what, text, newline) + known.after
        )
    at = data.find(b"\n") + 1 if below_first_line else len(data)
    if not data or data[:at].endswith(b"\n"):
        return data[:at] + _marked_block(name, OUR_LINES, text, newline) + data[at:]
    return data + newline + _marked_block(name, OUR_LINES_AND_BREAK, text, newline)


def cut_block(data: bytes, name: str) -> bytes | None:
    """Return the file without our block, None if nothing else is in it, or the file unchanged if it has no block."""
    block = find_block(data, name)
    if not block:
        return data
    others = block.before + block.after
    if block.what == WHOLE_FILE and EMPTY_FILE.match(others):
        return None
    if block.what == OUR_LINES_AND_BREAK and not block.after:
        return others.removesuffix(b"\n").removesuffix(b"\r")
    return others


def find_block(data: bytes, name: str) -> MarkedBlock | None:
    """Return the block of a name; None if there is none."""
    quoted = re.escape(name.encode())
    marks = rb"^# >>> %s: ([a-z ]+) >>>\r?\n.*?^# <<< %s <<<(?:\r?\n|\Z)" % (
        quoted,
        quoted,
    )
    found = re.search(marks, data, re.MULTILINE | re.DOTALL)
    if not found:
        return None
    return MarkedBlock(data[: found.start()], found[1].decode(), data[found.end() :])


def _marked_block(name: str, what: str, text: str, newline: bytes) -> bytes:
    return f"# >>> {name}: {what} >>>\n{text}# <<< {name} <<<\n".encode().replace(
        b"\n", newline
    )
