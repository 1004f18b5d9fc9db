"""The table of settings, one row each, the types of their values, and the reader of a settings file.
Reading, checking, the cache and docs/settings.md use it.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from ..embed.embedder import AUTO_PROVIDER
from ..embed.providers import BUNDLED_PROVIDER, PROVIDERS
from ..files.git_folder import find_git
from ..files.journal import LEDGER_KEEP_DAYS
from ..files.layout import Layout, read_bytes, user_config
from ..files.replace import read_whole, replace_whole
from ..format.frontmatter import MAX_FRONTMATTER_BYTES, read_frontmatter
from ..index.stores.database import SQLITE, plugin_names
from ..model.entries import Unreadable
from ..model.errors import BadInput, Refused
from ..model.user_settings import SINK_EVENTS
from ..model.values import FORMAT, IMPORTANCE, PREDICATE_RULES, record
from ..recall.scoring import DEFAULT_PROFILE, PROFILES, profile_of
from ..recall.signals import (
    BUDGET_TOKENS,
    LESSON_DAYS,
    MAX_FULL,
    MAX_UNVERIFIED,
    MIN_CONFIDENCE,
    MIN_LESSON_CONFIDENCE,
)

Path = tuple[str, ...]
FieldOf = str | Callable[[Any], Mapping[str, Any]]


# Types of settings: each converts a value of a YAML file, where every scalar is text, or raises
# ValueError.

MAX_TEXT_CHARS = 2_000  # characters
MAX_NAME_CHARS = 64  # characters of a name that the user chooses, such as an agent's
MAX_ITEMS = 200
# words that YAML has for `on` and `off`
SYNONYMS = {"true": "on", "yes": "on", "false": "off", "no": "off"}


@record
class Type:
    """A type: a description of the allowed values, and the function that converts a value."""

    allowed: str
    read: Callable[[Any], Any]


def is_name(text: str) -> bool:
    """Return whether a text may be part of a key: letters, digits, - _ . and single spaces."""
    plain = all(character.isalnum() or character in "-_. " for character in text)
    return plain and 0 < len(text) <= MAX_NAME_CHARS and " ".join(text.split()) == text


def _read_text(value: Any) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else None
    if text is None or len(text) > MAX_TEXT_CHARS or not text.isprintable():
        raise ValueError
    return text


def _read_texts(value: Any) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or len(parts) > MAX_ITEMS:
        raise ValueError
    return tuple(text for part in parts if (text := _read_text(part)))


def _read_word(value: Any, words: Iterable[str]) -> str:
    word = _read_text(value).lower()
    word = SYNONYMS.get(word, word)
    if word not in words:
        raise ValueError
    return word


def number(low: int, high: int, kind: Callable[[float], float] = int) -> Type:
    """Return the type of a number in a range: a whole one, or with `float` any."""

    def read(value: Any) -> float:
        amount = float(_read_text(value))
        if not low <= amount <= high or kind(amount) != amount:  # also true for NaN
            raise ValueError
        return kind(amount)

    whole = "whole " if kind is int else ""
    return Type(f"a {whole}number from {low} to {high}", read)


def choice(*words: str) -> Type:
    """Return a type that allows one of these words."""
    return Type(f"one of {', '.join(words)}", lambda value: _read_word(value, words))


TEXT = Type("a text on one line", _read_text)
TEXTS = Type("a list of texts", _read_texts)
TEXTS_OR_OFF = Type(
    "a list of texts, or off",
    lambda value: value if value == "off" else _read_texts(value),
)
YES_NO = Type("on or off", lambda value: _read_word(value, ("on", "off")) == "on")


# who may set a row; a repository is untrusted, so it cannot set what could do harm
USER = "you"
BOTH = "both"
# embedders that a repository may choose: they send no data and load no foreign code
LOCAL = (AUTO_PROVIDER, BUNDLED_PROVIDER, "minilm")
LEDGER = ("on", "writes", "off")
AGENTS_KEY = "trust.agents"
ENV = "env:"  # before the name of an environment variable
MAX_DAYS = 36_500
MAX_BUDGET = 1_000_000  # tokens

AGENT_FIELDS = {
    "maxInjected": "max_injected", "minImportance": "min_importance", "budget": "budget", "profile": "profile",
}  # fmt: skip


@record
class SettingRow:
    """One setting, or a group of settings: then `type` and `field` have an item for each key of the group."""

    key: str
    type: Type | Mapping[str, Type]
    who: str
    default: Any  # for the docs; the field of Settings has the same default
    doc: str
    # of Settings, or a function to several
    field: FieldOf | Mapping[str, FieldOf]
    short: str = ""  # a short name for the key
    # the type in a repository's file, if narrower
    repository: Type | Mapping[str, Type] | None = None
    broken: Any = None  # replaces a wrong value if the default would be less safe
    # the smaller value applies: a repository can lower it, not raise it
    least: bool = False
    named: bool = False  # whether a level of user-chosen names comes before its keys

    @property
    def allowed(self) -> str:
        """Return a description of the allowed values."""
        if isinstance(self.type, Type):
            return self.type.allowed
        named: dict[str, list[str]] = {}
        for key, one in self.type.items():
            named.setdefault(one.allowed, []).append(key)
        keys = "; ".join(
            f"{', '.join(several)}: {allowed}" for allowed, several in named.items()
        )
        return f"NAME: {{{keys}}}" if self.named else keys

    def fields_of(self, path: Sequence[str], value: Any) -> Mapping[str, Any]:
        """Return the fields that a value sets, as dotted paths below Settings."""
        field = self.field[path[-1]] if isinstance(self.field, Mapping) else self.field
        return field(value) if callable(field) else {field: value}


def is_address(value: str) -> bool:
    """Return whether a value is an http(s) address."""
    return value.startswith(("http://", "https://"))


def embedder_fields(value: str) -> Mapping[str, Any]:
    """Return the fields for a provider's name, or for the address of an OpenAI-compatible API."""
    if is_address(value):
        return {"embedder.provider": "openai", "embedder.url": value}
    return {"embedder.provider": value}


