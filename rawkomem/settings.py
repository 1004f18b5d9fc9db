"""Settings: few, from the repository's config.yaml and the user's. What could do harm is the user's alone.

A cold command cannot afford a YAML parser, so the parsed settings are kept in the user's cache folder, under the stamps
of the files they came from.
"""

from __future__ import annotations

import os

from .embed.chain import AUTO, BUNDLED, EmbedderSettings
from .exchange.sinks.config import EVENTS, MarkdownSettings, SinkSettings, WebhookSettings
from .files.layout import Layout, user_cache, user_config, user_repository_config
from .index.open_store import SQLITE, StoreSettings, checked
from .learn.llm.config import ANSWER_TIMEOUT_S, LlmSettings
from .model.errors import BadInput
from .model.record import record, replace
from .recall.limits import LESSON_CONFIDENCE, LESSON_DAYS, MAX_UNVERIFIED, SPECIALTIES, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# key → who may set it. A repository is untrusted: it cannot name endpoints, keys, commands, models, folders or sinks.
KEYS = {
    "embedder.provider": "both",
    "embedder.model": "user",
    "embedder.dims": "user",
    "embedder.url": "user",
    "embedder.keyEnv": "user",
    "embedder.start": "user",
    "embedder.timeout": "user",
    "llm.endpoint": "user",
    "llm.model": "user",
    "llm.keyEnv": "user",
    "llm.command": "user",
    "llm.timeout": "user",
    "sinks.markdown.folder": "user",
    "sinks.markdown.events": "user",
    "sinks.webhook.url": "user",
    "sinks.webhook.events": "user",
    "sinks.webhook.keyEnv": "user",
    "sinks.webhook.allowLocal": "user",
    "trust.commits": "user",
    "trust.agents": "user",
    "trust.maxUnverified": "both",
    "ledger": "user",
    "lessonMinConfidence": "both",
    "lessonRetentionDays": "both",
    "privacy.names": "user",
    "traces.due": "both",
    "traces.keepDays": "both",
    "store.name": "user",
    "store.url": "user",
    "store.urlEnv": "user",
    "store.repository": "user",
    "contents": "both",
}
LEDGER = ("on", "writes", "off")  # what is noted: everything, everything but recalls, nothing


DUE_TRACES = 10  # LLMos
LOCAL = (AUTO, BUNDLED, "minilm")  # providers that a repository may ask for: they send nothing and load nothing
AGENT_KEYS = {"maxInjected": "most", "minImportance": "least_importance", "budget": "budget"}


@record
class Settings:
    """All settings of one repository for this user."""

    embedder: EmbedderSettings = EmbedderSettings()
    agents: tuple[tuple[str, Limits], ...] = ()
    sinks: SinkSettings = SinkSettings()
    commits: bool = True  # whether what no person committed counts as written by an agent
    identities: tuple[str, ...] = ()  # authors of commits that are agents, besides those of state/belief/committer.py
    predicates: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()  # rules of claims, as written
    unverified: int = MAX_UNVERIFIED  # memories injected that no person vouches for, where people vouch for any
    llm: LlmSettings = LlmSettings()
    ledger: str = LEDGER[0]
    lessons: tuple[float, int] = (LESSON_CONFIDENCE, LESSON_DAYS)  # least confidence and age of what is injected
    names: tuple[str, ...] = ()  # of people, besides the user, that become ids in what is recorded or distilled
    due_traces: int = DUE_TRACES  # so many new traces make consolidating due
    keep_days: int = 0  # days after which a trace is archived that no learning was made of; 0: never
    store: StoreSettings = StoreSettings()
    contents: bool = False  # whether MEMORY.md follows every write

    def limits(self, agent: str) -> Limits:
        """How much may be injected for an agent; an agent that nobody knows is a mistake worth naming."""
        known = {**dict.fromkeys(SPECIALTIES, Limits()), **dict(self.agents)}
        if agent and agent not in known:
            raise BadInput(f"unknown agent {agent!r}", f"one of {', '.join(known)}; or add it to config.yaml")
        confidence, days = self.lessons
        found = known.get(agent, Limits())
        return replace(found, unverified=self.unverified, lesson_confidence=confidence, lesson_days=days)


def load_settings(layout: Layout, warn: Callable[[str], None]) -> Settings:
    """The repository's settings over the user's over the defaults; RAWKOMEM_EMBEDDER and _STORE over all of them."""
    settings = _load(layout, warn)
    chosen = os.environ.get("RAWKOMEM_EMBEDDER")
    if chosen:
        settings = replace(settings, embedder=replace(settings.embedder, provider=chosen))
    store = os.environ.get("RAWKOMEM_STORE")
    return replace(settings, store=settings.store.named(store)) if store else settings


