"""Implement `rawkomem import`, `export` and `project`: exchange memories with files and other tools."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterable
from difflib import unified_diff
from typing import Any

from click import Choice, Path, argument, command, group, option, pass_obj

from ...exchange.formats import READABLE_FORMATS, WRITABLE_FORMATS
from ...exchange.import_plan import HELD_REVIEW, HELD_WHY, ImportDecision
from ...exchange.instructions import NESTED_NAMES
from ...exchange.sources import ALSO_IN, place_of
from ...hosts.person import confirmed
from ...model.errors import BadInput, Refused
from ...model.filters import INCLUDE_EXPIRED
from ...model.values import STATUSES, as_dict
from ...recall.signals import filter_of
from ...repository import Repository
from ...repository.transfer import Import
from ...text.chunks import counted
from ...text.clean import one_line
from .commands import pass_repository
from .declarations import Verbs, flag, text_option
from .opening import open_repository
from .options import DRY_RUN, FILTERS, JSON, YES, together
from .terminal import note, paint, say, say_answer, say_json, wide

# Implement `rawkomem import` and `rawkomem export`.

FORMS = list(WRITABLE_FORMATS)
MAX_FIELDS_SHOWN = 20  # names of kept fields in the summary; --json has all
EVERY_STATUS = (*(status for status in STATUSES if status != "deleted"), INCLUDE_EXPIRED)
DELETED_HERE = "{} deleted here earlier, so not added again: 'rawkomem restore ID' brings one back"
OUTCOME_COLORS = {"added": "green", "changed": "yellow", "known": "dim"}


IMPORT_HELP = """Import memories from CLAUDE.md, AGENTS.md and other tools.

SOURCE is a file or a folder: {}. Without SOURCE, the command lists the files of this project that it can import. A
second import adds nothing; a changed rule amends its memory. Imported memories are not used until you run 'rawkomem
review --all-from SOURCE --activate'. Then --shorten removes the moved sections from a file such as CLAUDE.md: it shows
the difference and asks. See 'rawkomem docs moving-in' and 'rawkomem docs exchange'.

Examples:
  rawkomem import CLAUDE.md --dry-run
  rawkomem import CLAUDE.md
  rawkomem import --shorten CLAUDE.md