def _model_fields(value: str) -> Mapping[str, Any]:
    name, _, dims = value.rpartition("@")
    sized = bool(name) and dims.isdecimal()
    if sized:
        return {"embedder.model": name, "embedder.dims": int(dims)}
    return {"embedder.model": value}


def _store_fields(value: str) -> Mapping[str, Any]:
    if value.startswith(ENV):
        return {"store.url_env": value.removeprefix(ENV)}
    return {"store.url": value}


def _read_embedder(value: Any) -> str:
    text = _read_text(value)
    return text if is_address(text) else _read_word(text, EMBEDDERS)


def _read_events(value: Any) -> tuple[str, ...]:
    return tuple(_read_word(part, SINK_EVENTS) for part in _read_texts(value))


def _read_store(value: Any) -> str:
    name = _read_text(value)
    if name not in (SQLITE, *plugin_names()):
        raise ValueError
    return name


def _read_profile(value: Any) -> str:
    name = _read_text(value)
    try:
        profile_of(name)
    except BadInput as failure:
        raise ValueError from failure
    return name


PROFILE = Type(
    f"one of {', '.join(PROFILES)}, optionally with other weights: composite:trust=0.4",
    _read_profile,
)
EMBEDDERS = (AUTO_PROVIDER, BUNDLED_PROVIDER, *PROVIDERS)
DAYS = number(0, MAX_DAYS)
AGENT_TYPES = {
    "maxInjected": number(0, 1_000), "minImportance": choice(*IMPORTANCE), "budget": number(0, MAX_BUDGET),
    "profile": PROFILE,
}  # fmt: skip
AGENT_DEFAULTS = {
    "maxInjected": MAX_FULL, "minImportance": IMPORTANCE[0], "budget": BUDGET_TOKENS, "profile": "",
}  # fmt: skip

