"""Manual edits of committed memories: check them before a commit, or turn them into amendments."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...files.change_file import change_path, with_kept
from ...files.contents import read_bytes
from ...files.local.changes import read_changes
from ...files.local.edited import keep_edited
from ...files.lock import lock
from ...files.replace import Replacing
from ...git.edits import by_memory, plan_amendments, restored
from ...git.run import GitFailed
from ...git.staged import LITERAL_PATHS, Staged, is_memory
from ...git.staged_check import Commit, check_staged, edits_of
from ...git.user import committing
from ...model.errors import NotFound, Refused
from ...model.record import record, replace
from ...state.belief.committer import AGENT, AGENTS, state_of
from ..lazy import Wing

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ...files.append import Written
    from ...git.edits import Edit
    from ...model.entry import Plan
    from ...model.problem import Problem


@record
class Amended:
    """The result of `as_amendments`: the edits, the entries that replace them, and copies of the edited files."""

    edits: tuple[Edit, ...]
    written: tuple[Written, ...] = ()
    copies: tuple[str, ...] = ()


class Edits(Wing):
    """Checks and converts manual changes of committed files."""

    def check(self, skip: Sequence[str], agent: bool, staged: Staged | None = None) -> dict[str, list[Problem]]:
        """Return the problems of staged files. An agent must not edit committed entries, whatever the settings are."""
        core = self._core
        agent = agent or self.is_agents_commit()
        purged = () if agent else self._purged()
        registry = self._repo.beliefs.predicates()
        return check_staged(core.layout, registry, skip, agent or core.settings.append_only, purged, staged)

    def is_agents_commit(self) -> bool:
        """Return whether the author or the committer of the next commit is an agent."""
        settings = self._core.settings
        if not settings.commits:
            return False
        who = committing(self._core.layout.project)
        return bool(who) and state_of(who, (*AGENTS, *settings.identities)) == AGENT

    def as_amendments(self, by: str = "") -> Amended:
        """Restore the committed entries, append the edits as new entries, and stage the result.

        Raise Refused and change nothing if a file has unstaged changes, during a merge, or if no entry can express an
        edit. Copies of the edited files are kept in `.rawko/local/edits`.
        """
        try:
            return self._amend(by)
        except GitFailed as failure:
            raise NotFound(f"git cannot tell what is staged: {failure}", failure.hint) from None

    def _purged(self) -> set[str]:
        return {change.purged for change in read_changes(self._core.layout) if change.purged}

    def _amend(self, by: str) -> Amended:
        core = self._core
        commit = Commit(core.layout, Staged(core.layout), {}, purged=self._purged())
        staged = commit.staged
        if len(staged.parents) > 1 or staged.unmerged:
            raise Refused("a merge is in progress", "finish the merge first, then edit memories")
        edits = edits_of(commit)
        if not edits:
            return Amended(())
        paths = sorted({path for edit in edits for path in (edit.old.path, edit.new.path if edit.new else "") if path})
        _refuse_unstaged(staged, core.layout.root, paths)
        committed = commit.texts([path for path in paths if path in staged.head], staged.head)
        edited = commit.texts([path for path in paths if path in staged.now])
        files = {path: restored(path, data, edited.get(path)) for path, data in committed.items()}
        wanted = commit.texts(filter(is_memory, staged.now))
        before, after = by_memory({**wanted, **files}), by_memory(wanted)
        plan = plan_amendments(edits, lambda id: before.get(id, ()), lambda id: after.get(id, ()), by)
        plan = _in_change_files(plan, committed)
        mine = {path: read_bytes(core.layout.path(path)) for path in edited if path in files}
        files = {path: _checked_out(data, mine.get(path), edited.get(path)) for path, data in files.items()}
        copies = keep_edited(core.layout, mine)
        self._replace(files)
        try:
            written = core.writer.write(plan) if plan.entries else ()
        except BaseException:
            self._replace({path: mine.get(path) for path in files})
            raise
        places = [*files, *(path for item in written for path in with_kept(core.layout, item.entry.path))]
        staged.tree.git.run(LITERAL_PATHS, "add", "--", *(staged.name(path) for path in dict.fromkeys(places)))
        return Amended(tuple(edits), tuple(written), copies)

    def _replace(self, files: Mapping[str, bytes | None]) -> None:
        """Replace the files together under one lock; None removes a file."""
        layout = self._core.layout
        with lock(layout, "write"):
            changing = Replacing(layout, self._core.warn)
            for path, data in files.items():
                file = layout.path(path)
                changing.read(file)
                os.makedirs(os.path.dirname(file), exist_ok=True)
                changing.remove(file) if data is None else changing.put(file, data)
            saved = changing.finish()
        if saved:
            raise Refused(f"{layout.relative(min(saved))} changed while it was being restored", "run the command again")


def _in_change_files(plan: Plan, committed: Collection[str]) -> Plan:
    """Return a plan whose changes of committed files go to files of their own, also where git's index lost the file."""
    entries = (replace(one, path=change_path(one)) if one.path in committed else one for one in plan.entries)
    return replace(plan, entries=tuple(entries))


def _checked_out(data: bytes, mine: bytes | None, staged: bytes | None) -> bytes:
    """Return committed bytes as git checks them out: with Windows line ends if the edited file has them."""
    if mine is None or staged is None or b"\r" in staged or mine == staged or mine.replace(b"\r\n", b"\n") != staged:
        return data
    return data.replace(b"\n", b"\r\n")


def _refuse_unstaged(staged: Staged, root: str, paths: Sequence[str]) -> None:
    """Raise Refused if a file has unstaged changes, which restoring it would destroy."""
    names = [staged.name(path) for path in paths]
    differing = staged.tree.git.run(LITERAL_PATHS, "diff", "--name-only", "--no-ext-diff", "-z", "--", *names)
    unstaged = [name for name in differing.decode("utf-8", "surrogateescape").split("\0") if name]
    unstaged += [staged.name(path) for path in paths if path not in staged.now and os.path.lexists(f"{root}/{path}")]
    if unstaged:
        raise Refused(f"{unstaged[0]} has unstaged changes", f"stage it first: git add {unstaged[0]}")
