"""Implement `rawkomem tidy consolidate --staged`: find duplicates and contradictions of staged memories."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ....files.check import printable
from ....git.staged_same import DUPLICATES, Brought, problems_of
from ....git.user import user_name
from ....model.problem import Problem
from ....repository import Repository
from ....repository.wings.staging import CLAIM, Proposal
from ....text.count import count
from ..terminal import fields_of, note, paint, say, say_json


def tell_duplicates(found: Iterable[Repository], apply: bool, as_json: bool) -> int:
    """Print exact duplicates of staged memories, and proposals. Return 1 if there is a duplicate or a written entry."""
    return max([_tell(repository, apply, as_json) for repository in found], default=0)


def _tell(repository: Repository, apply: bool, as_json: bool) -> int:
    brought = repository.staging.brought()
    if apply:
        return _settle(repository, brought, as_json)
    problems, proposals = problems_of(brought), repository.staging.proposals(brought)
    if as_json:
        say_json([*map(_problem_json, problems), *(_proposal_json(brought, one) for one in proposals)])
        return 1 if problems else 0
    for problem in problems:
        say(f"{printable(problem.path)}:{problem.line}: {paint(DUPLICATES, 'red')}: {problem.message} ({problem.hint})")
    for proposal in proposals:
        say(line_of(brought, proposal))
    if problems:
        note(f"{count(len(problems), 'memory')} would be committed twice; --apply supersedes the new copies")
    return 1 if problems else 0


def _settle(repository: Repository, brought: Brought, as_json: bool) -> int:
    written = repository.staging.settle(brought, user_name())
    if as_json:
        say_json([{"id": one.entry.about, "supersededBy": one.entry.extra["supersededBy"]} for one in written])
        return 1 if written else 0
    for one in written:
        say(f"{paint('superseded', 'yellow')}  {one.entry.about} by {one.entry.extra['supersededBy']}")
    if written:
        root = os.path.relpath(repository.layout.root)
        note(f"{count(len(written), 'entry')} written: review, run 'git add {root}', and commit again")
    return 1 if written else 0


def propose(repository: Repository, brought: Brought) -> None:
    """Print proposals on stderr, except contradicting claims, which another check reports as errors."""
    for proposal in repository.staging.proposals(brought):
        if proposal.code != CLAIM:
            note(line_of(brought, proposal))


def line_of(brought: Brought, proposal: Proposal) -> str:
    """Return a proposal as a line with its place."""
    place = f"{printable(brought.staged.name(proposal.memory.path))}:{proposal.memory.line}"
    return f"{place}: {paint(proposal.code, 'yellow')}: {proposal.message}. {paint(proposal.hint, 'dim')}"


def _problem_json(problem: Problem) -> dict[str, object]:
    return {"file": printable(problem.path), **fields_of(problem, "line", "code", "message", "hint")}


def _proposal_json(brought: Brought, proposal: Proposal) -> dict[str, object]:
    place = {"file": printable(brought.staged.name(proposal.memory.path)), "line": proposal.memory.line}
    ids = {"id": proposal.memory.id, "other": proposal.other.id}
    return {**place, **fields_of(proposal, "code", "message", "hint"), **ids}