_rows = (
    SettingRow("embedder.provider", Type(f"an http(s) address ({', '.join(EMBEDDERS)})", _read_embedder), BOTH, AUTO_PROVIDER,
        "The embedding model: `auto` (`static` at first, `minilm` in the background), `static` or `minilm`. Your own"
        " config may also name `sentence-transformers`, `openai`, `ollama`, `lmstudio`, `cohere`, or the base URL of an"
        " OpenAI-compatible API, up to `/v1` ([recall](recall.md#two-tiers-of-vectors)).",
        embedder_fields, short="embedder", repository=choice(*LOCAL)),
    SettingRow("embedder.model", TEXT, USER, "",
        "The provider's model. `NAME@512` requests 512 dimensions. Default for `lmstudio`:"
        " `mixedbread-ai/mxbai-embed-large-v1`.",
        _model_fields),
    SettingRow("embedder.start", TEXT, USER, "",
        "A command that starts the local embedding server if it is not running.",
        "embedder.start"),
    SettingRow("llm.provider", TEXT, USER, "",
        "The language model for `learn`, `reflect` and `skill synthesize` with `--llm`: the base URL of an"
        " OpenAI-compatible API, or a command that reads the prompt on standard input, such as `claude -p`"
        " ([learning](learning.md#with-a-language-model)).",
        lambda value: {"llm.endpoint" if is_address(value) else "llm.command": value}, short="llm"),
    SettingRow("llm.model", TEXT, USER, "",
        "The model's name, if `llm.provider` is a URL.",
        "llm.model"),
    SettingRow("keys", dict.fromkeys(("embedder", "llm", "webhook"), TEXT), USER, {},
        "The **name** of the environment variable that holds the key of the `embedder`, the `llm` or the `webhook`.",
        {"embedder": "embedder.key_env", "llm": "llm.key_env", "webhook": "sinks.webhook.key_env"}),
    SettingRow("sinks.folder", TEXT, USER, "",
        "A folder for a log of all writes, one file per day ([sinks](sinks.md)).",
        "sinks.markdown.folder"),
    SettingRow("sinks.webhook", TEXT, USER, "",
        "The URL that each event is posted to.",
        "sinks.webhook.url"),
    SettingRow("sinks.events", Type("a list of " + ", ".join(SINK_EVENTS), _read_events), USER, SINK_EVENTS,
        "The events that are sent to the log and to the webhook.",
        lambda value: {"sinks.markdown.events": value, "sinks.webhook.events": value}, broken=()),
    SettingRow("sinks.allowLocal", YES_NO, USER, False,
        "`on`: the webhook's server may be on this machine or its local network, and may use http.",
        "sinks.webhook.allow_local"),
    SettingRow(AGENTS_KEY, TEXTS_OR_OFF, USER, (),
        "Patterns for the names and e-mail addresses of commit authors that are agents, in addition to the built-in"
        " list. `off`: ignore who committed a memory ([belief](belief.md#trust)).",
        lambda value: {"commits": False} if value == "off" else {"identities": value}),
    SettingRow("trust.maxUnverified", number(0, 100), BOTH, MAX_UNVERIFIED,
        "The maximum number of injected memories that no person vouches for, if a person has committed any memory. Your"
        " config for all repositories and the repository's config can only lower the default; your config for one"
        " repository can also raise it.",
        "max_unverified", broken=0, least=True),
    SettingRow("minConfidence", number(0, 1, float), USER, MIN_CONFIDENCE,
        "The minimum confidence that an injected memory is relevant. A higher value injects fewer but more relevant"
        " memories ([recall](recall.md#who-is-relevant)).",
        "min_confidence"),
    SettingRow("lessons.minConfidence", number(0, 1, float), BOTH, MIN_LESSON_CONFIDENCE,
        "Lessons with a lower confidence are not injected ([lessons](lessons.md#what-is-injected)).",
        "min_lesson_confidence"),
    SettingRow("keepDays", dict.fromkeys(("lessons", "traces", "ledger"), DAYS), BOTH,
        {"lessons": LESSON_DAYS, "traces": 0, "ledger": LEDGER_KEEP_DAYS},
        "`lessons`: days since the last confirmation after which a lesson is no longer injected. `traces`: days after"
        " which [retention](traces.md#retention) archives a trace without a learning; 0: never."
        " `ledger`, in your own config only: days after which blocks of the [ledger](yamo.md#the-ledger) are removed;"
        " 0: never.",
        {"lessons": "lesson_days", "traces": "keep_days", "ledger": "ledger_days"},
        repository={"lessons": DAYS, "traces": DAYS}),
    SettingRow("ledger", choice(*LEDGER), USER, LEDGER[0],
        "`on`: record writes and recalls. `writes`: record writes only. `off`: record nothing"
        " ([ledger](yamo.md#the-ledger)).",
        "ledger"),
    SettingRow("appendOnly", YES_NO, BOTH, False,
        "`on`: `check --staged` rejects a commit that edits or removes a committed memory by hand. It always rejects"
        " such commits by agents ([git](git.md#editing-by-hand)).",
        "append_only", broken=True),
    SettingRow("recordSessions", YES_NO, BOTH, False,
        "`on`: hooks write a trace and a line of the experience log for each session, to commit with the memories"
        " ([traces](traces.md#what-hooks-record)).",
        "record_sessions"),
    SettingRow("privacy.names", TEXTS, USER, (),
        "Names of people to replace by ids in recorded and distilled texts ([redaction](redaction.md#anonymization)).",
        "names"),
    SettingRow("sources", TEXTS, USER, (),
        "Folders of shared repositories, such as a clone of your team's. Recall searches them together with the"
        " project's memories and never writes to them ([layers](layers.md)).",
        "sources", broken=()),
    SettingRow("store.name", Type("sqlite, or a store of an installed package", _read_store), USER, SQLITE,
        "The search store: `sqlite`, or a store that an installed package provides, such as `lancedb` or `postgres`"
        " ([scale](scale.md)).",
        "store.name", short="store"),
    SettingRow("store", {"url": TEXT, "repository": TEXT}, USER, {},
        "`url`: the store's URL or folder; `env:NAME` reads it from the environment variable NAME. `repository`:"
        " the repository's name in a shared database, instead of the id of its first commit.",
        {"url": _store_fields, "repository": "store.repository"}),
    SettingRow("profile", PROFILE, BOTH, DEFAULT_PROFILE,
        "The scoring profile for injections by commands, hooks, MCP and the library that do not name a profile"
        " ([profiles](recall.md#profiles)).",
        "profile"),
    SettingRow("agents", AGENT_TYPES, BOTH, AGENT_DEFAULTS,
        "Limits for `inject --agent NAME`: the maximum number of memories, the minimum importance, the maximum number"
        " of tokens, and the scoring profile (default: the setting `profile`). `planner`, `developer`, `tester` and"
        " `reviewer` are built in; add other names here.",
        AGENT_FIELDS, named=True),
    SettingRow("predicates", {key: choice(*words) for key, words in PREDICATE_RULES.items()}, BOTH, {},
        "How claims with the predicate NAME are resolved ([belief](belief.md#predicates)).",
        {}, named=True),
)  # fmt: skip
ROWS = {row.key: row for row in _rows}


