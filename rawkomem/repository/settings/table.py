"""The table of settings, one row each. Reading, checking, the cache and docs/settings.md use it."""

from __future__ import annotations

from ...embed.chain import AUTO, BUNDLED, PROVIDERS
from ...files.local.ledger import KEEP_DAYS
from ...index.open_store import SQLITE, plugin_names
from ...model.errors import BadInput
from ...model.kinds import IMPORTANCE
from ...model.record import record
from ...model.user_settings import EVENTS
from ...recall.limits import (
    BUDGET_TOKENS,
    LESSON_DAYS,
    MAX_INJECTED,
    MAX_UNVERIFIED,
    MIN_CONFIDENCE,
    MIN_LESSON_CONFIDENCE,
)
from ...recall.profiles import DEFAULT, PROFILES, profile_of
from .values import TEXT, TEXTS, YES_NO, Type, choice, group, named, number, some_of, text_like, texts_or, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

USER, BOTH = "you", "both"  # who may set a row; a repository is untrusted, so it cannot set what could do harm
LOCAL = (AUTO, BUNDLED, "minilm")  # embedders that a repository may choose: they send no data and load no foreign code
LEDGER = ("on", "writes", "off")
ENV = "env:"  # before the name of an environment variable
MAX_DAYS = 36_500
MAX_BUDGET = 1_000_000  # tokens

KEY_FIELDS = {"embedder": "embedder.key_env", "llm": "llm.key_env", "webhook": "sinks.webhook.key_env"}
DAY_FIELDS = {"lessons": "lesson_days", "traces": "keep_days", "ledger": "ledger_days"}
AGENT_FIELDS = {
    "maxInjected": "max_injected", "minImportance": "min_importance", "budget": "budget", "profile": "profile",
}  # fmt: skip


@record
class Row:
    """One setting."""

    key: str
    type: Type
    who: str
    default: Any  # for the docs; the field of Settings has the same default
    doc: str
    field: str | Callable[[Any], Mapping[str, Any]] = ""  # of Settings, or a function to several; empty: Settings.value
    short: str = ""  # a short name for the key
    repository: Type | None = None  # the type in a repository's file, if narrower
    broken: Any = None  # replaces a wrong value if the default would be less safe
    least: bool = False  # the smaller value applies: a repository can lower it, not raise it

    def type_for(self, repository: bool) -> Type:
        """Return the type for a repository's file, or for the user's own."""
        return self.repository if repository and self.repository else self.type

    def fields_of(self, value: Any) -> Mapping[str, Any]:
        """Return the fields that a value sets, as dotted paths below Settings."""
        return {self.field: value} if isinstance(self.field, str) else self.field(value)


def is_address(value: str) -> bool:
    """Return whether a value is an http(s) address."""
    return value.startswith(("http://", "https://"))


def embedder_fields(value: str) -> Mapping[str, Any]:
    """Return the fields for a provider's name, or for the address of an OpenAI-compatible API."""
    return {"embedder.provider": "openai", "embedder.url": value} if is_address(value) else {"embedder.provider": value}


def _model_fields(value: str) -> Mapping[str, Any]:
    name, _, dims = value.rpartition("@")
    sized = bool(name) and dims.isdecimal()
    return {"embedder.model": name, "embedder.dims": int(dims)} if sized else {"embedder.model": value}


def _llm_fields(value: str) -> Mapping[str, Any]:
    return {"llm.endpoint" if is_address(value) else "llm.command": value}


def _fields_by(names: Mapping[str, str]) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    return lambda value: {names[name]: inner for name, inner in value.items()}


def _event_fields(value: tuple[str, ...]) -> Mapping[str, Any]:
    return {"sinks.markdown.events": value, "sinks.webhook.events": value}


def _agent_author_fields(value: Any) -> Mapping[str, Any]:
    return {"commits": False} if value == "off" else {"identities": value}


def _store_fields(value: Mapping[str, str]) -> Mapping[str, Any]:
    url = value.get("url", "")
    place = {"store.url_env": url.removeprefix(ENV)} if url.startswith(ENV) else {"store.url": url} if url else {}
    return {**place, "store.repository": value.get("repository", "")}


