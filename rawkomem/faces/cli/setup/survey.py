"""Find what `rawkomem init` can import, connect and replay. Writes nothing."""

from __future__ import annotations

import os

from ....exchange.place import place_of
from ....files.layout import FOLDER, Layout, find_layout
from ....files.start import Step, plan_start
from ....git.run import GitFailed
from ....git.worktree import work_tree
from ....hosts.connect.installed import installed_hosts
from ....hosts.connect.plan import is_connected
from ....hosts.replay.find import find_sessions
from ....model.errors import NotFound, RawkoError
from ....model.record import record
from ....repository.wings.exchange import Import, preview_import
from ..opening import open_repository


@record
class Survey:
    """What `rawkomem init` can do in a project."""

    layout: Layout
    is_started: bool  # whether the project has a repository of its own
    files: tuple[Step, ...]  # files of a repository that do not exist yet
    parent: str  # the folder above that has a repository; empty if the project has its own
    imports: tuple[Import, ...]  # one for each source, even if it has nothing new
    waiting: tuple[str, ...]  # formats of imported memories that wait for a review
    skipped: tuple[tuple[str, str], ...]  # sources that cannot be read, and why
    hosts: tuple[str, ...]  # installed and not connected
    is_git: bool  # whether git can be connected
    wants_git: bool  # whether git cannot be connected because there is no git repository
    sessions: tuple[str, ...]  # transcripts, latest first

    def kinds(self) -> list[str]:
        """Return the formats with new memories or with memories that wait for a review, each once."""
        return [*dict.fromkeys((*(item.kind for item in self.imports if item.news), *self.waiting))]


def survey(place: str, imports: bool, connect: bool) -> Survey:
    """Return what can be done in a project; `imports` and `connect` are False to leave these parts out."""
    project = os.path.abspath(place)
    layout = Layout(os.path.join(project, FOLDER))
    above = _repository_around(project)
    is_started, is_git = above == project, _is_git(project)
    found = _preview(layout, is_started) if imports else []
    return Survey(
        layout,
        is_started,
        tuple(step for step in plan_start(project) if not _is_written(step, is_started)),
        "" if is_started else above,
        tuple(found),
        _waiting(project) if is_started and imports else (),
        tuple(pair for item in found if item.unreadable for pair in item.skipped),
        tuple(name for name in installed_hosts() if not _is_connected(name, project)) if connect else (),
        connect and is_git,
        connect and not is_git,
        tuple(find_sessions(layout)),
    )


def _is_written(step: Step, is_started: bool) -> bool:
    """Return whether a file need not be written: it exists, or it is an empty file in a folder that exists."""
    return step.exists or (is_started and not step.text and os.path.isdir(os.path.dirname(step.path)))


def _preview(layout: Layout, is_started: bool) -> list[Import]:
    if not is_started:
        return preview_import(layout.project)
    with open_repository(layout.project) as repository:
        return preview_import(layout.project, repository.core.reading.all())


def _waiting(project: str) -> tuple[str, ...]:
    with open_repository(project) as repository:
        places = [place_of(memory.extra) for memory in repository.beliefs.waiting()]
    return tuple(dict.fromkeys(place.partition(":")[0] for place in places))


def _repository_around(project: str) -> str:
    """Return the nearest folder with a repository, this one or one above it; empty if there is none."""
    try:
        return find_layout(project).project
    except NotFound:
        return ""


def _is_connected(name: str, project: str) -> bool:
    """Return whether a host is connected to this project or to all; False if its settings cannot be read."""
    try:
        return is_connected(name, project) or is_connected(name, "")
    except RawkoError:
        return False


def _is_git(project: str) -> bool:
    try:
        work_tree(project)
    except (GitFailed, NotFound):
        return False
    return True