# The version of the file format, which rawkomem itself writes into a repository's config.yaml.

FORMAT_KEY = "format"
FORMAT_NUMBER = number(1, 1_000_000)
FORMAT_ROW = SettingRow(FORMAT_KEY, FORMAT_NUMBER, BOTH, 1, "", FORMAT_KEY)
FORMAT_LINE = re.compile(rb"^format:[ \t]*[^ \t\r\n#]*", re.MULTILINE)


def raise_format(layout: Layout) -> None:
    """Write the format of this program into config.yaml; other lines keep every byte. Raise Refused if that fails."""
    line = f"{FORMAT_KEY}: {FORMAT}".encode()
    old = read_whole(layout.config, layout.root) or b""
    new = FORMAT_LINE.sub(line, old)
    if not FORMAT_LINE.search(old):
        new = line + b"\n" + old.removeprefix(BOM_UTF8)
    if (FORMAT_KEY, (), FORMAT) not in read_values(new, layout.config, True)[0]:
        raise Refused(f"add the line '{line.decode()}' to {layout.config} by hand")
    if new != old:
        replace_whole(layout.config, new, within=layout.root)


# Read one settings file: the values that the table allows. Everything else causes a warning
# without the value.

MAX_WARNINGS = 10  # of one file
MAX_KEY_CHARS = 60  # characters of a key in a warning


# the agents among committers, and what settled_settings returned for them: remembered until the next HEAD
Known = tuple[tuple[str, ...], tuple[str, bytes]]
# numbers of the files; a later file overrides an earlier one
_, REPOSITORYS, USERS_FOR_REPOSITORY = range(3)


