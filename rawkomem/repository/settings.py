"""Settings from config.yaml of the repository and of the user. They are cached, so that most commands
parse no YAML.
"""

from __future__ import annotations

import marshal
import os

from ..embed.embedder import EmbedderSettings
from ..files.git_folder import git_stamp
from ..files.journal import LEDGER_KEEP_DAYS
from ..files.layout import Layout, user_cache, user_config, user_repository_config
from ..index.stores.database import StoreSettings
from ..model.errors import BadInput, NewerFormat
from ..model.user_settings import LlmSettings, SinkSettings
from ..model.values import FORMAT, TYPE_CHECKING, record, replace
from ..recall.signals import (
    LESSON_DAYS,
    MAX_UNVERIFIED,
    MIN_CONFIDENCE,
    MIN_LESSON_CONFIDENCE,
    SPECIALTIES,
    Limits,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    # dotted path below Settings → value
    Fields = dict[str, Any]


TABLE = os.path.join(os.path.dirname(__file__), "settings_table.py")


@record
class Settings:
    """All settings of one repository for this user."""

    embedder: EmbedderSettings = EmbedderSettings()
    # agent → fields of its Limits
    agents: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()
    sinks: SinkSettings = SinkSettings()
    # whether a text that no person committed counts as written by an agent
    commits: bool = True
    # commit authors that are agents, in addition to state/trust.py
    identities: tuple[str, ...] = ()
    # rules for claims, not checked yet
    predicates: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    # per injection: memories that no person vouches for
    max_unverified: int = MAX_UNVERIFIED
    llm: LlmSettings = LlmSettings()
    ledger: str = "on"
    # minimum confidence that an injected memory is relevant
    min_confidence: float = MIN_CONFIDENCE
    # minimum confidence of an injected lesson
    min_lesson_confidence: float = MIN_LESSON_CONFIDENCE
    # maximum age of an injected lesson that nobody confirmed
    lesson_days: int = LESSON_DAYS
    # of people, besides the user, to replace by ids in recorded and distilled texts
    names: tuple[str, ...] = ()
    # days after which blocks of the ledger are removed; 0: never
    ledger_days: int = LEDGER_KEEP_DAYS
    # days after which a trace without a learning is archived; 0: never
    keep_days: int = 0
    store: StoreSettings = StoreSettings()
    sources: tuple[str, ...] = ()  # folders of shared repositories, which are read-only
    # whether commits that edit or remove committed memories are rejected
    append_only: bool = False
    record_sessions: bool = False  # whether hooks write traces and the log
    profile: str = ""  # scoring profile for injections; empty: the default
    format: int = 1  # version of the files' format

    def limits(self, agent: str) -> Limits:
        """Return the injection limits of an agent; raise BadInput for an unknown agent."""
        known = {**dict.fromkeys(SPECIALTIES, ()), **dict(self.agents)}
        if agent and agent not in known:
            raise BadInput(
                f"unknown agent {agent!r}",
                f"use one of {', '.join(known)}; or add it to config.yaml",
            )
        limits = Limits(
            max_unverified=self.max_unverified,
            min_confidence=self.min_confidence,
            min_lesson_confidence=self.min_lesson_confidence,
            lesson_days=self.lesson_days,
            profile=self.profile,
        )
        return replace(limits, **dict(known.get(agent, ())))


def load_settings(
    layout: Layout, warn: Callable[[str], None], store: str = ""
) -> Settings:
    """Return the settings from the environment, the config files and the defaults; warn about wrong values.

    `store` overrides the search store. Raise NewerFormat if a newer program wrote the repository.
    """
    settings = _load(layout, warn)
    embedder = os.environ.get("RAWKOMEM_EMBEDDER")
    if embedder and "://" in embedder:
        from .settings_table import embedder_fields  # only an address needs the table

        settings = _with_fields(settings, embedder_fields(embedder))
    elif embedder:
        settings = replace(
            settings, embedder=replace(settings.embedder, provider=embedder)
        )
    store = store or os.environ.get("RAWKOMEM_STORE") or settings.store.name
    return replace(settings, store=settings.store.named(store))


def _load(layout: Layout, warn: Callable[[str], None]) -> Settings:
    files = (user_config(), layout.config, user_repository_config(layout))
    head = "" if layout.elsewhere else git_stamp(layout.project)
    stamps = [*map(_stamp, files), head]
    if not any(stamps):
        return Settings()
    stamp = " ".join([*stamps, layout.elsewhere, _stamp(TABLE)])
    name = "".join(c if c.isalnum() else "-" for c in layout.root)[-150:]
    cache = os.path.join(user_cache(), "settings", f"{name}.cache")
    known, fields, warnings, settled = _cached(cache)
    if known != stamp:
        fields, warnings = _read(files, cache, stamp, layout, settled)
    settings: Settings = _with_fields(Settings(), fields)
    if settings.format > FORMAT:
        from ..model.installed import how_to_upgrade

        raise NewerFormat(
            f"written by a newer rawkomem: {layout.config} says format {settings.format}, and this one reads {FORMAT}",
            f"run: {how_to_upgrade()}",
        )
    for warning in warnings:
        warn(warning)
    return settings


def _stamp(file: str) -> str:
    try:
        stat = os.stat(file)
    except OSError:
        return ""
    return f"{stat.st_size}.{stat.st_mtime_ns}.{stat.st_ino}.{stat.st_ctime_ns}"


def _read(
    files: Sequence[str], cache: str, stamp: str, layout: Layout, known: Any
) -> tuple[Fields, list[str]]:
    # YAML and git: only when a settings file or HEAD changed
    from ..files.private import replace_private
    from .settings_table import read_files

    fields, warnings, settled = read_files(files, layout, known)
    try:
        replace_private(cache, marshal.dumps((stamp, fields, warnings, settled)))
    except OSError:
        pass  # the next command reads YAML again
    return fields, warnings


def _cached(cache: str) -> tuple[str, Fields, list[str], Any]:
    """Return the stamp for which a cache was written, the fields, the warnings, and what `read_files` may use again."""
    try:
        with open(cache, "rb") as stream:
            stamp, fields, warnings, settled = marshal.load(stream)
    except (OSError, EOFError, ValueError, TypeError):
        return "", {}, [], None
    return stamp, fields, warnings, settled


def _with_fields(item: Any, fields: Mapping[str, Any]) -> Any:
    """Return a copy of a record with values set at dotted paths."""
    for path, value in fields.items():
        name, _, rest = path.partition(".")
        inner = _with_fields(getattr(item, name), {rest: value}) if rest else value
        item = replace(item, **{name: inner})
    return item
