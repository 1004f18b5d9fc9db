"""Settings: the repository's over the user's; what could do harm is the user's alone."""

from __future__ import annotations

import os
import re

import pytest

from rawkomem.exchange.sinks.config import EVENTS
from rawkomem.files.layout import Layout, user_config
from rawkomem.model.errors import BadInput
from rawkomem.settings import AGENT_KEYS, KEYS, Settings, load_settings
from rawkomem.state.belief.claims import RULES
from tests.conftest import ROOT


@pytest.fixture(autouse=True)
def no_override(monkeypatch):
    monkeypatch.delenv("RAWKOMEM_EMBEDDER")


def load(project, repository: str = "", user: str = ""):
    warnings: list[str] = []
    layout = Layout(str(project / ".rawko"))
    (project / ".rawko" / "config.yaml").write_text(repository)
    os.makedirs(os.path.dirname(user_config()), exist_ok=True)
    with open(user_config(), "w") as stream:
        stream.write(user)
    return load_settings(layout, warnings.append), warnings


def test_defaults(project):
    settings, warnings = load(project)
    assert settings == Settings() and settings.embedder.provider == "auto" and not warnings


def test_one_word_names_the_provider(project):
    assert load(project, user="embedder: openai\n")[0].embedder.provider == "openai"
    assert load(project, "embedder: minilm\n")[0].embedder.provider == "minilm"


def test_a_repository_cannot_send_texts_anywhere(project):
    settings, warnings = load(project, "embedder: openai\n")
    assert settings.embedder.provider == "auto" and "may ask for" in warnings[0]


def test_what_agents_get(project):
    settings, warnings = load(
        project, "agents: {developer: {memory: {maxInjected: 3, minImportance: High}}, me: {budget: 9}}\n"
    )
    assert not warnings
    developer, me = settings.limits("developer"), settings.limits("me")
    assert (developer.most, developer.least_importance, me.budget, me.most) == (3, "high", 9, 5)
    with pytest.raises(BadInput, match="unknown agent 'x'"):
        settings.limits("x")


def test_a_repository_cannot_set_endpoints_keys_or_commands(project):
    settings, warnings = load(
        project, "embedder: {url: 'http://evil', keyEnv: AWS_SECRET, start: 'rm -rf x', model: m}\n"
    )
    assert (settings.embedder.url, settings.embedder.key_env, settings.embedder.start) == ("", "", "")
    assert settings.embedder.model == "" and sum("your own config only" in warning for warning in warnings) == 4


def test_the_user_can(project):
    settings, warnings = load(
        project, user="embedder: {provider: openai, url: 'http://127.0.0.1:1234/v1', timeout: 5}\n"
    )
    assert (settings.embedder.url, settings.embedder.timeout) == ("http://127.0.0.1:1234/v1", 5.0) and not warnings


def test_sinks_are_the_users_alone(project):
    text = "sinks: {markdown: {folder: /x, events: [store, decay]}, webhook: {url: 'https://h', allowLocal: yes}}\n"
    settings, warnings = load(project, user=text)
    markdown, webhook = settings.sinks.markdown, settings.sinks.webhook
    assert (markdown.folder, markdown.events, webhook.url, webhook.allow_local) == (
        "/x",
        ("store", "decay"),
        "https://h",
        True,
    )
    assert webhook.events == EVENTS and not warnings
    settings, warnings = load(project, text)
    assert not settings.sinks.any and sum("sinks." in warning for warning in warnings) == 4


def test_no_events_are_none_and_not_all(project):
    assert load(project, user="sinks: {markdown: {folder: /x, events: []}}\n")[0].sinks.markdown.events == ()


def test_what_is_not_a_setting_is_named(project):
    assert "colour is not a setting" in load(project, "colour: red\n")[1][0]


def test_settings_are_read_once_and_again_when_a_file_changes(project, monkeypatch):
    load(project, "embedder: minilm\n")
    layout = Layout(str(project / ".rawko"))
    import rawkomem.settings as module

    def no_yaml(*args):
        raise AssertionError("the cache was not used")

    monkeypatch.setattr(module, "_read", no_yaml)
    assert load_settings(layout, print).embedder.provider == "minilm"
    monkeypatch.undo()
    (project / ".rawko" / "config.yaml").write_text("embedder: static\n")
    assert load_settings(layout, print).embedder.provider == "static"


@pytest.mark.parametrize("text", ["agents: {me: {budget: many}}\n", "a: 1\na: 2\n", "- x\n"])
def test_a_broken_file_says_where(project, text):
    with pytest.raises(BadInput) as failure:
        load(project, text)
    assert failure.value.hint


def test_the_environment_has_the_last_word_on_the_embedder(project, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "static")
    assert load(project, "embedder: minilm\n", user="embedder: openai\n")[0].embedder.provider == "static"


def test_whose_commits_count_is_the_users_to_say(project):
    settings, warnings = load(project, user="trust: {commits: off, agents: ['*@ci.example.org', Robo]}\n")
    assert (settings.commits, settings.identities, warnings) == (False, ("*@ci.example.org", "Robo"), [])
    settings, warnings = load(project, "trust: {commits: off, agents: x}\n")
    assert settings.commits and not settings.identities and len(warnings) == 2


def test_a_language_model_is_the_users_alone(project):
    lines = "llm: {endpoint: 'http://localhost:1/v1', model: m, keyEnv: K, command: c, timeout: 9}\n"
    llm = load(project, user=lines)[0].llm
    assert (llm.endpoint, llm.model, llm.key_env, llm.command, llm.timeout) == (
        "http://localhost:1/v1",
        "m",
        "K",
        "c",
        9,
    )
    settings, warnings = load(project, lines)
    assert settings.llm == Settings().llm and len(warnings) == 5


def test_the_page_of_settings_has_them_all():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = {
        line.split(" | ")[0].strip("| "): line.split(" | ")[1] for line in page.splitlines() if line.startswith("| `")
    }
    who = {key.split("`")[1]: said for key, said in rows.items()}
    assert {key: who.get(key) for key in KEYS} == {key: "you" if said == "user" else said for key, said in KEYS.items()}
    named = {*(f"agents.NAME.{key}" for key in AGENT_KEYS), *(f"predicates.NAME.{key}" for key in RULES)}
    assert named <= who.keys()


def test_the_page_of_settings_has_every_variable():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    source = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "rawkomem").rglob("*.py"))
    used = set(re.findall(r"_?RAWKOMEM_[A-Z_]*[A-Z]", source))
    assert len(used) >= 7 and all(f"`{name}`" in page for name in used), used
    assert "`RAWKOMEM_LANCEDB_URL`" in page, "put together from the store's name"