def _load(layout: Layout, warn: Callable[[str], None]) -> Settings:
    files = (user_config(), layout.config, user_repository_config(layout))
    stamp = " ".join(_stamp(file) for file in files)
    if stamp.strip("- ") == "":
        return Settings()
    cache = os.path.join(user_cache(), "settings", "".join(c if c.isalnum() else "-" for c in layout.root)[-150:])
    values = _cached(cache, stamp)
    if values is None:
        values = _over(_read(files[0], "user", warn), _read(files[1], "repository", warn))
        values |= _read(files[2], "user", warn)
        _keep(cache, stamp, values)
    return _settings(values)


def _over(user: Mapping[str, str], repository: Mapping[str, str]) -> dict[str, str]:
    """The repository's values over the user's; of how much is let through unverified, the least counts."""
    values = {**user, **repository}
    least = [_number(given, "trust.maxUnverified", MAX_UNVERIFIED) for given in (user, repository)]
    return {**values, "trust.maxUnverified": str(int(min(MAX_UNVERIFIED, *least)))}


def _stamp(file: str) -> str:
    try:
        stat = os.stat(file)
    except OSError:
        return "-"
    return f"{stat.st_size}.{stat.st_mtime_ns}.{stat.st_ino}.{stat.st_ctime_ns}"


def _cached(cache: str, stamp: str) -> dict[str, str] | None:
    try:
        with open(cache, encoding="utf-8") as stream:
            lines = stream.read().split("\n")
    except OSError:
        return None
    if lines[0] != stamp:
        return None
    return dict(line.split("\t", 1) for line in lines[1:] if "\t" in line)


def _keep(cache: str, stamp: str, values: Mapping[str, str]) -> None:
    """Best effort: without a cache folder the next command reads YAML again."""
    try:
        os.makedirs(os.path.dirname(cache), mode=0o700, exist_ok=True)
        temporary = f"{cache}.{os.getpid()}"
        with open(temporary, "w", encoding="utf-8") as stream:
            stream.write("\n".join([stamp, *(f"{key}\t{value}" for key, value in values.items())]))
        os.replace(temporary, cache)
    except OSError:
        pass


def _read(file: str, who: str, warn: Callable[[str], None]) -> dict[str, str]:
    """The known keys of one file as `section.key` → text; others are reported and ignored."""
    from .format.frontmatter import Unreadable, read_frontmatter  # YAML: only when a settings file changed

    try:
        with open(file, encoding="utf-8") as stream:
            fields, _ = read_frontmatter(stream.read())
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as failure:
        raise BadInput(f"cannot read {file}: {failure}", "mend or remove it") from None
    except Unreadable as failure:
        raise BadInput(f"{file}:{failure.problem.line}: {failure.problem.message}", failure.problem.hint) from None
    flat = _flatten({key: field.value for key, field in fields.items()})
    if "embedder" in flat:
        flat["embedder.provider"] = flat.pop("embedder")  # `embedder: static` in one word
    if "store" in flat:
        flat["store.name"] = flat.pop("store")
    if who == "repository" and flat.get("embedder.provider", LOCAL[0]) not in LOCAL:
        warn(f"{file}: a repository may ask for the embedders {', '.join(LOCAL)} only")
        del flat["embedder.provider"]
    allowed = {key: value for key, value in flat.items() if KEYS.get(key) in ("both", who) or _is_named_key(key)}
    for key in flat.keys() - allowed.keys():
        why = "may be set in your own config only" if key in KEYS else "is not a setting"
        warn(f"{os.path.basename(os.path.dirname(file))}/config.yaml: {key} {why}")
    return allowed


def _is_named_key(key: str) -> bool:
    """Whether a key is one of those below a name that the user chose: an agent's, or a predicate's."""
    parts = key.split(".")
    if parts[0] == "predicates":
        return len(parts) >= 3
    return parts[0] == "agents" and len(parts) >= 3 and parts[-1] in AGENT_KEYS and parts[2:-1] in ([], ["memory"])


def _flatten(value: object, prefix: str = "") -> dict[str, str]:
    if isinstance(value, list):
        value = ", ".join(str(item) for item in value)
    if not isinstance(value, dict):
        return {prefix: " ".join(str(value).split())}
    flat: dict[str, str] = {}
    for key, item in value.items():
        flat |= _flatten(item, f"{prefix}.{key}" if prefix else key)
    return flat


