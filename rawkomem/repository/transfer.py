"""What enters and leaves a repository: import and export in the formats of other tools, the ledger of
writes and recalls, and sinks that receive changes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence

from ..exchange.formats import (
    FORMATS,
    format_of,
    read_format,
    usual_sources,
    write_format,
)
from ..exchange.import_plan import (
    ENTRIES_AT_ONCE,
    ImportDecision,
    MemoriesHere,
    Read,
    decide_imports,
    entries_to_write,
    is_rule_kind,
)
from ..exchange.instructions import (
    RULE_ENDINGS,
    plain_lines,
    shortened_page,
    staying_rules,
)
from ..exchange.llmos import origin_of, read_llmos, write_llmos
from ..exchange.neolata import KEPT_KEY, facts_in
from ..exchange.notes import OWN_FORMAT
from ..exchange.sinks import (
    Flushed,
    SinkStatus,
    open_webhook,
    send_queued,
    sink_statuses,
)
from ..exchange.sources import (
    ALSO_IN,
    ALWAYS_KEY,
    DESCRIPTION_KEY,
    Source,
    places_of,
)
from ..exchange.written_files import ExportedFiles, json_lines, write_folder
from ..files.blocks import LedgerRow
from ..files.kept_texts import keep_shortened, lengthen
from ..files.layout import read_bytes
from ..files.ledger import (
    Verdict,
    append_to_ledger,
    last_blocks,
    latest_recalls,
    verify_ledger,
)
from ..files.machine_records import note_rule_files
from ..files.private import lock
from ..files.replace import is_below, is_inside, leads_out, refuse_exit, replace_whole
from ..format.mesh_fields import COLUMNS_KEY, LESSON_KEYS, OTHER_METADATA_KEY
from ..model.entries import Entry, Memory, Plan, by_time
from ..model.errors import BadInput, RawkoError, Refused, Unwritable
from ..model.filters import Filter
from ..model.values import ACTIVE, KEY_ALIASES, KEY_NAMES, record, replace
from ..state.fold import IMPORTED_STATE
from ..state.plans import plan_add
from ..state.trust import IMPORTED
from ..text.chunks import count_tokens
from .core import Core, Wing, batches
from .mesh_tables import export_yamo
from .writing import Stored, as_one_change

VIA_IMPORT = "import"
READ_KEYS = {
    *KEY_NAMES,
    *KEY_ALIASES,
    *LESSON_KEYS,
    IMPORTED,
    IMPORTED_STATE,
    # the fields of another program that an export writes again
    KEPT_KEY,
    COLUMNS_KEY,
    OTHER_METADATA_KEY,
    ALSO_IN,
    ALWAYS_KEY,
    DESCRIPTION_KEY,
    "category",
    "claim",
    "provenance",
    "quote",
    "intent",
    "patternId",
    "ruleConfidence",
    "topic",
}
YAMO = "yamo"  # this format is a database, not files
# kinds that LLMos has
LLMOS_KINDS = ("trace", "experience", "learning", "memory", "lesson")


@record
class Import:
    """The result of importing one source; for a dry run, the expected result."""

    path: str
    kind: str
    decided: tuple[ImportDecision, ...]
    skipped: tuple[tuple[str, str], ...]  # (place, why)
    unreadable: int = 0  # number of skipped items that could not be read
    blocks: int = 0  # operations that were added to the ledger

    @property
    def news(self) -> tuple[ImportDecision, ...]:
        """Return the items that were written, or in a dry run would be."""
        return tuple(item for item in self.decided if item.plan.entries)

    @property
    def held(self) -> dict[str, int]:
        """Return the number of quarantined memories by the code of the reason."""
        return dict(Counter(item.held for item in self.news if item.held))

    @property
    def kept_fields(self) -> dict[str, int]:
        """Return the fields that are kept but have no effect, with the number of memories that have each."""
        counts = Counter(
            key
            for item in self.news
            for key in item.entry.extra
            if key not in READ_KEYS
        )
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@record
class ShortenedPage:
    """A file with rules before and after its rules were moved into memories."""

    place: str
    before: str
    after: str

    @property
    def tokens(self) -> tuple[int, int]:
        """Return the number of tokens before and after."""
        return count_tokens(self.before), count_tokens(self.after)

    @property
    def staying(self) -> list[str]:
        """Return the lines of rules that stay: headings, paragraphs and list items, each on one line."""
        return staying_rules(self.after)


@record
class LlmosImport:
    """The result of importing LLMos projects; for a dry run, the expected result."""

    entries: tuple[Entry, ...]
    known: int  # number of memories that were already here
    deleted: tuple[str, ...]  # ids of memories that were deleted here
    skipped: tuple[tuple[str, str], ...]  # (place, why)


class Exchange(Wing):
    """Imports memories from other tools, and exports memories for them."""

    def import_from(self, path: str, kind: str = "", dry_run: bool = False) -> Import:
        """Import from a file or a folder. All imported memories wait for a review; earlier imports are not repeated."""
        return self.import_all([path], kind, dry_run)[0]

    def import_all(
        self,
        paths: Sequence[str],
        kind: str = "",
        dry_run: bool = False,
        progress: Callable[[int, int], None] = lambda done, total: None,
        vouched: Callable[[Entry], bool] = lambda entry: False,
    ) -> list[Import]:
        """Import from several files and folders; store a memory once even if several of them contain it.

        If it is stopped, the same import goes on where it was. What is new or changed and for which `vouched` returns
        true is in use at once, as if the caller had written it; the rest waits for a review.
        """
        read = [self._read_source(path, kind) for path in paths]
        with lock(self._layout, "import"), as_one_change(self._core):
            here = _memories_here(self._core)
            decided = [
                [
                    one.in_use if one.waits and vouched(one.entry) else one
                    for one in items
                ]
                for items in decide_imports(read, here)
            ]
            everything = [one for items in decided for one in items]
            used = [one for one in everything if not one.held]
            others = [one for one in everything if one.held]
            entries = self._core.entries
            plans = self._core.read(
                lambda: [
                    (plan, via)
                    for items, via in ((used, ""), (others, VIA_IMPORT))
                    for plan in entries_to_write(items, entries)
                ]
            )
            for number, (plan, via) in enumerate([] if dry_run else plans, 1):
                self._core.write(plan, via)
                progress(number, len(plans))
        if not dry_run:
            project = self._layout.project
            rule_files = [
                source.place(file)
                for source, kind, _ in read
                if is_rule_kind(kind)
                and is_below(os.path.realpath(source.path), project)
                for file in source.files(*RULE_ENDINGS)
            ]
            note_rule_files(self._layout, rule_files)
        blocks = [0 if dry_run else self._log(source, kind) for source, kind, _ in read]
        return _imports(read, decided, blocks)

    def ingest(
        self, text: str, min_importance: float = 0.0, by: str = ""
    ) -> Sequence[Stored]:
        """Store the facts that the user's language model finds in prose, with an importance of at least this (0 to 1).

        They are trusted like a document.
        """
        facts = facts_in(text, self._core.settings.llm, min_importance)
        entries = [replace(fact, by=by) for fact in facts]
        return self._repo.add_many(entries, via="document") if entries else ()

    def shorten(self, path: str) -> ShortenedPage:
        """Return a file with rules as it would be without the sections that are memories in use. Write nothing.

        Rules that every session needs stay: `alwaysApply`, critical and emphasized ones.
        """
        source = Source(path, self._layout.project)
        refuse_exit(source.path, self._layout.project)
        page = None if source.is_folder else source.page(source.path)
        if page is None:
            raise BadInput(
                f"{path} is not a text file", "name a file such as CLAUDE.md"
            )
        known: set[str] = set()
        kept: set[str] = set()
        for memory in self._core.inside(Filter(statuses=(ACTIVE,))):
            is_always = str(memory.extra.get(ALWAYS_KEY)) == "true"
            for place in places_of(memory.extra):
                file, _, headings = place.partition(":")[2].partition("#")
                if file == page.place:
                    lines = [memory.title, *headings.split(" / "), memory.body]
                    known |= plain_lines("\n".join(lines))
                    if is_always or memory.importance == "critical":
                        kept |= plain_lines(memory.body)
        after = shortened_page(page.text, frozenset(known), frozenset(kept))
        return ShortenedPage(page.place, page.text, after)

    def write_shortened(self, page: ShortenedPage) -> None:
        """Write a shortened file, and keep its earlier text on this machine."""
        layout = self._layout
        before = read_bytes(os.path.join(layout.project, page.place))
        keep_shortened(layout, page.place, before)
        after = page.after.replace("\n", "\r\n") if b"\r\n" in before else page.after
        file = os.path.join(layout.project, page.place)
        replace_whole(file, after.encode(), within=layout.project)
        note_rule_files(layout, [page.place])

    def lengthen(self, path: str) -> str:
        """Write back the text that `write_shortened` replaced; return the file's place."""
        place = Source(path, self._layout.project).place(os.path.abspath(path))
        lengthen(self._layout, place)
        return place

    def _log(self, source: Source, kind: str) -> int:
        """Add the operations from a source's log to the ledger; return the number of new blocks."""
        read = FORMATS[kind].blocks
        if read is None or self._core.settings.ledger == "off":
            return 0
        blocks, unusable = read(source)
        if unusable:
            source.skip(
                "blocks", f"{unusable} have operations that the ledger does not support"
            )
        return append_to_ledger(self._layout, blocks) if blocks else 0

    def _read_source(self, path: str, kind: str) -> tuple[Source, str, list[Entry]]:
        source = Source(path, self._layout.project)
        refuse_exit(source.path, self._layout.project)
        if is_inside(source.path, self._layout.root):
            raise BadInput(f"{path} is this repository itself", "name another folder")
        if os.path.realpath(source.path) == os.path.realpath(self._layout.project):
            raise BadInput(
                f"{path} is the whole project",
                "run 'rawkomem import' to list what can be imported",
            )
        kind = kind or format_of(source)
        return source, kind, read_format(kind, source)

    def sources(self) -> list[tuple[str, str]]:
        """Return (path, kind) of the files and folders that this project can import."""
        return find_sources(self._layout.project)

    def export_text(self, only: Filter | None = None) -> str:
        """Return the memories that pass a filter as JSON Lines, oldest first."""
        return json_lines(self._chosen(only))

    def export_file(self, file: str, only: Filter | None = None) -> int:
        """Write JSON Lines to a file; return the number of memories. Raise Refused for a file that is not an export."""
        self._refuse_inside(file)
        memories = self._chosen(only)
        if os.path.lexists(file) and not _is_export(file):
            raise Refused(
                f"{file} was not written by rawkomem",
                "name another file, or move it away",
            )
        try:
            replace_whole(file, json_lines(memories).encode())
        except OSError as failure:
            raise Unwritable(
                f"cannot write {file}: {failure.strerror}",
                "check permissions and free space",
            ) from None
        return len(memories)

    def export_folder(
        self, folder: str, form: str, only: Filter | None = None
    ) -> ExportedFiles:
        """Write the memories that pass a filter into a folder in a format; return what was written."""
        self._refuse_inside(folder)
        if form == YAMO:
            return export_yamo(self._repo, folder, self._chosen(only))
        files = write_format(form, self._chosen(only), self._repo.beliefs.trust)
        return write_folder(folder, files)

    def _chosen(self, only: Filter | None) -> list[Memory]:
        return [*by_time(self._core.inside(only))]

    def _refuse_inside(self, path: str) -> None:
        if is_inside(path, self._layout.root):
            raise Refused(
                "memories are not exported into the repository itself",
                "name a folder outside of .rawko",
            )
        refuse_exit(path, self._layout.project)

    # Projects of LLMos

    def import_llmos(self, folder: str, dry_run: bool = False) -> LlmosImport:
        """Store the memories of a folder of LLMos projects that are not here yet; return the result."""
        projects = read_llmos(folder)
        known = self._core.known(entry.id for entry in projects.entries)
        new = tuple(
            plan_add(entry).entries[0]
            for entry in projects.entries
            if entry.id not in known
        )
        with as_one_change(self._core):
            for some in batches(() if dry_run else new, ENTRIES_AT_ONCE):
                self._core.write(Plan(tuple(some)), VIA_IMPORT)
        deleted = tuple(
            id for id, memory in known.items() if memory.status == "deleted"
        )
        return LlmosImport(new, len(known), deleted, projects.skipped)

    def export_llmos(self, folder: str, project: str = "") -> Sequence[str]:
        """Write active memories and archived traces as an LLMos project; return the paths of the files written."""
        rename = bool(project)
        project = project or os.path.basename(self._layout.project)
        if not project or "/" in project or "\\" in project or project.startswith("."):
            raise BadInput(
                f"{project!r} is not a valid project name",
                "pass --name with a plain name",
            )
        self._refuse_inside(folder)
        leaving = [memory for memory in self._core.all() if _goes_to_llmos(memory)]
        return write_llmos(folder, project, leaving, rename)


