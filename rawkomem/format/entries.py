"""Parse texts into entries, with a Problem for each error or oddity: files, experience logs, and a
person's text with flags.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import partial
from typing import Any

from ..model.entries import Entry, Field, Value
from ..model.errors import BadInput
from ..model.ids import ID_LENGTH, is_id, placed_id, safe_id
from ..model.values import (
    CHANGES,
    CREATES,
    DAY,
    DEFAULT_IMPORTANCE,
    EMPTY_WORDS,
    ERROR,
    IMPORTANCE,
    KEPT_KEYS,
    KEY_ALIASES,
    KEY_NAMES,
    NEED_WHEN,
    Problem,
    error,
    is_empty_value,
    items_of,
    names_of_key,
    now,
    read_time,
    replace,
    style,
    unchecked,
    warning,
)
from ..redaction.entries import (
    UNTOUCHED_KEYS,
    Leaf,
    are_bare,
    find_in_fields,
    leaves_of,
    map_value,
    redact_entry,
)
from ..redaction.find import redact
from ..redaction.values import RULES
from ..text.acts import APPLIES_KEY, GUARD_KEY, act_problem
from ..text.clean import clean, hidden_characters
from ..text.conditions import condition_problems
from ..text.scripts import confusable_with, mixed_script
from .blocks import Block, digest_of, split_blocks
from .frontmatter import (
    CONFLICT_MARKER,
    SHORT_KEYS,
    with_native_keys,
    with_prose_in_body,
)

FIRST_EXPERIENCE = re.compile(r"^---[ \t]*\n(?=experience_id[ \t]*:)", re.MULTILINE)


def read_log(text: str) -> tuple[list[Block], list[Problem]]:
    """Return the blocks of a log without the text before the first one, and a warning; nothing if it has none."""
    first = FIRST_EXPERIENCE.search(text)
    if not first:
        return [], []
    above = text.count("\n", 0, first.start())
    blocks = split_blocks("\n" * above + text[first.start() :])
    message = "text before the first experience: read, but not written to"
    odd = warning("old-log", message, "new entries go to a file next to it")
    return [replace(blocks[0], problems=()), *blocks[1:]], [odd]


ENTRY_FIELD_KEYS = frozenset(
    str.split("""
    id kind about title whenToUse tags importance discoveredAt at discoveredBy by discoveredIn source relatedMemories
    """)
)
# their name → our key
FOREIGN_NAMES = {
    name: ours
    for ours in sorted(ENTRY_FIELD_KEYS & KEY_NAMES.keys())
    for name in KEY_NAMES[ours]
}
NO_KEYS = ("true", "false", "null")  # words that other readers do not read as text
MORE_TIMES = {
    name
    for key in ("validFrom", "validUntil", "eventTime")
    for name in names_of_key(key)
}
CLAIM_KEYS = ("subject", "predicate", "value")  # required in a claim
# RFC-0011: never metadata keys
FORBIDDEN_KEYS = {"__proto__", "constructor", "prototype"}
MAX_TAGS = 64  # more tags do not describe a memory
MAX_PATTERNS = 32  # each condition is matched against every task
NO_TITLE = "no-title"  # a caller that has another title may ignore this Problem code
SECRET_HINT = "remove it and change the secret; the index holds a redacted copy"
KEPT_HINT = (
    "choose another value: other entries refer to it, so the index does not redact it"
)
PERSONAL_HINT = (
    "remove it if others can read this repository; the index holds a redacted copy"
)
LONG_TITLE_CHARS = 300
LONG_VALUE_CHARS = 10_000  # characters; a longer value is kept, but belongs in the body
HIDDEN_HINT = "remove them; \\b in double quotes is a backspace: use single quotes"
FUTURE_SLACK_MS = DAY  # clocks and time zones differ


def read_entries(
    text: str,
    advice: bool = True,
    log: bool = False,
    stem: str = "",
    secrets: bool = True,
) -> tuple[list[Entry], list[Problem]]:
    """Return all entries of a text with \\n line ends, with ids as written, and all Problems ordered by line.

    Without `advice`, leave out warnings that do not change an entry. A `log` may have a text before its first entry. Entries without
    an id are named by their place: `stem`, `stem#2` and so on; their digests depend on it. Without `secrets`, none are
    looked for.
    """
    entries: list[Entry] = []
    blocks: list[Block] = []
    problems: list[Problem] = []
    if log and not text.lstrip().startswith("---"):
        blocks, problems = read_log(text)
    for number, block in enumerate(blocks or split_blocks(text), 1):
        entry, odd = _read_block(block, advice, secrets)
        digest = "" if blocks else digest_of(block, placed_id(stem, number))
        entries.append(replace(entry, digest=digest))
        problems.extend(odd)
    return entries, sorted(problems, key=lambda problem: problem.line)


def _read_block(
    block: Block, advice: bool, secrets: bool
) -> tuple[Entry, list[Problem]]:
    problems = list(block.problems)
    # removed characters may leave spaces at the edges
    body = clean(block.body).strip("\n").rstrip()
    conflicted = bool(CONFLICT_MARKER.search(body))
    problems += _body_problems(block) if advice else []
    leaks = _secret_problems(block) if secrets else []
    if block.fields is None:
        entry = unchecked(Entry, body=body, draft=True, line=block.line)
    else:
        entry = with_prose_in_body(
            _FieldReader(
                _with_our_names(with_native_keys(block.fields)),
                block.line,
                problems,
                advice,
            ).entry(body)
        )
    return replace(entry, conflicted=conflicted, leaks=bool(leaks)), problems + leaks


def _with_our_names(fields: Mapping[str, Field]) -> Mapping[str, Field]:
    """Add our key for each foreign key that has a value, unless our key is present; return all fields."""
    foreign = [
        name for name in FOREIGN_NAMES if name in fields and not fields[name].missing
    ]
    if not foreign:
        return fields
    ours = {FOREIGN_NAMES[name]: fields[name] for name in reversed(foreign)}
    return {
        **{
            key: field
            for key, field in ours.items()
            if SHORT_KEYS.get(key) not in fields
        },
        **fields,
    }


def _body_problems(block: Block) -> list[Problem]:
    line = block.body_line
    problems = [
        warning(
            "hidden-character",
            f"{what} in the text",
            "remove it; it is stripped before use",
            line + at - 1,
        )
        for at, what in hidden_characters(block.body)
    ]
    comment = block.body.find("<!--")
    if comment >= 0 and "\n---" in block.body[comment:]:
        at = line + block.body.count("\n", 0, comment)
        message = "hidden content: an HTML comment holds a rule or an entry"
        problems.append(warning("hidden-comment", message, "remove or show it", at))
    return problems


def _secret_problems(block: Block) -> list[Problem]:
    """Return Problems for secrets and personal data in the frontmatter and the body, found in one pass."""
    leaves: list[Leaf] = []
    places: list[tuple[str, int]] = []  # key and line of each leaf
    for key, field in (block.fields or {}).items():
        own = leaves_of(partial(map_value, key, field.value))
        leaves += own
        places += [(key, field.line)] * len(own)
    if not block.body and are_bare(leaves):
        return []
    problems = []
    line = block.body_line
    counted = 0
    for secret in find_in_fields([*leaves, ("", block.body)]):
        if secret.leaf < len(leaves):
            problems.append(_secret_problem(secret.rule, *places[secret.leaf]))
        else:
            line += block.body.count("\n", counted, secret.start)
            counted = secret.start
            problems.append(_secret_problem(secret.rule, "", line))
    return problems


def _secret_problem(rule: str, key: str, line: int) -> Problem:
    """Return the Problem for a secret or personal data under a key of the frontmatter, or in the body."""

    where = "frontmatter" if key else "body"
    kept = KEPT_HINT if key in UNTOUCHED_KEYS else ""
    if RULES[rule].pii:
        message = f"personal data in the {where}: {rule}"
        return style("personal-data", message, kept or PERSONAL_HINT, line)
    message = f"a secret in the {where}: {rule}"
    return warning("secret", message, kept or SECRET_HINT, line)


class _FieldReader:
    """Reads the known keys of one frontmatter and collects Problems."""

    def __init__(
        self,
        fields: Mapping[str, Field],
        line: int,
        problems: list[Problem],
        advice: bool,
    ):
        self.fields = fields
        self.advice = advice
        self.line = line
        self.problems = problems

    def entry(self, body: str) -> Entry:
        for key, field in self.fields.items():
            # those are dropped
            kept = key not in FORBIDDEN_KEYS and key != "relatedMemories"
            if kept and _holds_nul(field.value):
                self._error(
                    "nul", key, f"NUL character in {clean(key)[:40]!r}", "remove it"
                )
        kind = self._kind()
        about = self._id("about")
        creates = kind not in CHANGES
        title = self._title(required=kind in CREATES)
        if not creates and not about:
            self._error(
                "no-about",
                "about",
                f"an entry of kind {kind} needs 'about: <id>'",
                "name the memory it is about",
            )
        entry = unchecked(
            Entry,
            kind=kind,
            id=self._id("id"),
            about=about,
            title=title,
            when=self._when(),
            tags=self._tags(),
            importance=self._importance(),
            at=self._time("discoveredAt") or self._time("at"),
            by=self._text("discoveredBy") or self._text("by"),
            found_in=self._text("discoveredIn"),
            source=self._text("source"),
            related=self._related(),
            extra=self._extra(),
            body=body,
            given=tuple(key for key, field in self.fields.items() if not field.missing),
            line=self.line,
        )
        is_imported = "importedFrom" in self.fields
        needs_when = kind in NEED_WHEN and not is_imported and not entry.draft
        if self.advice and needs_when and not entry.when:
            self._warn(
                "no-when",
                "whenToUse",
                "no whenToUse: found by its content only",
                "say which tasks need it",
            )
        return replace(
            entry, draft=any(problem.level == ERROR for problem in self.problems)
        )

    def _line(self, key: str) -> int:
        return self.fields[key].line if key in self.fields else self.line

    def _error(self, code: str, key: str, message: str, hint: str) -> None:
        self.problems.append(error(code, message, hint, self._line(key)))

    def _warn(self, code: str, key: str, message: str, hint: str) -> None:
        self.problems.append(warning(code, message, hint, self._line(key)))

    def _present(self, key: str) -> Field | None:
        field = self.fields.get(key)
        return None if field is None or field.missing else field

    def _text(self, key: str) -> str:
        field = self._present(key)
        if field is None:
            return ""
        if not isinstance(field.value, str):
            self._error(
                "not-text",
                key,
                f"{key} must be text",
                "write it as one value, in quotes if need be",
            )
            return ""
        (text,) = self._cleaned(key, [field.value])
        return " ".join(text.split())

    def _cleaned(self, key: str, texts: list[str]) -> list[str]:
        cleaned = [clean(text) for text in texts]
        if cleaned != texts:
            message = f"invisible or control characters in {key}"
            self._warn("hidden-character", key, message, HIDDEN_HINT)
        return cleaned

    def _id(self, key: str) -> str:
        id = unicodedata.normalize("NFC", self._text(key))
        if len(id) > ID_LENGTH:
            self._error(
                "long-id",
                key,
                f"{key} is longer than {ID_LENGTH} characters",
                "shorten it",
            )
            return ""
        if id and not is_id(id):
            message = f"{key} {id[:40]!r} contains characters that an id must not have: read as {safe_id(id)}"
            self._warn("odd-id", key, message, "use letters, digits, _ - and .")
        return safe_id(id)

    def _title(self, required: bool) -> str:
        field = self._present("title")
        title = self._text("title")
        if field is None or not title:
            # of a value that is not text, a Problem was reported already
            if required and (field is None or isinstance(field.value, str)):
                self._error(NO_TITLE, "title", "no title", "add 'title: …'")
            return ""
        if "\n" in str(field.value).strip():
            message = "a title is one line: line breaks read as spaces"
            self._warn("title-lines", "title", message, "write it on one line")
        if len(title) > LONG_TITLE_CHARS:
            message = f"title is longer than {LONG_TITLE_CHARS} characters"
            self._warn("long-title", "title", message, "shorten it")
        if mix := mixed_script(title):
            self._warn(
                "mixed-script",
                "title",
                f"title mixes look-alike letters ({mix})",
                "retype it in one script",
            )
        return title

    def _kind(self) -> str:
        kind = self._text("kind") or "memory"
        if kind not in CREATES and kind not in CHANGES:
            hint = "use one of " + ", ".join([*CREATES, *CHANGES])
            self._warn(
                "unknown-kind",
                "kind",
                f"unknown kind {kind!r}: kept, but ignored",
                hint,
            )
        return kind

    def _importance(self) -> str:
        word = self._text("importance").lower()
        if word in IMPORTANCE or not word:
            return word or DEFAULT_IMPORTANCE
        message = f"unknown importance {word!r}: taken as low"
        self._warn(
            "unknown-importance",
            "importance",
            message,
            "use low, medium, high or critical",
        )
        return "low"

    def _time(self, key: str) -> int:
        text = self._text(key)
        if not text:
            return 0
        at, odd = read_time(text)
        if odd:
            self._warn(
                "bad-time",
                key,
                f"{key} {text[:40]!r} {odd}",
                "write 2026-01-23T10:30:00Z",
            )
        if at is not None and at > now() + FUTURE_SLACK_MS:
            self._warn(
                "future-time",
                key,
                f"{key} is in the future: counts as now",
                "correct the date",
            )
        return at or 0

    def _listed(self, key: str) -> list[Value]:
        field = self._present(key)
        return items_of(field.value) if field else []

    def _items(self, key: str) -> list[str]:
        """Return the texts of a list; accept the conditions `{pattern: …}` of older files."""
        items = [
            item.get("pattern", item)
            if isinstance(item, dict) and key == "whenToUse"
            else item
            for item in self._listed(key)
        ]
        texts = [item for item in items if isinstance(item, str)]
        if texts == items:
            return texts
        message = f"{key} must be text or a flat list of texts"
        self._error(
            "not-list", key, message, "put each text in quotes, without inner brackets"
        )
        return []

    def _texts(self, key: str, most: int) -> tuple[str, ...]:
        """Return the cleaned texts of a list; none if there are more than `most`."""
        written = self._items(key)
        items = [item.strip() for item in written]
        if len(items) > most:
            what = "tags" if key == "tags" else "conditions"
            message = f"{len(items)} {what}: at most {most}"
            self._error(f"too-many-{what}", key, message, "keep the most useful ones")
            return ()
        if not all(items) or any(item.endswith("\n") for item in written):
            message = (
                f"{key}: an empty tag or condition, or a line break at its end, dropped"
            )
            self._warn("empty-text", key, message, "remove it; use '|-' or quotes")
        return tuple(filter(None, self._cleaned(key, items)))

    def _tags(self) -> tuple[str, ...]:
        tags = self._texts("tags", MAX_TAGS)
        return tuple(dict.fromkeys(" ".join(tag.split()) for tag in tags))

    def _when(self) -> tuple[str, ...]:
        patterns = self._texts("whenToUse", MAX_PATTERNS)
        if self.advice:
            self.problems.extend(condition_problems(patterns, self._line("whenToUse")))
        return patterns

    def _related(self) -> tuple[str, ...]:
        items = self._items("relatedMemories")
        items = [item for item in items if not is_empty_value(item)]
        inside = [item for item in items if is_inside_memories(item)]
        if len(inside) < len(items):
            message = "a related memory outside the memories folder is ignored"
            self._warn(
                "related-outside",
                "relatedMemories",
                message,
                "name a memory by its id or file stem",
            )
        return tuple(dict.fromkeys(inside))

    def _extra(self) -> dict[str, Value]:
        extra: dict[str, Value] = {}
        for key, field in self.fields.items():
            if key in ENTRY_FIELD_KEYS:
                continue
            if key in FORBIDDEN_KEYS:
                self._warn(
                    "forbidden-key",
                    key,
                    f"key {key!r} is not allowed: dropped",
                    "rename it",
                )
                continue
            self._check_key(key, field)
            extra[key] = field.value
        return extra

    def _check_key(self, key: str, field: Field) -> None:
        claim = field.value if isinstance(field.value, dict) else {}
        if key == "claim" and not all(
            isinstance(claim.get(part), str) for part in CLAIM_KEYS
        ):
            message = "the claim is incomplete or not text: ignored"
            self._warn(
                "bad-claim",
                key,
                message,
                "give it subject, predicate and value, each as text",
            )
        text = str(field.value)
        if key in MORE_TIMES and text.lower() not in EMPTY_WORDS:
            at, odd = read_time(text)
            if at is None:
                message = f"{key} {text[:40]!r} {odd}: ignored"
                self._warn("bad-time", key, message, "write 2026-01-23T10:30:00Z")
        wrong, hint = act_problem({key: field.value})
        if wrong:
            self._warn("bad-guard", key, f"{wrong}: ignored", hint)
        if imitated := confusable_with(key, ENTRY_FIELD_KEYS):
            message = f"key {clean(key)!r} looks like {imitated!r} but is not"
            self._warn("look-alike-key", key, message, f"write {imitated}")
        elif self.advice and (meant := near_key(key)):
            message = f"unknown key {key!r}: did you mean {meant!r}?"
            self._warn("near-miss-key", key, message, f"write {meant}")
        elif (
            not (key[:1].isalpha() or key.startswith(("_", "-", "."))) or key in NO_KEYS
        ):
            message = f"key {clean(key)[:40]!r} is not a name"
            self._warn("odd-key", key, message, "start keys with a letter")
        if len(str(field.value)) > LONG_VALUE_CHARS:
            message = f"value of {clean(key)[:40]!r} is very long"
            self._warn("long-value", key, message, "move it into the body")


def _holds_nul(value: object) -> bool:
    if isinstance(value, dict):
        return any(_holds_nul(part) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return any(_holds_nul(part) for part in value)
    return "\0" in str(value)


def is_inside_memories(reference: str) -> bool:
    """Return whether a reference to a memory is a plain name: no path out of the folder, no scheme, no escapes."""
    if not reference or any(unicodedata.category(c) == "Cc" for c in reference):
        return False
    if reference.startswith(("/", "\\")) or any(
        c in reference for c in ("\\", "%", ":")
    ):
        return False
    return ".." not in reference.split("/")


# Find the known key that a misspelled key probably means; only `rawkomem check` uses it.

KNOWN_KEYS = (
    "title", "whenToUse", "tags", "importance", "discoveredAt", "discoveredBy", "discoveredIn", "source",
    "relatedMemories", "category", "provenance", "claim", "importedFrom", GUARD_KEY, *KEY_NAMES, *KEY_ALIASES,
)  # fmt: skip
MIN_KEY_CHARS = 5  # shorter words differ by one letter from too many others
MIN_SIMILARITY = 0.85  # of a misspelled key and the key that was meant
WITHOUT_SIGNS = str.maketrans("", "", "_- ")


def near_key(key: str) -> str:
    """Return the known key that a key misspells; empty if the key is known or unlike any known key."""
    if key in KNOWN_KEYS or key in KEPT_KEYS or not key.isascii():
        return ""
    from difflib import get_close_matches  # only `check` gives this advice

    plain = _bare_key(key)
    # Of keys that differ only in signs, the one that is spelled like this one wins.
    ordered = sorted(KNOWN_KEYS, key=lambda name: ("_" in name) == ("_" in key))
    known = {_bare_key(name): name for name in ordered}
    if plain in known:
        return known[plain]
    if len(plain) < MIN_KEY_CHARS:
        return ""
    similar = [
        word for word in known if len(word) >= MIN_KEY_CHARS and word[0] == plain[0]
    ]
    swapped = [word for word in similar if sorted(word) == sorted(plain)]
    for word in swapped or get_close_matches(plain, similar, cutoff=MIN_SIMILARITY):
        if plain not in (f"{word}s", word[:-1]):  # its plural or singular
            return known[word]
    return ""


def _bare_key(key: str) -> str:
    return key.translate(WITHOUT_SIGNS).lower()


MAX_TITLE_CHARS = 120
SENTENCE_END = re.compile(r"[.!?](?=\s)\s+|[。！？]")
KEY_OF_FLAG = {
    "title": "title",
    "when": "whenToUse",
    "tags": "tags",
    "importance": "importance",
    "found_in": "discoveredIn",
    "source": "source",
    "related": "relatedMemories",
}
# flags that are keys of the frontmatter as they are
EXTRA_FLAGS = ("type", "entities", APPLIES_KEY, GUARD_KEY)


def entry_from_text(text: str) -> Entry:
    """Return the only entry of a text; plain text becomes its body.

    Raise BadInput if the frontmatter cannot be read, or if the text holds several entries.
    """
    text = text.lstrip("\ufeff").replace("\r\n", "\n")
    if not text.lstrip().startswith("---\n"):
        return Entry(body=text.strip("\n"))
    entries, problems = read_entries(text)
    wrong = [
        problem
        for problem in problems
        if problem.level == ERROR and problem.code != NO_TITLE
    ]
    if wrong:
        raise BadInput(f"line {wrong[0].line}: {wrong[0].message}", wrong[0].hint)
    if len(entries) != 1:
        raise BadInput(
            f"the text holds {len(entries)} entries", "store them one at a time"
        )
    return replace(entries[0], draft=False, line=0)


def compose_entry(entry: Entry, kind: str, by: str, **flags: Any) -> Entry:
    """Return the entry, redacted, with `flags` instead of its own fields; its first heading is its title if it has none."""
    own = {key: flags.pop(key) for key in EXTRA_FLAGS if key in flags}
    entry = replace(
        entry,
        kind=kind if entry.kind == "memory" else entry.kind,
        by=entry.by or by,
        given=dict.fromkeys(
            [*entry.given, *(KEY_OF_FLAG[key] for key in flags)]
        ).keys(),
        extra={**entry.extra, **own},
    )
    entry = redact_entry(replace(entry, **flags))
    if kind != "amend" and not entry.title:
        entry = replace(entry, title=first_heading(entry.body))
    return entry


def entry_from_note(text: str) -> Entry:
    """Return the entry of a plain text: its first sentence or line is the title, the rest is the body.

    If that is too long for a title, its start is the title and the whole text is the body. The text is redacted first:
    a part of a secret is not recognized.
    """
    original = text
    text = redact(text).strip()
    line, _, rest = text.partition("\n")
    end = SENTENCE_END.search(line)
    if end:
        line, rest = line[: end.start() + 1], f"{line[end.end() :]}\n{rest}"
    title = line.lstrip("#").strip()
    if len(title) > MAX_TITLE_CHARS:
        title = (
            f"{title[:MAX_TITLE_CHARS].rpartition(' ')[0] or title[:MAX_TITLE_CHARS]} …"
        )
        rest = text
    return Entry(
        title=title.removesuffix("."), body=rest.strip(), leaks=text != original.strip()
    )


def first_heading(body: str) -> str:
    """Return the heading that a text starts with, or an empty string."""
    first = body.strip().partition("\n")[0]
    return first.lstrip("#").strip() if first.startswith("#") else ""