def _settings(values: Mapping[str, str]) -> Settings:
    embedder = EmbedderSettings(
        provider=values.get("embedder.provider", AUTO),
        model=values.get("embedder.model", ""),
        url=values.get("embedder.url", ""),
        key_env=values.get("embedder.keyEnv", ""),
        start=values.get("embedder.start", ""),
        dims=int(_number(values, "embedder.dims", 0)),
        timeout=_number(values, "embedder.timeout", 30.0),
    )
    agents = tuple(sorted(_agents(values).items()))
    commits, identities = _commits(values)
    return Settings(
        embedder=embedder,
        agents=agents,
        sinks=_sinks(values),
        commits=commits,
        identities=identities,
        predicates=_predicates(values),
        unverified=_unverified(values),
        llm=_llm(values),
        ledger=_ledger(values),
        lessons=_lessons(values),
        names=_listed(values, "privacy.names"),
        due_traces=max(1, int(_number(values, "traces.due", DUE_TRACES))),
        keep_days=max(0, int(_number(values, "traces.keepDays", 0))),
        contents=values.get("contents", "").lower() in ("true", "yes", "on"),
        store=_store(values),
    )


def _store(values: Mapping[str, str]) -> StoreSettings:
    return StoreSettings(
        checked(values.get("store.name", SQLITE)),
        values.get("store.url", ""),
        values.get("store.urlEnv", ""),
        values.get("store.repository", ""),
    )


def _llm(values: Mapping[str, str]) -> LlmSettings:
    return LlmSettings(
        endpoint=values.get("llm.endpoint", ""),
        model=values.get("llm.model", ""),
        key_env=values.get("llm.keyEnv", ""),
        command=values.get("llm.command", ""),
        timeout=_number(values, "llm.timeout", ANSWER_TIMEOUT_S),
    )


def _ledger(values: Mapping[str, str]) -> str:
    said = values.get("ledger", LEDGER[0]).lower()
    said = {"true": "on", "yes": "on", "false": "off", "no": "off"}.get(said, said)
    if said not in LEDGER:
        raise BadInput(f"setting ledger must not be {said!r}", "one of " + ", ".join(LEDGER))
    return said


def _lessons(values: Mapping[str, str]) -> tuple[float, int]:
    confidence = _number(values, "lessonMinConfidence", LESSON_CONFIDENCE)
    return confidence, int(_number(values, "lessonRetentionDays", LESSON_DAYS))


def _predicates(values: Mapping[str, str]) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """`predicates.budget.normalize` and its like. What is wrong with a rule is told when a claim is resolved."""
    rules: dict[str, dict[str, str]] = {}
    for key, value in values.items():
        if key.startswith("predicates."):
            name, _, rule = key.removeprefix("predicates.").rpartition(".")
            rules.setdefault(name, {})[rule] = value
    return tuple((name, tuple(given.items())) for name, given in sorted(rules.items()))


def _unverified(values: Mapping[str, str]) -> int:
    return max(0, int(_number(values, "trust.maxUnverified", MAX_UNVERIFIED)))


def _commits(values: Mapping[str, str]) -> tuple[bool, tuple[str, ...]]:
    commits = values.get("trust.commits", "on").lower() not in ("off", "false", "no")
    return commits, _listed(values, "trust.agents")


def _listed(values: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in values.get(key, "").split(",") if part.strip())


def _sinks(values: Mapping[str, str]) -> SinkSettings:
    """What is wrong with these is told when they are used: a broken sink must not keep a search from its answer."""
    return SinkSettings(
        MarkdownSettings(values.get("sinks.markdown.folder", ""), _events(values, "sinks.markdown.events")),
        WebhookSettings(
            url=values.get("sinks.webhook.url", ""),
            events=_events(values, "sinks.webhook.events"),
            key_env=values.get("sinks.webhook.keyEnv", ""),
            allow_local=values.get("sinks.webhook.allowLocal", "").lower() in ("true", "yes", "on"),
        ),
    )


def _events(values: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(values[key].replace(",", " ").split()) if key in values else EVENTS


def _agents(values: Mapping[str, str]) -> dict[str, Limits]:
    """`agents.developer.maxInjected` and its like; the `memory.` of SPEC-0009 may stand before the key."""
    agents: dict[str, Limits] = {}
    for key, value in values.items():
        parts = key.split(".")
        if parts[0] != "agents" or len(parts) < 3:
            continue
        name, field = parts[1], AGENT_KEYS[parts[-1]]
        changed = value.lower() if field == "least_importance" else int(_number(values, key, 0))
        agents[name] = replace(agents.get(name, Limits()), **{field: changed})
    return agents


def _number(values: Mapping[str, str], key: str, default: float) -> float:
    try:
        return float(values.get(key, default))
    except ValueError:
        raise BadInput(f"setting {key} must be a number, not {values[key]!r}", "correct config.yaml") from None
