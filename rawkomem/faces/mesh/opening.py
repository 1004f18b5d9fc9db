"""Open a repository from the options of a mesh: its folder, its settings, and whether it may be written."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ...files.append import Written
from ...files.layout import FOLDER, Layout, find_layout
from ...files.start import plan_start, write_start
from ...model.draft import LESSON
from ...model.entry import Plan
from ...model.errors import BadInput, NotFound, Refused
from ...model.record import replace
from ...model.user_settings import LlmSettings
from ...repository import Repository
from ...repository.settings import Settings
from ...repository.wings.lessons import DRAFTED, WAITING
from ...repository.writer import Writer
from .named_files import naming, read_text
from .options import MemoryMeshOptions
from .records import name_of

# OpenAI-compatible endpoints of the providers that the RFC names.
PROVIDERS = {
    "openai": "https://api.openai.com/v1",
    "ollama": "http://localhost:11434/v1",
    "cohere": "https://api.cohere.ai/compatibility/v1",
}
SKILL_FILES = (".yamo", ".md")


class Unwritten(Writer):
    """A repository that refuses every write, for a mesh with `enable_memory` off."""

    def write_decided(
        self, decide: Callable[[], Plan], via: str = "", may_be_retry: object = None
    ) -> Sequence[Written]:
        """Raise Refused."""
        raise Refused("memory is switched off", "open the mesh with enable_memory=True")


def checked(options: MemoryMeshOptions) -> MemoryMeshOptions:
    """Validate and return the options."""
    if options.llm_provider and options.llm_provider not in PROVIDERS:
        raise BadInput(f"unknown provider {options.llm_provider!r}", "one of " + ", ".join(PROVIDERS))
    if options.max_heritage_depth < 1:
        hint = "use at least 1; to store no heritage, leave enable_heritage_tracking off"
        raise BadInput(f"max_heritage_depth is {options.max_heritage_depth}", hint)
    return options


def open_repository(options: MemoryMeshOptions) -> Repository:
    """Return the repository with the options applied. On failure it is closed again."""
    folders = _skill_folders(options)
    repository = Repository(_found_or_made(options), via="agent", adjust=lambda settings: _adjusted(settings, options))
    repository.core.agent = name_of(options.agent_id)
    if not options.enable_memory:
        repository.core.writer = Unwritten(repository.core)
        return repository
    try:
        for folder in folders:
            _ingest_folder(repository, folder)
        if options.enable_wisdom_distillation:
            _distill(repository)
    except BaseException:
        repository.close()
        raise
    return repository


def _distill(repository: Repository) -> None:
    """Distill lessons and store those with a rule, without a review: the option asks for this (RFC-0011 §8.2)."""
    by = repository.core.agent
    for proposal, what in repository.lessons.distill(by=by).found:
        if LESSON in proposal.draft.tags and what in (DRAFTED, WAITING):
            repository.drafts.keep(proposal.draft.id, by=by, via="distilled")


def layout_of(options: MemoryMeshOptions) -> tuple[Layout, bool]:
    """Return where the repository is or would be, and whether it exists."""
    start = options.db_dir or os.getcwd()
    try:
        return find_layout(start), True
    except NotFound:
        return Layout(os.path.join(os.path.abspath(start), FOLDER)), False


def _found_or_made(options: MemoryMeshOptions) -> Layout:
    layout, there = layout_of(options)
    if not there:
        write_start(plan_start(layout.project))
    return layout


def _skill_folders(options: MemoryMeshOptions) -> Sequence[str]:
    given = options.skill_directories
    folders = [given] if isinstance(given, str) and given else [*given]
    for folder in folders:
        if not os.path.isdir(folder):
            raise BadInput(f"no folder {folder}", "create it, or correct skill_directories")
    return folders


def _ingest_folder(repository: Repository, folder: str) -> None:
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(SKILL_FILES) and os.path.isfile(path):
            with naming(path):
                repository.skills.ingest(read_text(path), path, repository.core.agent, via="agent")


def _adjusted(settings: Settings, options: MemoryMeshOptions) -> Settings:
    """Return the user's settings, overridden by the options."""
    given = {"min_lesson_confidence": options.lesson_min_confidence, "lesson_days": options.lesson_retention_days}
    ledger = settings.ledger if options.enable_yamo else "off"
    settings = replace(settings, ledger=ledger, llm=_llm(settings.llm, options))
    return replace(settings, **{name: value for name, value in given.items() if value is not None})


def _llm(llm: LlmSettings, options: MemoryMeshOptions) -> LlmSettings:
    if not options.enable_llm:
        return LlmSettings()
    if options.llm_provider:
        llm = LlmSettings(endpoint=PROVIDERS[options.llm_provider], key_env="", timeout=llm.timeout)
    given = {"model": options.llm_model, "key": options.llm_api_key, "max_tokens": options.llm_max_tokens}
    return replace(llm, **{name: value for name, value in given.items() if value})