def _settled(layout: Layout, identities: Any, known: Known | None) -> Known | None:
    """Return the settings that a person committed; None without git, or if HEAD holds no file of this repository.

    `identities` is the setting `trust.agents`: if it is off, every commit counts as a person's.
    """
    if not find_git(layout.project):
        return None
    # these start processes
    from ..git.authorship import settled_settings
    from ..state.trust import AGENTS

    agents = () if identities == "off" else (*AGENTS, *identities)
    same = known[1] if known and known[0] == agents else None
    found = settled_settings(layout, agents, same)
    return (agents, found) if found else None


def read_files(
    files: Sequence[str], layout: Layout, known: Known | None = None
) -> tuple[dict[str, Any], list[str], Known | None]:
    """Return the fields that the user's file, the repository's, and the user's for this repository set; and warnings.

    A shared source cannot change settings: only the format of its files counts. The third value is for the next call.
    """
    read = [
        read_settings(file, number == REPOSITORYS) for number, file in enumerate(files)
    ]
    identities = [
        value
        for settings, _ in (read[0], read[2])
        for key, _, value in settings
        if key == AGENTS_KEY
    ]
    settled = None
    if not layout.elsewhere:
        settled = _settled(layout, identities[-1] if identities else (), known)
    values: dict[Path, Any] = {}
    warnings: list[str] = []
    for number, (settings, odd) in enumerate(read):
        is_repositorys = number == REPOSITORYS
        if is_repositorys and layout.elsewhere:
            settings = [one for one in settings if one[0] == FORMAT_KEY]
        elif is_repositorys and settled:
            settings, changed = with_settled(settings, settled[1][1], files[number])
            odd += changed
        for key, path, value in settings:
            row = ROWS.get(key, FORMAT_ROW)
            if row.least and number != USERS_FOR_REPOSITORY:
                value = min(value, values.get((key,), row.default))
            values[key, *path] = value
        warnings += odd
    return _merged_fields(values), [] if layout.elsewhere else warnings, settled


def _merged_fields(values: Mapping[Path, Any]) -> dict[str, Any]:
    """Return the fields of Settings, as dotted paths. A group of names is one value: (name, its fields) for each."""
    fields: dict[str, Any] = {}
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for (key, *below), value in values.items():
        row = ROWS.get(key, FORMAT_ROW)
        if row.named:
            name, inner = below
            own = groups.setdefault(key, {}).setdefault(name, {})
            own[AGENT_FIELDS.get(inner, inner)] = value
        else:
            fields |= row.fields_of(below, value)
    for key, named in groups.items():
        fields[key] = tuple((name, (*own.items(),)) for name, own in sorted(named.items()))  # fmt: skip
    return fields


Given = tuple[str, Path, Any]  # (key of the row, path below it, value)


def read_settings(file: str, repository: bool) -> tuple[list[Given], list[str]]:
    """Return the allowed values of a file, and the warnings."""
    try:
        return read_values(read_bytes(file), file, repository)
    except FileNotFoundError:
        return [], []
    except OSError as failure:
        return [], [
            f"{file} cannot be read ({failure.strerror or failure}): the file is ignored"
        ]


def with_settled(
    values: list[Given], data: bytes, file: str
) -> tuple[list[Given], list[str]]:
    """Return the settings in `data`, which a person committed, and a warning that names those of the file that differ.

    The format of the files is that of the file.
    """
    counting = [one for one in read_values(data, file, True)[0] if one[0] != FORMAT_KEY]
    changes = changed_settings(counting, values)
    listed = ", ".join(
        f"{name}: {after} (before: {before})"
        for name, before, after in changes[:MAX_WARNINGS]
    )
    message = f"{file}: no person committed {listed}; the settings before count; commit a change of the file to use these"
    own = [one for one in values if one[0] == FORMAT_KEY]
    return [*counting, *own], [message] if changes else []


def changed_settings(
    before: Iterable[Given], after: Iterable[Given]
) -> list[tuple[str, str, str]]:
    """Return the name of each setting that differs, its value before and its value after, as text."""
    old, new = (
        {
            ".".join((key, *path)): value
            for key, path, value in values
            if key != FORMAT_KEY
        }
        for values in (before, after)
    )
    return [
        (name, _shown(old.get(name)), _shown(new.get(name)))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]