def _limit_fields(value: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    from ...recall.limits import Limits

    known = ((name, {AGENT_FIELDS[key]: said for key, said in given.items()}) for name, given in sorted(value.items()))
    return {"agents": tuple((name, Limits(**given)) for name, given in known)}


def _predicate_fields(value: Mapping[str, Mapping[str, str]]) -> Mapping[str, Any]:
    return {"predicates": tuple((name, tuple(rules.items())) for name, rules in sorted(value.items()))}


def _store(value: Any) -> str:
    name: str = TEXT.read(value)
    if name != SQLITE and name not in plugin_names():
        raise ValueError
    return name


def _profile(value: Any) -> str:
    name: str = TEXT.read(value)
    try:
        profile_of(name)
    except BadInput as failure:
        raise ValueError from failure
    return name


PROFILE = Type(f"one of {', '.join(PROFILES)}, optionally with other weights: composite:trust=0.4", _profile)
EMBEDDERS = (AUTO, BUNDLED, *PROVIDERS)
DAYS = whole(0, MAX_DAYS)
AGENT_TYPES = {
    "maxInjected": whole(0, 1_000), "minImportance": choice(*IMPORTANCE), "budget": whole(0, MAX_BUDGET),
    "profile": PROFILE,
}  # fmt: skip
AGENT_DEFAULTS = {
    "maxInjected": MAX_INJECTED, "minImportance": IMPORTANCE[0], "budget": BUDGET_TOKENS, "profile": "",
}  # fmt: skip

ROWS = (
    Row("embedder.provider", text_like("an http(s) address", EMBEDDERS, is_address), BOTH, AUTO,
        "The embedding model: `auto` (`static` at first, `minilm` in the background), `static` or `minilm`. Your own"
        " config may also name `sentence-transformers`, `openai`, `ollama`, `lmstudio`, `cohere`, or the base URL of an"
        " OpenAI-compatible API, up to `/v1` ([recall](recall.md#two-tiers-of-vectors)).",
        embedder_fields, short="embedder", repository=choice(*LOCAL)),
    Row("embedder.model", TEXT, USER, "",
        "The provider's model. `NAME@512` requests 512 dimensions. Default for `lmstudio`:"
        " `mixedbread-ai/mxbai-embed-large-v1`.",
        _model_fields),
    Row("embedder.start", TEXT, USER, "",
        "A command that starts the local embedding server if it is not running.",
        "embedder.start"),
    Row("llm.provider", TEXT, USER, "",
        "The language model for `learn`, `reflect` and `skill synthesize` with `--llm`: the base URL of an"
        " OpenAI-compatible API, or a command that reads the prompt on standard input, such as `claude -p`"
        " ([learning](learning.md#with-a-language-model)).",
        _llm_fields, short="llm"),
    Row("llm.model", TEXT, USER, "",
        "The model's name, if `llm.provider` is a URL.",
        "llm.model"),
    Row("keys", group(dict.fromkeys(KEY_FIELDS, TEXT)), USER, {},
        "The **name** of the environment variable that holds the key of the `embedder`, the `llm` or the `webhook`.",
        _fields_by(KEY_FIELDS)),
    Row("sinks.folder", TEXT, USER, "",
        "A folder for a log of all writes, one file per day ([sinks](sinks.md)).",
        "sinks.markdown.folder"),
    Row("sinks.webhook", TEXT, USER, "",
        "The URL that each event is posted to.",
        "sinks.webhook.url"),
    Row("sinks.events", some_of(*EVENTS), USER, EVENTS,
        "The events that are sent to the log and to the webhook.",
        _event_fields, broken=()),
    Row("sinks.allowLocal", YES_NO, USER, False,
        "`on`: the webhook's server may be on this machine or its local network, and may use http.",
        "sinks.webhook.allow_local"),
    Row("trust.agents", texts_or("off"), USER, (),
        "Patterns for the names and e-mail addresses of commit authors that are agents, in addition to the built-in"
        " list. `off`: ignore who committed a memory ([belief](belief.md#trust)).",
        _agent_author_fields),
    Row("trust.maxUnverified", whole(0, 100), BOTH, MAX_UNVERIFIED,
        "The maximum number of injected memories that no person vouches for, if a person has committed any memory. Your"
        " config for all repositories and the repository's config can only lower the default; your config for one"
        " repository can also raise it.",
        "max_unverified", broken=0, least=True),
    Row("minConfidence", number(0, 1), USER, MIN_CONFIDENCE,
        "The minimum confidence that an injected memory is relevant. A higher value injects fewer but more relevant"
        " memories ([recall](recall.md#who-is-relevant)).",
        "min_confidence"),
    Row("lessons.minConfidence", number(0, 1), BOTH, MIN_LESSON_CONFIDENCE,
        "Lessons with a lower confidence are not injected ([lessons](lessons.md#what-is-injected)).",
        "min_lesson_confidence"),
    Row("keepDays", group(dict.fromkeys(DAY_FIELDS, DAYS)), BOTH,
        {"lessons": LESSON_DAYS, "traces": 0, "ledger": KEEP_DAYS},
        "`lessons`: days since the last confirmation after which a lesson is no longer injected. `traces`: days after"
        " which [retention](traces.md#retention) archives a trace without a learning; 0: never."
        " `ledger`, in your own config only: days after which blocks of the [ledger](yamo.md#the-ledger) are removed;"
        " 0: never.",
        _fields_by(DAY_FIELDS), repository=group({"lessons": DAYS, "traces": DAYS})),
    Row("ledger", choice(*LEDGER), USER, LEDGER[0],
        "`on`: record writes and recalls. `writes`: record writes only. `off`: record nothing"
        " ([ledger](yamo.md#the-ledger)).",
        "ledger"),
    Row("appendOnly", YES_NO, BOTH, False,
        "`on`: `check --staged` rejects a commit that edits or removes a committed memory by hand. It always rejects"
        " such commits by agents ([git](git.md#editing-by-hand)).",
        "append_only", broken=True),
    Row("contents", YES_NO, BOTH, False,
        "`on`: every write updates `.rawko/MEMORY.md` ([toc](exchange.md#memorymd)).",
        "contents"),
    Row("privacy.names", TEXTS, USER, (),
        "Names of people to replace by ids in recorded and distilled texts ([redaction](redaction.md#anonymization)).",
        "names"),
    Row("sources", TEXTS, USER, (),
        "Folders of shared repositories, such as a clone of your team's. Recall searches them together with the"
        " project's memories and never writes to them ([layers](layers.md)).",
        "sources", broken=()),
    Row("store.name", Type("sqlite, or a store of an installed package", _store), USER, SQLITE,
        "The search store: `sqlite`, or a store that an installed package provides, such as `lancedb` or `postgres`"
        " ([scale](scale.md)).",
        "store.name", short="store"),
    Row("store", group({"url": TEXT, "repository": TEXT}), USER, {},
        "`url`: the store's URL or folder; `env:NAME` reads it from the environment variable NAME. `repository`:"
        " the repository's name in a shared database, instead of the id of its first commit.",
        _store_fields),
    Row("profile", PROFILE, BOTH, DEFAULT,
        "The scoring profile for injections by commands, hooks, MCP and the library that do not name a profile"
        " ([profiles](recall.md#profiles)).",
        "profile"),
    Row("agents", named(AGENT_TYPES, skip="memory"), BOTH, AGENT_DEFAULTS,
        "Limits for `inject --agent NAME`: the maximum number of memories, the minimum importance, the maximum number"
        " of tokens, and the scoring profile (default: the setting `profile`). `planner`, `developer`, `tester` and"
        " `reviewer` are built in; add other names here.",
        _limit_fields),
    Row("predicates", named({}), BOTH, {},
        "How claims with the predicate NAME are resolved: `cardinality`, `conflictPolicy`, `normalize`, `dedupPolicy`"
        " ([belief](belief.md#predicates)).",
        _predicate_fields),
)  # fmt: skip

REMOVED = {  # key of an earlier version → what replaces it
    "embedder.url": "write the address as embedder.provider",
    "embedder.dims": "write embedder.model as NAME@DIMENSIONS",
    "embedder.timeout": "the timeout is fixed now",
    "embedder.keyEnv": "use keys.embedder",
    "llm.endpoint": "use llm.provider",
    "llm.command": "use llm.provider",
    "llm.keyEnv": "use keys.llm",
    "llm.timeout": "the timeout is fixed now",
    "sinks.markdown.folder": "use sinks.folder",
    "sinks.markdown.events": "use sinks.events",
    "sinks.webhook.url": "use sinks.webhook",
    "sinks.webhook.events": "use sinks.events",
    "sinks.webhook.keyEnv": "use keys.webhook",
    "sinks.webhook.allowLocal": "use sinks.allowLocal",
    "trust.commits": "use trust.agents: off",
    "lessonMinConfidence": "use lessons.minConfidence",
    "lessonRetentionDays": "use keepDays.lessons",
    "traces.due": "consolidation is due after ten new traces",
    "traces.keepDays": "use keepDays.traces",
    "store.urlEnv": "use store.url: env:NAME",
}


def rows_by_key() -> dict[str, Row]:
    """Return the rows by their keys."""
    return {row.key: row for row in ROWS}