def find_sources(project: str) -> list[tuple[str, str]]:
    """Return (path, kind) of the files and folders that a project can import."""
    paths = [
        path
        for path in usual_sources(project, os.path.expanduser("~"))
        if not leads_out(path, project)
    ]
    return [(path, format_of(Source(path, project))) for path in paths]


def _memories_here(core: Core | None) -> MemoriesHere:
    if core is None:
        return MemoriesHere(())
    return MemoriesHere(core.all(), core.is_vouching(), core.texts)


def preview_import(project: str, core: Core | None = None) -> list[list[Import]]:
    """Return what importing everything would store; `core` is that of the project's repository, if it has one.

    Each list holds the sources of one format, or all rules that people wrote for agents: import its sources together,
    list after list, to get this result. Write nothing, so that it works in a project without a repository. A source
    that cannot be read is skipped.
    """
    groups: dict[str, list[Read]] = {}
    for path, kind in find_sources(project):
        source = Source(path, project)
        group = groups.setdefault("" if is_rule_kind(kind) else kind, [])
        try:
            group.append((source, kind, read_format(kind, source)))
        except RawkoError as failure:
            source.refuse(source.place(path), failure.message)
            group.append((source, kind, []))
    here = _memories_here(core)
    return [
        _imports(group, decide_imports(group, here), [0] * len(group))
        for group in groups.values()
    ]


