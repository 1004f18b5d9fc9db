"""Plan what connecting a host changes: files before and after, known before anything is written."""

from __future__ import annotations

import os
from collections.abc import Callable

from ...files.templates import SHIPPED
from ...files.whole import read_whole, replace_whole
from ...model.errors import BadInput, Refused, Unwritable
from ...model.record import record
from ..records import HOSTS
from . import merge, toml_block
from .seal import is_as_written, sealed
from .settings import SKILL, connectable, handlers, hooks_file, items, settings_file, skill_file

MARK = "rawkomem connect"  # in files that are ours as a whole


@record
class Change:
    """A file before and after; None if there is no file."""

    path: str
    before: bytes | None
    after: bytes | None
    kept: str = ""  # why it stays as it is, where a person should know

    @property
    def is_none(self) -> bool:
        """Tell whether the file stays as it is."""
        return self.before == self.after


def plan_connect(name: str, project: str) -> list[Change]:
    """Return what connecting a host changes in a project, or for the user if no project is given."""
    return [*_settings(name, project, True), *_skill(name, project, True)]


def plan_remove(name: str, project: str) -> list[Change]:
    """Return what disconnecting a host changes."""
    return [*_settings(name, project, False), *_skill(name, project, False)]


def is_connected(name: str, project: str) -> bool:
    """Tell whether a host's settings call us."""
    return any(not change.is_none or change.kept for change in _settings(name, project, False))


def carry_out(changes: list[Change], project: str) -> None:
    """Write the files, and remove folders of the project that are empty then."""
    for change in changes:
        if not change.is_none:
            _write(change, project)
            if change.after is None and project:
                _remove_empty(os.path.dirname(change.path), project)


def _settings(name: str, project: str, connect: bool) -> list[Change]:
    file, host = settings_file(name, project), HOSTS[name]
    if host.template:
        return [_owned(file, _template(host.template), connect, project)]
    wanted = items(name)
    beside = hooks_file(name, project)
    if not beside:
        edit = (lambda text: merge.merged(text, wanted, host.version)) if connect else merge.without
        return [_edited(file, edit, project)]
    apart = os.path.exists(beside)  # hooks go there then: Codex warns about hooks in both
    block = toml_block.without if apart or not connect else lambda text: toml_block.merged(text, handlers(name))
    hooks = (lambda text: merge.merged(text, wanted)) if connect and apart else merge.without
    return [_edited(file, block, project), _edited(beside, hooks, project)]


def _skill(name: str, project: str, connect: bool) -> list[Change]:
    """Return the change of the skill for a host; hosts may share a folder, and the last one removes the skill."""
    folder = HOSTS[name].skills
    if not folder or not project:
        return []
    sharing = [other for other in connectable() if HOSTS[other].skills == folder and other != name]
    if not connect and any(_may_be_connected(other, project) for other in sharing):
        return []
    return [_owned(skill_file(name, project), _template("skills/" + SKILL), connect, project)]


def _may_be_connected(name: str, project: str) -> bool:
    """Tell whether a host may be connected: settings that cannot be read may call us."""
    try:
        return is_connected(name, project)
    except BadInput:
        return True


def _edited(file: str, edit: Callable[[str | None], str | None], project: str) -> Change:
    """Return the change of a settings file that others edit too. Raises BadInput if it cannot be parsed."""
    before = read_whole(file, project)
    try:
        after = edit(None if before is None else before.decode("utf-8"))
    except ValueError as failure:
        what = "it is not UTF-8" if isinstance(failure, UnicodeDecodeError) else str(failure)
        raise BadInput(f"cannot edit {file}: {what}", "mend it first; nothing was changed") from None
    return Change(file, before, None if after is None else after.encode("utf-8"))


def _owned(file: str, text: bytes, connect: bool, project: str) -> Change:
    """Return the change of a file that is ours; a foreign file of this name, or one that was edited, is left alone."""
    before = read_whole(file, project)
    if before is None:
        return Change(file, None, sealed(text) if connect else None)
    if MARK.encode() not in before:
        if connect:
            raise Refused(f"{file} is not rawkomem's", "move it away first; nothing was changed")
        return Change(file, before, before)
    if not is_as_written(before, text):
        return Change(file, before, before, "it was edited since: delete it yourself if it is not wanted")
    return Change(file, before, sealed(text) if connect else None)


def plugin_folder(name: str) -> str:
    """Return the folder of this installation that offers our plugin to a host."""
    return os.path.dirname(os.path.dirname(_shipped(HOSTS[name].marketplace)))


def _template(name: str) -> bytes:
    with open(_shipped(name), "rb") as stream:
        return stream.read()


def _shipped(name: str) -> str:
    for folder in SHIPPED:
        file = os.path.join(folder, "agents", *name.split("/"))
        if os.path.isfile(file):
            return file
    raise BadInput(f"no template {name}", "install rawkomem anew")


def _write(change: Change, project: str) -> None:
    """Write a file, through links that stay in the project. Raises Refused if it changed since it was read."""
    file = os.path.realpath(change.path)
    if read_whole(change.path, project) != change.before:
        raise Refused(f"{change.path} was changed a moment ago", "run it again")
    try:
        if change.after is None:
            os.unlink(file)
        else:
            replace_whole(change.path, change.after, within=project)
    except OSError as failure:
        raise Unwritable(f"cannot write {change.path}: {failure.strerror}", "check permissions") from None


def _remove_empty(folder: str, project: str) -> None:
    while folder.startswith(project + os.sep):
        try:
            os.rmdir(folder)
        except OSError:
            return  # somebody keeps something there
        folder = os.path.dirname(folder)