"""


@command(
    "import", help=IMPORT_HELP.format(", ".join(row.what for row in READABLE_FORMATS.values()))
)
@argument("sources", metavar="[SOURCE]...", nargs=-1, type=Path())
@option(
    "--from",
    "kind",
    type=Choice(list(READABLE_FORMATS)),
    help="The format of the sources. Default: detected.",
)
@flag("--shorten", help="Remove what is in memories now from SOURCE, such as CLAUDE.md.")
@flag("--unshorten", help="Write back the text that --shorten removed from SOURCE.")
@YES
@DRY_RUN
@JSON
@pass_repository
def import_command(
    repository: Repository, sources: tuple[str, ...], kind: str | None, shorten: bool, unshorten: bool, yes: bool,
    dry_run: bool, as_json: bool,
) -> None:  # fmt: skip
    if (shorten or unshorten) and not sources:
        raise BadInput("--shorten and --unshorten need a file", "name it, such as CLAUDE.md")
    if unshorten:
        for path in sources:
            note(f"{repository.exchange.lengthen(path)} has its earlier text again")
        return
    if shorten:
        _shorten(repository, sources, yes, dry_run)
        return
    if not sources:
        _list_sources(repository, as_json)
        return
    done = repository.exchange.import_all(sources, kind or "", dry_run)
    if not dry_run and any(item.news for item in done):
        repository.core.follow()
    if as_json:
        say_json({"dry_run": dry_run, "sources": [_import_json(item) for item in done]})
    for item in () if as_json else done:
        _tell_import(item, dry_run)
    failed = [shown_path(item.path) for item in done if not item.decided and item.unreadable]
    if failed:
        raise BadInput(
            f"nothing was added from {', '.join(failed)}",
            "fix or remove the files listed as skipped",
        )


def _shorten(repository: Repository, sources: tuple[str, ...], yes: bool, dry_run: bool) -> None:
    """Show which sections of files can go because they are memories in use; remove them if the person agrees."""
    pages = [repository.exchange.shorten(path) for path in sources]
    shorter = [page for page in pages if page.tokens[1] < page.tokens[0]]
    for page in shorter:
        before, after = page.before.splitlines(), page.after.splitlines()
        say("\n".join(unified_diff(before, after, page.place, page.place, n=1, lineterm="")))
    for page in shorter:
        long, short = page.tokens
        note(
            f"{page.place}: {short:,} tokens instead of {long:,}, {long - short:,} fewer in each session"
        )
    if not shorter:
        names = shlex.join(sources)
        note(f"nothing to shorten: run 'rawkomem import {names}' and activate the memories first")
    elif dry_run:
        note("nothing was written")
    elif not (yes or confirmed("Write this?")):
        raise Refused("nothing was written", "answer y, or add --yes")
    else:
        for page in shorter:
            repository.exchange.write_shortened(page)
            note(f"to undo this, run: rawkomem import --unshorten {shlex.quote(page.place)}")


@command("export")
@option(
    "--format",
    "-f",
    "form",
    type=Choice(FORMS),
    default=FORMS[0],
    show_default=True,
    help="The format.",
)
@option(
    "--out",
    "-o",
    type=Path(),
    default="",
    help="The file (jsonl; default: standard output) or the folder to write.",
)
@together(*FILTERS, JSON)
@pass_obj
def export_command(folder: str, /, form: str, out: str, as_json: bool, **which: Any) -> None:
    """Export memories for other tools.

    Formats: jsonl writes one memory per line; markdown writes one clean file per memory; okf writes a folder in the
    Open Knowledge Format; neolata and yamo write the storage of these systems. The command exports what 'rawkomem
    list' shows with the same filters; neolata without --include exports all memories except deleted ones. Files
    that rawkomem did not write are never replaced.

    Examples:
      rawkomem export --format jsonl --out memories.jsonl
    """
    if WRITABLE_FORMATS[form].restores and not which.get("include"):
        which["include"] = EVERY_STATUS
    repository, only = open_repository(folder), filter_of(**which)
    if WRITABLE_FORMATS[form].one_file:
        if not out or out == "-":
            text = repository.exchange.export_text(only)
            sys.stdout.write(text)
            if not text:
                note("nothing was exported: no memory matches")
            return
        told: dict[str, Any] = {"file": out, "memories": repository.exchange.export_file(out, only)}
        line = f"{counted(told['memories'], 'memory')} written to {out}"
    elif not out:
        raise BadInput(
            f"the format {form} writes a folder, and no folder is named", "add --out FOLDER"
        )
    else:
        done = repository.exchange.export_folder(out, form, only)
        told = {"folder": out, **{name: [*names] for name, names in as_dict(done).items()}}
        line = f"{out}: " + ", ".join(
            f"{len(names)} {name}" for name, names in as_dict(done).items()
        )
    if as_json:
        say_json(told)
    else:
        note(line)


def _list_sources(repository: Repository, as_json: bool) -> None:
    found = repository.exchange.sources()
    say_answer(
        as_json,
        [{"path": path, "kind": kind} for path, kind in found],
        (f"{paint(f'{kind:14}', 'cyan')} {shown_path(path)}" for path, kind in found),
        "nothing to import was found here: name a file or a folder",
    )
    if found and not as_json:
        note("'rawkomem import PATH --dry-run' shows what an import would add")


def shown_path(path: str) -> str:
    """Return a path as a person would type it."""
    home = os.path.expanduser("~")
    short = os.path.relpath(path)
    if short.startswith(".."):
        return path.replace(home, "~", 1) if path.startswith(home + os.sep) else path
    return short


def _say_skipped(skipped: Iterable[tuple[str, str]]) -> None:
    for place, why in skipped:
        say(f"{paint('skipped', 'dim')}  {one_line(place, 80)}: {one_line(why, 100)}")


def _tell_import(done: Import, dry_run: bool) -> None:
    for item in done.decided:
        _tell_decided(item, dry_run)
    _say_skipped(done.skipped)
    news = len(done.news)
    known = len(done.decided) - news
    what = "would be added" if dry_run else "added"
    total = f"{shown_path(done.path)} ({done.kind}): {len(done.decided)} read, {news} {what}, {known} known"
    note(f"{total}, {len(done.skipped)} skipped")
    deleted = sum(item.is_deleted for item in done.decided)
    if deleted:
        note(DELETED_HERE.format(deleted))
    for code, number in done.held.items():
        if code != HELD_REVIEW:
            note(f"{number} held back: {HELD_WHY[code]}")
    if done.kept_fields:
        names = [f"{name} ({number})" for name, number in done.kept_fields.items()]
        rest = len(names) - MAX_FIELDS_SHOWN
        more = f" and {rest} more" if rest > 0 else ""
        shown = ", ".join(names[:MAX_FIELDS_SHOWN])
        note(f"fields that were kept but are not used: {shown}{more}")
    redacted = sum(item.redacted for item in done.news)
    if redacted:
        would = "would be" if dry_run else "were"
        note(f"secrets and personal data in {counted(redacted, 'memory')} {would} redacted")
    left_out = sum(item.left_out for item in done.news)
    if left_out:
        note(f"left out {counted(left_out, 'condition')} that cannot be used")
    if done.blocks:
        note(
            f"{counted(done.blocks, 'block')} added to the ledger: see 'rawkomem index ledger show'"
        )
    if done.held.get(HELD_REVIEW) and not dry_run:
        _tell_waiting(done)


def _tell_waiting(done: Import) -> None:
    """Print how to read and activate the memories of this import: its common file or folder, or its format."""
    files = [place_of(item.entry.extra).partition(":")[2].partition("#")[0] for item in done.news]
    name = shlex.quote(os.path.commonpath(files).replace(os.sep, "/") or done.kind)
    waiting = done.held[HELD_REVIEW]
    note(f"{counted(waiting, 'memory')} {'waits' if waiting == 1 else 'wait'} for your review")
    note(f"read them: rawkomem review --from {name}, then rawkomem show ID")
    note(f"use them: rawkomem review --all-from {name} --activate")
    if os.path.basename(done.path) in NESTED_NAMES:
        note(f"then make the file short: rawkomem import --shorten {shown_path(done.path)}")


def _tell_decided(item: ImportDecision, dry_run: bool) -> None:
    entry = item.entry
    word = paint(f"{item.what:8}", OUTCOME_COLORS[item.what])
    place = place_of(entry.extra).partition(":")[2]
    same = f" (the same as {item.other})" if item.what == "known" and item.other != entry.id else ""
    same = f" (deleted here: {item.other})" if item.is_deleted else same
    say(
        f"{word} {one_line(entry.title, max(30, wide() - 50))}  {paint(one_line(place, 60) + same, 'dim')}"
    )
    if dry_run and item.plan.entries and entry.when:
        say(f"         {paint(one_line('use: ' + '; '.join(entry.when), wide() - 12), 'dim')}")


def _import_json(done: Import) -> dict[str, Any]:
    skipped = [{"place": place, "why": why} for place, why in done.skipped]
    memories = [_decided_json(item) for item in done.decided]
    counts = Counter(item.what for item in done.decided)
    summary = {
        "read": len(memories), **{what: counts[what] for what in OUTCOME_COLORS}, "skipped": len(skipped),
        "unreadable": done.unreadable,
        "deleted": sum(item.is_deleted for item in done.decided), "held": done.held,
        "redacted": sum(item.redacted for item in done.news),
        "kept_fields": done.kept_fields, "blocks": done.blocks,
    }  # fmt: skip
    return {
        "path": done.path,
        "kind": done.kind,
        "memories": memories,
        "skipped": skipped,
        "summary": summary,
    }


def _decided_json(item: ImportDecision) -> dict[str, Any]:
    entry = item.entry
    id, older = (entry.id, item.other) if item.plan.entries else (item.other, "")
    return {
        "what": item.what,
        "id": id,
        "newer_than": older,
        "title": entry.title,
        "whenToUse": [*entry.when],
        "tags": [*entry.tags],
        "importance": entry.importance,
        "from": place_of(entry.extra),
        "also_in": entry.extra.get(ALSO_IN, []),
        "text": entry.body,
        "redacted": item.redacted,
        "held": item.held,
    }


# Implement `rawkomem trace project`: exchange memories with projects of LLMos.


@group("project", cls=Verbs)
def project_command() -> None:
    """Exchange memories with LLMos projects.

    Examples:
      rawkomem trace project import FOLDER --dry-run
      rawkomem trace project export OUT_FOLDER
    """


@project_command.command("import")
@argument("source", metavar="DIR", type=Path(exists=True, file_okay=False))
@DRY_RUN
@JSON
@pass_repository
def project_import(repository: Repository, source: str, dry_run: bool, as_json: bool) -> None:
    """Import the memory folders of LLMos projects.

    DIR is a folder with projects/*/memory, or the memory folder of one project. The command imports traces, the
    experience log, context.md, and the sections of learnings.md, patterns.md and decisions.md. Caches and tool
    outputs go to the archive. A second import adds nothing.

    Examples:
      rawkomem trace project import FOLDER --dry-run
    """
    done = repository.exchange.import_llmos(source, dry_run)
    repository.core.follow()
    if as_json:
        say_json(
            {
                "dry_run": dry_run,
                "entries": [
                    {"kind": entry.kind, "id": entry.id, "title": entry.title}
                    for entry in done.entries
                ],
                "known": done.known,
                "deleted": [*done.deleted],
                "skipped": [{"place": place, "why": why} for place, why in done.skipped],
            }
        )
        return
    for entry in done.entries:
        say(
            f"{paint('+', 'green')} {entry.kind:10} {one_line(entry.title, 100)}  {paint(entry.id, 'dim')}"
        )
    _say_skipped(done.skipped)
    stored = f"{len(done.entries)} {'would be stored' if dry_run else 'stored'}"
    note(
        f"{len(done.entries) + done.known} read, {stored}, {done.known} known, {len(done.skipped)} skipped"
    )
    for id in done.deleted:
        say(f"{paint('known', 'dim')}  {id} (deleted here)")
    if done.deleted:
        note(DELETED_HERE.format(len(done.deleted)))


@project_command.command("export")
@argument("target", metavar="DIR", type=Path(file_okay=False))
@text_option("--name", help="The name of the project. Default: the name of this folder.")
@JSON
@pass_repository
def project_export(repository: Repository, target: str, name: str, as_json: bool) -> None:
    """Write traces, learnings, decisions and the log as an LLMos project.

    Memories that came from LLMos are written unchanged. The command appends to existing files and never replaces
    them. A second export adds nothing.

    Examples:
      rawkomem trace project export OUT_FOLDER
    """
    written = repository.exchange.export_llmos(target, name)
    files = dict.fromkeys(written)
    say_answer(as_json, sorted(files), (f"{paint('written', 'green')}  {file}" for file in files))
    if not as_json:
        note(f"{counted(len(written), 'memory')} exported")
