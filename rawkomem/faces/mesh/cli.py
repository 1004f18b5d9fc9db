"""Run `memory-mesh`: the Zero-JSON command line of RFC-0011 §9, with its exact output.

Every error is one line on stderr, with exit code 1.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import click
from click import (
    Abort,
    ClickException,
    Context,
    Path,
    argument,
    echo,
    group,
    option,
    pass_context,
    pass_obj,
)

from ...files.layout import walk
from ...files.replace import is_inside, refuse_exit
from ...model.errors import BadInput, NotFound, RawkoError
from ...model.values import filled
from ..cli.declarations import parameter
from ..cli.options import LIMIT
from .api import SyncMemoryMesh, naming_file, read_text
from .records import DEFAULT_AGENT, format_record

TAG = "[MemoryMesh]"
DEFAULT_TYPE = "event"  # the type of a memory that is stored without one
ID = parameter("--id ID!: Id of the memory or skill.")
PROPOSED = (
    "Proposed to delete record {id}: a person vouches for it, so it stays until a person accepts this"
    " with 'rawkomem review {id}'"
)
METADATA_HINT = 'example: --metadata \'{"tags": ["auth"]}\''


class Group(click.Group):
    """Reports every error, including those of click, in the form of the RFC (§9.3)."""

    def main(self, *arguments: Any, **named: Any) -> Any:
        """Run a command; on any error print one line on stderr and exit with code 1."""
        try:
            return super().main(*arguments, **{**named, "standalone_mode": False})
        except Abort:
            _print_error("interrupted")
        except Exception as failure:  # the RFC allows no traceback
            _print_error(_message_of(failure))
        sys.exit(1)


def _message_of(failure: Exception) -> str:
    """Return the message of an error, with its hint if it has one."""
    if isinstance(failure, ClickException):
        return failure.format_message()
    if isinstance(failure, RawkoError):
        return failure.in_full
    if isinstance(failure, OSError) and failure.strerror:
        return f"{failure.strerror}: {failure.filename or ''}".removesuffix(": ")
    return f"{type(failure).__name__}: {failure}".removesuffix(": ")


def _say(text: str) -> None:
    echo(f"{TAG} {text}")


def _print_error(error: str) -> None:
    echo(f"[MemoryMesh Error] {' '.join(error.split())}", err=True)


@group(
    cls=Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["--help"]},
)
@pass_context
def main(context: Context) -> None:
    """Store and search the memories of this project, with the commands of RFC-0011."""
    if context.invoked_subcommand is None:
        echo(context.get_help(), err=True)
        sys.exit(1)
    mesh = context.obj = SyncMemoryMesh(
        agent_id=os.environ.get("MEMORY_MESH_AGENT", DEFAULT_AGENT)
    )
    context.call_on_close(mesh.close)


@main.command()
@parameter("--content TEXT!: The text to remember.")
@option(
    "--type",
    "kind",
    default="",
    show_default=DEFAULT_TYPE,
    help="Type of the memory: one word.",
)
@parameter("--rationale TEXT: Why it is stored.")
@parameter("--hypothesis TEXT: What it may be useful for.")
@parameter("--metadata TEXT: More metadata, as a JSON object.")
@pass_obj
def store(
    mesh: SyncMemoryMesh,
    content: str,
    kind: str,
    rationale: str,
    hypothesis: str,
    metadata: str,
) -> None:
    """Store a memory."""
    try:
        about = json.loads(metadata or "{}")
    except (ValueError, RecursionError) as failure:
        raise BadInput(f"--metadata is not JSON: {failure}", METADATA_HINT) from None
    if not isinstance(about, dict):
        raise BadInput("--metadata must be a JSON object", METADATA_HINT)
    named = {"type": kind, "rationale": rationale, "hypothesis": hypothesis}
    about |= filled(named)
    record = mesh.add(content, {**about, "type": about.get("type") or DEFAULT_TYPE})
    _say(f"Ingested record {record.id}")


@main.command()
@argument("query")
@parameter(LIMIT)
@parameter(
    "--filter TEXT >condition: Only memories that match, such as \"memory_type = 'lesson'\"."
)
@pass_obj
def search(mesh: SyncMemoryMesh, query: str, limit: int, condition: str) -> None:
    """Search memories."""
    results = mesh.search(query, limit=limit, filter=condition)
    _say(f"Found {len(results)} matches.")
    if results:
        echo(f"\n{mesh.format_results(results)}", nl=False)


@main.command("ingest-dir")
@argument("path", type=Path(exists=True, file_okay=False))
@parameter("--extension TEXT =.md: Only files with this extension.")
@parameter("--type TEXT =document >kind: Type of the memories: one word.")
@parameter("--recursive: Include subfolders.")
@pass_obj
def ingest_dir(
    mesh: SyncMemoryMesh, path: str, extension: str, kind: str, recursive: bool
) -> None:
    """Store each file of a folder as a memory. A link out of the project, or out of a folder elsewhere, is refused."""
    files = list(_files(path, "." + extension.lstrip("."), recursive))
    within = mesh.repository.layout.project
    if not is_inside(path, within):
        within = path
    done = 0
    for file in files:
        try:
            with naming_file(file):
                refuse_exit(file, within)
                mesh.add(
                    read_text(file),
                    {"type": kind, "source": os.path.relpath(file, path)},
                )
            done += 1
        except BadInput as failure:
            _print_error(_message_of(failure))
    _say(f"Ingested {done} of {len(files)} files from {path}")
    if done < len(files):
        sys.exit(1)


def _files(path: str, extension: str, recursive: bool) -> Iterator[str]:
    for folder, folders, names in walk(path):
        folders[:] = sorted(
            name for name in folders if recursive and not name.startswith(".")
        )
        yield from (
            os.path.join(folder, name)
            for name in sorted(names)
            if name.endswith(extension)
        )


@main.command()
@pass_obj
def stats(mesh: SyncMemoryMesh) -> None:
    """Count memories and skills."""
    found = mesh.stats()
    _say(f"Total Memories: {found.count}")
    _say(f"Total Skills: {found.total_skills}")
    _say(f"DB Path: {found.uri}")
    _say(f"Status: {'connected' if found.is_connected else 'disconnected'}")


@main.command()
@parameter(
    "--topic TEXT: Reflect on memories about this topic; default: the newest memories."
)
@parameter("--lookback 1.. =10: Number of memories.")
@pass_obj
def reflect(mesh: SyncMemoryMesh, topic: str, lookback: int) -> None:
    """Reflect on memories."""
    reflection = mesh.reflect(topic=topic, lookback=lookback)
    if reflection.id:
        _say(
            f"Reflection {reflection.id} (confidence {reflection.confidence})\n\n{reflection.reflection}"
        )
    else:
        _say(
            f"{reflection.source_memory_count} memories to reflect on.\n\n{reflection.prompt}"
        )


@main.command()
@ID
@pass_obj
def get(mesh: SyncMemoryMesh, id: str) -> None:
    """Show a memory."""
    record = mesh.get(id)
    if record is None:
        raise NotFound(f"Record not found: {id}", "")
    echo(f"{TAG} {format_record(record)}", nl=False)


@main.command()
@ID
@pass_obj
def delete(mesh: SyncMemoryMesh, id: str) -> None:
    """Delete a memory."""
    _say(f"Deleted record {id}" if mesh.delete(id) else PROPOSED.format(id=id))


@main.command()
@parameter("--topic TEXT: Topic of the skill.")
@pass_obj
def synthesize(mesh: SyncMemoryMesh, topic: str) -> None:
    """Propose a skill from learnings."""
    synthesis = mesh.synthesize(topic=topic)
    if not synthesis.skill_id:
        _say(f"No skill synthesized: {synthesis.analysis}")
        return
    _say(
        f"Synthesized skill {synthesis.skill_name} ({synthesis.skill_id}): {synthesis.analysis}\n\n{synthesis.yamo_text}"
    )


@main.command("ingest-skill")
@option(
    "--file",
    "path",
    required=True,
    type=Path(exists=True, dir_okay=False),
    help="The skill's file.",
)
@parameter("--type TEXT >kind: Type of the skill: one word.")
@pass_obj
def ingest_skill(mesh: SyncMemoryMesh, path: str, kind: str) -> None:
    """Add a skill from a file."""
    with naming_file(path):
        skill = mesh.ingest_skill(read_text(path), {"type": kind} if kind else {}, path)
    _say(f"Ingested skill {skill.name} ({skill.id})")


@main.command("search-skills")
@argument("query")
@parameter(LIMIT)
@pass_obj
def search_skills(mesh: SyncMemoryMesh, query: str, limit: int) -> None:
    """Search skills."""
    skills = mesh.search_skills(query, limit=limit)
    _say(f"Found {len(skills)} skills.")
    for skill in skills:
        echo(
            f"- {skill.name} ({skill.id}) score {skill.score:.2f}, reliability {skill.reliability:.2f}: {skill.intent}"
        )


@main.command("list-skills")
@parameter(LIMIT)
@pass_obj
def list_skills(mesh: SyncMemoryMesh, limit: int) -> None:
    """List skills, the most reliable first."""
    skills = mesh.list_skills(limit=limit)
    _say(f"{len(skills)} skills.")
    for skill in skills:
        echo(
            f"- {skill.name} ({skill.id}) reliability {skill.reliability:.2f}: {skill.intent}"
        )


@main.command("skill-feedback")
@ID
@parameter("--success true|false!: Whether the skill helped.")
@pass_obj
def skill_feedback(mesh: SyncMemoryMesh, id: str, success: str) -> None:
    """Record whether a skill helped."""
    update = mesh.update_skill_reliability(id, success == "true")
    _say(f"Skill {update.id} reliability: {update.reliability:.2f}")


@main.command("skill-prune")
@parameter("--threshold 0.0..1.0 =0.3: Archive skills below it.")
@pass_obj
def skill_prune(mesh: SyncMemoryMesh, threshold: float) -> None:
    """Archive unreliable skills."""
    result = mesh.prune_skills(threshold)
    _say(f"Pruned {result.pruned_count} skills, {result.total_remaining} remaining")