def _imports(
    read: Sequence[Read],
    decided: Sequence[Sequence[ImportDecision]],
    blocks: Sequence[int],
) -> list[Import]:
    return [
        Import(
            source.path,
            kind,
            tuple(items),
            tuple(source.skipped),
            source.unreadable,
            logged,
        )
        for (source, kind, _), items, logged in zip(read, decided, blocks, strict=True)
    ]


def _goes_to_llmos(memory: Memory) -> bool:
    """Return whether LLMos gets a memory: an active one, an archived trace, or one that it put into the archive."""
    if memory.kind not in LLMOS_KINDS or memory.status not in (ACTIVE, "archived"):
        return False
    is_theirs = memory.path.startswith("archive/") and origin_of(memory.extra)
    return memory.status == ACTIVE or memory.kind == "trace" or bool(is_theirs)


def _is_export(file: str) -> bool:
    """Return whether a file is empty or an earlier export by rawkomem."""
    if os.path.islink(file) or not os.path.isfile(file):
        return False
    with open(file, encoding="utf-8", errors="replace") as stream:
        first = stream.readline(200)
    return not first or first.startswith(f'{{"format": "{OWN_FORMAT}"')


# The ledger: a tamper-evident log of writes and recalls.


QUERY = "  query;"  # start of the line with the question of a recall


