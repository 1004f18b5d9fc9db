"""Implement `rawkomem status`: the state of the repository and its search index."""

from __future__ import annotations

import os

from ...files.kept_texts import unsaved_texts
from ...files.layout import find_layout
from ...files.machine_records import changed_rule_files, note_of_changed_rules
from ...files.session_records import DraftRecords
from ...git.runner import projects_below
from ...index.status import Status
from ...model.errors import NotFound
from ...repository import Repository
from .answers import Fields
from .declarations import answer, verb
from .opening import open_repository

STATUS = Fields(
    "fresh drafts unsaved changed_rules layers?",
    """\
repository  {root}
files       {files}{quarantined:? (% not usable: 'rawkomem check' names them)|yellow}  hash {files_hash}
index       {indexed:n file}, {entries:n entry}  hash {index_hash}
memories    {memories:~none}
{conflicts:?conflicts   % pending: 'rawkomem review' shows them|yellow}
{proposals:?proposed    % with proposed changes: 'rawkomem review' shows them|yellow}
{copies:?copies      % in several files, of which one is in use: 'rawkomem check --fix' gives the others new ids|yellow}
fresh       {fresh:yes yes/NO}
made with   {fingerprint}
meaning     {tier}; contextual vectors: {vectors}{deep_waits:?; %}
index file  {index} ({bytes:,} bytes)
{drafts:?drafts      % on this machine: 'rawkomem drafts' shows them|yellow}
{unsaved:?unsaved     text not stored yet: %|yellow}
{rules:?rules       %|yellow}
{layers.told:?layers      %}""",
    remarks="{stale_lines:text}\n{problem_lines:text}",
    of=Status,
    stale=[Fields(line="{0} cannot be read: the index keeps its earlier content")],
    problem_lines=lambda status: "\n".join(
        f"{problem.path}: {problem.message} ({problem.hint})"
        for problem in status.problems
    ),
    vectors=lambda status: (
        f"{status.deep:,} of {status.documents:,}"
        if status.documents
        else "none to compute"
    ),
    problems=lambda status: [
        f"{problem.path}: {problem.message}" for problem in status.problems
    ],
)


# a line for each project, at the top of a git repository that has memories only in the folders below
PROJECT = Fields(
    "project files fresh",
    "{project:<24} {files:n file}  {memories:~none}{conflicts:?, % conflicts|yellow}{proposals:?, % proposed|yellow}",
    of=Status,
    project=lambda status: os.path.relpath(os.path.dirname(status.root)),
)


@verb("status", STATUS, [PROJECT])
def status_command(folder: str) -> int:
    """Show the state of the repository and its search index.

    The exit code is 1 if the index differs from the files. At the top of a git
    repository with projects below, it prints a line for each project.

    Examples:
      rawkomem status
      rawkomem status --json
    """
    try:
        find_layout(folder)
    except NotFound:
        projects = [
            Repository(layout).store.status() for layout in projects_below(folder)
        ]
        if projects:
            is_fresh = all(status.fresh for status in projects)
            return answer(projects, PROJECT, code=0 if is_fresh else 1)
    layered = open_repository(folder, layers=True)
    status = layered.store.status()
    layout = layered.layout
    return answer(
        status,
        code=0 if status.fresh else 1,
        drafts=sum(not draft.more for draft in DraftRecords(layout).all()),
        unsaved=unsaved_texts(layout),
        changed_rules=changed_rule_files(layout),
        layers=layered.layers.standings(),
        rules=note_of_changed_rules(layout),
    )
