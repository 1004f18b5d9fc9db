"""Implement `rawkomem import`, `export` and `trace project`: exchange memories with files and other tools."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from difflib import unified_diff
from typing import Any

from click import Path, argument
from click.exceptions import Exit

from ...exchange.formats import READABLE_FORMATS, WRITABLE_FORMATS
from ...exchange.import_plan import HELD_REVIEW, HELD_WHY, ImportDecision
from ...exchange.instructions import NESTED_NAMES, OURS_BEGIN
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
from .answers import Fields
from .declarations import answer, verb, verbs
from .options import DRY_RUN, FILTERS, YES
from .syncing import with_bar
from .terminal import note, say

FORMS = list(WRITABLE_FORMATS)
# lines of a shortened file that are listed
MAX_STAYING = 20
MAX_STAYING_CHARS = 100
EVERY_STATUS = (
    *(status for status in STATUSES if status != "deleted"),
    INCLUDE_EXPIRED,
)
DELETED_HERE = (
    "% deleted here earlier, so not added again: 'rawkomem restore ID' brings one back"
)
OUTCOMES = ("added", "changed", "known")


def _same_as(item: ImportDecision) -> str:
    if item.is_deleted:
        return f" (deleted here: {item.other})"
    is_copy = item.what == "known" and item.other != item.entry.id
    return f" (the same as {item.other})" if is_copy else ""


def _summary(source: Import) -> dict[str, Any]:
    counts = Counter(item.what for item in source.decided)
    return {
        "read": len(source.decided),
        **{what: counts[what] for what in OUTCOMES},
        "skipped": len(source.skipped),
        "unreadable": source.unreadable,
        "deleted": sum(item.is_deleted for item in source.decided),
        "held": source.held,
        "redacted": sum(item.redacted for item in source.news),
        "kept_fields": source.kept_fields,
        "blocks": source.blocks,
    }


FROM: Any = {"from": lambda item: place_of(item.entry.extra)}  # a word of Python
SKIPPED = Fields("place=0 why=1", "skipped  {place:80}: {why:100}")
DECISION = Fields(
    "what id newer_than title=entry.title whenToUse=entry.when tags=entry.tags importance=entry.importance from"
    " also_in text=entry.body redacted held",
    "{what:<8|hue} {title:wide 50}  {from:60|dim}{same:text|dim}\n{condition:wide 20|?         use: %|dim}",
    condition=lambda item: item.entry.when if item.plan.entries else (),
    id=lambda item: item.entry.id if item.plan.entries else item.other,
    newer_than=lambda item: item.other if item.plan.entries else "",
    also_in=lambda item: item.entry.extra.get(ALSO_IN, []),
    same=_same_as,
    **FROM,
)
IMPORTED = Fields(
    "path kind memories=decided skipped summary",
    "{memories_lines:text}\n{skipped_lines:text}",
    remarks=f"""\
{{short}} ({{kind}}): {{summary.read}} read, {{summary.added}} {{would:?% }}added, {{summary.changed:?% {{would:?% }}changed, }}{{summary.known}} known, {{summary.skipped}} skipped
{{summary.deleted:?{DELETED_HERE}}}
{{held:text}}
{{0.kept_fields:?fields that were kept but are not used: %}}
{{summary.redacted:?secrets and personal data {{would:?% }}redacted in % of them}}
{{left_out:?left out % conditions that cannot be used}}
{{0.blocks:?blocks added to the ledger: %; see 'rawkomem index ledger show'}}
{{waiting:text}}""",
    memories=[DECISION],
    skipped=[SKIPPED],
    summary=_summary,
    short=lambda done: shown_path(done.path),
    held=lambda done: "\n".join(
        f"{number} held back: {HELD_WHY[code]}"
        for code, number in done.held.items()
        if code != HELD_REVIEW
    ),
    left_out=lambda done: sum(item.left_out for item in done.news),
)
IMPORTS = Fields("dry_run sources", "{sources_lines:text}", sources=[IMPORTED])
SOURCE = Fields(
    "path=0 kind=1",
    "{kind:<14} {short}",
    "nothing to import was found here: name a file or a folder",
    short=lambda pair: shown_path(pair[0]),
)

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


@verb(
    "import",
    argument("sources", metavar="[SOURCE]...", nargs=-1, type=Path()),
    f"--from {'|'.join(READABLE_FORMATS)} >kind: The format of the sources. Default: detected.",
    "--shorten: Remove what is in memories now from SOURCE, such as CLAUDE.md.",
    "--unshorten: Write back the text that --shorten removed from SOURCE.",
    YES,
    DRY_RUN,
    IMPORTS,
    [SOURCE],
    help=IMPORT_HELP.format(", ".join(row.what for row in READABLE_FORMATS.values())),
)
def import_command(
    repository: Repository, sources: tuple[str, ...], kind: str | None, shorten: bool, unshorten: bool, yes: bool,
    dry_run: bool,
) -> int:  # fmt: skip
    if (shorten or unshorten) and not sources:
        raise BadInput(
            "--shorten and --unshorten need a file", "name it, such as CLAUDE.md"
        )
    if not sources:
        return answer(repository.exchange.sources(), SOURCE)
    if unshorten:
        for path in sources:
            note(f"{repository.exchange.lengthen(path)} has its earlier text again")
        return 0
    if shorten:
        _shorten(repository, sources, yes, dry_run)
        return 0
    try:
        imports = with_bar(
            lambda progress: repository.exchange.import_all(
                sources, kind or "", dry_run, progress
            ),
            "importing",
        )
    except KeyboardInterrupt:
        note("stopped: to import the rest, run the same command again")
        raise Exit(130) from None  # as after Ctrl-C
    answer({"dry_run": dry_run, "sources": imports})
    fields = IMPORTED.but(
        would=lambda _: "would be" if dry_run else "",
        waiting=lambda one: "" if dry_run else _waiting_remark(one),
    )
    for item in imports:
        fields.remark(item)
    failed = [
        shown_path(item.path)
        for item in imports
        if not item.decided and item.unreadable
    ]
    if failed:
        raise BadInput(
            f"nothing was added from {', '.join(failed)}",
            "fix or remove the files listed as skipped",
        )
    return 0


def shown_path(path: str) -> str:
    """Return a path as a person would type it."""
    home = os.path.expanduser("~")
    short = os.path.relpath(path)
    if short.startswith(".."):
        return path.replace(home, "~", 1) if path.startswith(home + os.sep) else path
    return short


def _waiting_remark(source: Import) -> str:
    """Return how to read and activate the memories of this import: its common file or folder, or its format."""
    waiting = source.held.get(HELD_REVIEW)
    if not waiting:
        return ""
    files = [
        place_of(item.entry.extra).partition(":")[2].partition("#")[0]
        for item in source.news
    ]
    name = shlex.quote(os.path.commonpath(files).replace(os.sep, "/") or source.kind)
    text = f"""\
{counted(waiting, "memory")} {"waits" if waiting == 1 else "wait"} for your review
read them: rawkomem review --all-from {name}, then rawkomem show ID
use them: rawkomem review --all-from {name} --activate"""
    if os.path.basename(source.path) in NESTED_NAMES:
        text += f"\nthen make the file short: rawkomem import --shorten {shown_path(source.path)}"
    return text


def _shorten(
    repository: Repository, sources: tuple[str, ...], yes: bool, dry_run: bool
) -> None:
    """Show which sections of files can go because they are memories in use; remove them if the person agrees."""
    pages = [repository.exchange.shorten(path) for path in sources]
    shorter = [page for page in pages if page.tokens[1] < page.tokens[0]]
    for page in shorter:
        before = page.before.splitlines()
        after = page.after.splitlines()
        place = page.place
        say("\n".join(unified_diff(before, after, place, place, n=1, lineterm="")))
        long, short = page.tokens
        note(
            f"{place}: {short:,} tokens instead of {long:,}, {long - short:,} fewer in each session"
        )
        staying = [one_line(line, MAX_STAYING_CHARS) for line in page.staying]
        if more := staying[MAX_STAYING:]:
            staying[MAX_STAYING:] = [f"and {len(more):,} more"]
        if staying:
            note("\n  ".join([f"what stays in {place}:", *staying]))
        else:
            note(f"nothing of {place} stays but a paragraph that names the memories")
    for page in pages if not shorter else ():
        why = f"run 'rawkomem import {shlex.quote(page.place)}' and activate the memories first"
        if OURS_BEGIN in page.before:
            why = "it is short already, and no section left is a memory in use"
        elif not page.after.startswith(page.before.rstrip("\n")):
            why = f"with the paragraph that names the memories, it would have {page.tokens[1]:,} tokens instead of {page.tokens[0]:,}"
        note(f"nothing to shorten in {page.place}: {why}")
    if not shorter:
        return
    if dry_run:
        note("nothing was written")
    elif not (yes or confirmed("Write this?")):
        raise Refused("nothing was written", "answer y, or add --yes")
    else:
        for page in shorter:
            repository.exchange.write_shortened(page)
            note(
                f"to undo this, run: rawkomem import --unshorten {shlex.quote(page.place)}"
            )


EXPORTED_FILE = Fields("file memories", remarks="{memories:n memory} written to {file}")
EXPORTED_FOLDER = Fields(
    "folder written unchanged removed",
    remarks="{folder}: {written:count} written, {unchanged:count} unchanged, {removed:count} removed",
)


@verb(
    "export",
    f"--format -f {'|'.join(FORMS)} ={FORMS[0]} >form: The format.",
    "--out -o PATH: The file (jsonl; default: standard output) or the folder to write.",
    *FILTERS,
    EXPORTED_FOLDER,
    EXPORTED_FILE,
)
def export_command(
    repository: Repository, form: str, out: str, as_json: bool, **options: Any
) -> Any:
    """Export memories for other tools.

    Formats: jsonl writes one memory per line; markdown writes one clean file per memory; claude-rules, cursor and
    copilot write a rule for each memory, with the paths that it applies to; neolata and yamo write the storage of these
    systems. The command exports what 'rawkomem
    list' shows with the same filters; neolata without --include exports all memories except deleted ones. Files
    that rawkomem did not write are never replaced.

    Examples:
      rawkomem export --format jsonl --out memories.jsonl
    """
    kind = WRITABLE_FORMATS[form]
    if kind.restores and not options.get("include"):
        options["include"] = EVERY_STATUS
    only = filter_of(**options)
    if kind.one_file and out in ("", "-"):
        text = repository.exchange.export_text(only)
        sys.stdout.write(text)
        if not text:
            note("nothing was exported: no memory matches")
        return 0
    if not out:
        raise BadInput(
            f"the format {form} writes a folder, and no folder is named",
            "add --out FOLDER",
        )
    if kind.one_file:
        number = repository.exchange.export_file(out, only)
        return answer({"file": out, "memories": number}, EXPORTED_FILE)
    files = as_dict(repository.exchange.export_folder(out, form, only))
    return {"folder": out, **files}


PROJECT = Fields(
    "dry_run entries known deleted skipped",
    "{entries_lines:text}\n{skipped_lines:text}\n{deleted:?known, but deleted here: %}",
    remarks="{entries:count} {dry_run:yes would be stored/stored}, {known} known, {skipped:count} skipped\n"
    f"{{deleted:count|?{DELETED_HERE}}}",
    entries=[Fields("kind id title", "+ {kind:<10} {title:100}  {id:dim}")],
    skipped=[SKIPPED],
)


@verbs("project")
def project_command() -> None:
    """Exchange memories with LLMos projects.

    Examples:
      rawkomem trace project import FOLDER --dry-run
      rawkomem trace project export OUT_FOLDER
    """


@project_command.verb(
    "import",
    argument("source", metavar="DIR", type=Path(exists=True, file_okay=False)),
    DRY_RUN,
    PROJECT,
)
def project_import(repository: Repository, source: str, dry_run: bool) -> Any:
    """Import the memory folders of LLMos projects.

    DIR is a folder with projects/*/memory, or the memory folder of one project. The command imports traces, the
    experience log, context.md, and the sections of learnings.md, patterns.md and decisions.md. Caches and tool
    outputs go to the archive. A second import adds nothing.

    Examples:
      rawkomem trace project import FOLDER --dry-run
    """
    report = repository.exchange.import_llmos(source, dry_run)
    return answer(report, dry_run=dry_run)


@project_command.verb(
    "export",
    argument("target", metavar="DIR", type=Path(file_okay=False)),
    "--name TEXT: The name of the project. Default: the name of this folder.",
    [Fields(line="written  {0}")],
)
def project_export(repository: Repository, target: str, name: str) -> None:
    """Write traces, learnings, decisions and the log as an LLMos project.

    Memories that came from LLMos are written unchanged. The command appends to existing files and never replaces
    them. A second export adds nothing.

    Examples:
      rawkomem trace project export OUT_FOLDER
    """
    written = repository.exchange.export_llmos(target, name)
    answer(sorted(set(written)))
    note(f"{counted(len(written), 'memory')} exported")