class Ledger(Wing):
    """Reads and verifies the ledger's chain."""

    def verify(self) -> Verdict:
        """Return whether the chain is intact."""
        return verify_ledger(self._layout)

    def blocks(self, operation: str = "", name: str = "") -> list[LedgerRow]:
        """Return blocks in order, of one operation or all; with a name, only blocks with this id or this text."""
        return [
            row
            for row in last_blocks(self._layout)
            if operation in ("", row.operation_type)
            and (row.id == name or name in row.yamo_text)
        ]

    def asked(self, limit: int) -> list[tuple[int, str]]:
        """Return (time, question) of the last recalls, latest first."""
        questions = []
        for row in latest_recalls(self._layout, limit):
            for line in row.yamo_text.split("\n"):
                if line.startswith(QUERY) and line not in (QUERY, f"{QUERY};"):
                    question = line.removeprefix(QUERY).removesuffix(";")
                    questions.append((row.timestamp, question))
                    break
        return questions


# Sinks: a daily log and a webhook that receive changes.


class Sinks(Wing):
    """The sinks in the user's settings."""

    def list(self) -> Sequence[SinkStatus]:
        """Return the state of each sink."""
        return sink_statuses(self._layout, self._core.settings.sinks)

    def flush(self, due_only: bool = False) -> Flushed:
        """Send the queued events to the webhook, in this process; do nothing if no webhook is configured."""
        webhook = self._core.settings.sinks.webhook
        if not webhook.url:
            return Flushed(0, 0, 0)
        return send_queued(
            self._layout, open_webhook(webhook), self._core.warn, due_only
        )