def _shown(value: Any) -> str:
    """Return the value of a setting as text; `default` for None."""
    if isinstance(value, bool):
        return "on" if value else "off"
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    return "default" if value is None else text[:MAX_KEY_CHARS]


def read_values(
    data: bytes, file: str, repository: bool
) -> tuple[list[Given], list[str]]:
    """Return the same as read_settings, from the bytes of a file."""
    try:
        if len(data) > MAX_FRONTMATTER_BYTES:
            return [], [
                f"{file} is larger than {MAX_FRONTMATTER_BYTES >> 10} KiB: the file is ignored"
            ]
        fields, _ = read_frontmatter(data.decode("utf-8-sig"))
    except UnicodeDecodeError as failure:
        return [], [
            f"{file} is not UTF-8 text (byte {failure.start}): the file is ignored; save it as UTF-8"
        ]
    except Unreadable as failure:
        problem = failure.problem
        return [], [
            f"{file}:{problem.line}: {problem.message}: the file is ignored; {problem.hint}"
        ]
    values: list[Given] = []
    warnings: list[str] = []
    unsure = False
    for path, value, line in [
        (path, value, field.line)
        for name, field in fields.items()
        if not field.missing
        for path, value in _leaves((name,), field.value)
    ]:
        key = ".".join(path)
        key_text = key if all(map(is_name, path)) else ascii(key)
        place = f"{file}:{line}: {key_text[:MAX_KEY_CHARS]}"
        setting = _find_setting(path, repository)
        if setting is None:
            warnings.append(f"{place} {_why_unknown(key)}")
            if path[0] == "embedder" and not repository:
                # It may have named a server, so the default server of the provider must not get the texts.
                warnings[-1] += "; until then, the embedder of this file is not used"
                unsure = True
            continue
        row, below, type = setting
        if repository and row.who != BOTH:
            warnings.append(
                f"{place} may be set in your own config only: {user_config()}"
            )
            continue
        try:
            values.append((row.key, below, type.read(value)))
        except ValueError:
            used = {None: "the default", (): "nothing"}.get(
                row.broken, _shown(row.broken)
            )
            warnings.append(f"{place} must be {type.allowed}: read as {used}")
            if row.broken is not None:
                values.append((row.key, below, row.broken))
    if unsure:
        values.append(("embedder.provider", (), AUTO_PROVIDER))
    more = len(warnings) - MAX_WARNINGS
    if more > 0:
        warnings[MAX_WARNINGS:] = [f"{file}: and {more} more"]
    return values, warnings


def _leaves(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the path and the value of each value that is not a mapping."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves((*path, name), inner)
    else:
        yield path, value


def _find_setting(path: Path, repository: bool) -> tuple[SettingRow, Path, Type] | None:
    """Return the row of a value, the path below it and the type; None if there is no such setting."""
    if path[0] == "agents" and path[2:3] == ("memory",):  # a level of SPEC-0009
        path = path[:2] + path[3:]
    if repository and path == (FORMAT_KEY,):
        return FORMAT_ROW, (), FORMAT_NUMBER
    for row in ROWS.values():
        type = row.repository if repository and row.repository else row.type
        if isinstance(type, Type):
            if path in (tuple(row.key.split(".")), (row.short,)):
                return row, (), type
        elif path[0] == row.key and len(path) == 2 + row.named:
            inner = type.get(path[-1])
            if inner and all(map(is_name, path)):
                return row, path[1:], inner
    return None


def _why_unknown(key: str) -> str:
    if key == "embedder.url":
        return "is not a setting; write the address as embedder.provider"
    group = ROWS.get(key.partition(".")[0])
    if group and not isinstance(group.type, Type) and key.count(".") <= group.named:
        names = "NAME, and below it " * (group.named - key.count("."))
        return f"must hold {names}{', '.join(group.type)}"
    known = [name for row in ROWS.values() for name in (row.key, row.short) if name]
    below = [
        name.removeprefix(f"{key}.") for name in known if name.startswith(f"{key}.")
    ]
    if below:
        return f"must hold {', '.join(below)}"
    near = get_close_matches(
        key, (name for name in known if not key.startswith(f"{name}.")), 1
    )
    hint = f"did you mean {near[0]}?" if near else "'rawkomem docs settings' lists them"
    return f"is not a setting; {hint}"
