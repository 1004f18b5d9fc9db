"""Settings: the repository's over the user's; what could do harm is the user's alone; a typo stops nothing."""

import json
import marshal
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rawkomem.files.layout import Layout, user_cache, user_config, user_repository_config
from rawkomem.model.errors import BadInput
from rawkomem.model.user_settings import SINK_EVENTS
from rawkomem.repository.settings import Settings, load_settings
from rawkomem.repository.settings_table import BOTH, ROWS

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import write_settings_docs


@pytest.fixture(autouse=True)
def no_override(monkeypatch):
    monkeypatch.delenv("RAWKOMEM_EMBEDDER")


def load(project, repository: str = "", user: str = "", own: str = ""):
    warnings: list[str] = []
    layout = Layout(str(project / ".rawko"))
    for file, text in ((layout.config, repository), (user_config(), user), (user_repository_config(layout), own)):
        os.makedirs(os.path.dirname(file), exist_ok=True)
        Path(file).write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_settings(layout, warnings.append), warnings


def cached(project) -> Path:
    (file,) = (Path(user_cache()) / "settings").iterdir()
    return file


def test_defaults(project):
    settings, warnings = load(project)
    assert settings == Settings() and settings.embedder.provider == "auto" and not warnings


def test_one_word_or_an_address_names_the_provider(project):
    assert load(project, user="embedder: openai\n")[0].embedder.provider == "openai"
    assert load(project, "embedder: minilm\n")[0].embedder.provider == "minilm"
    embedder = load(project, user="embedder: {provider: 'http://127.0.0.1:1/v1', model: big@256, start: serve}\n")[
        0
    ].embedder
    assert (embedder.provider, embedder.url, embedder.model, embedder.dims, embedder.start) == (
        "openai", "http://127.0.0.1:1/v1", "big", 256, "serve",
    )  # fmt: skip


def test_a_repository_cannot_send_texts_anywhere(project):
    for given in ("openai", "http://evil/v1"):
        settings, warnings = load(project, f"embedder: '{given}'\n")
        assert settings.embedder == Settings().embedder and "must be one of auto, static, minilm" in warnings[0]


def test_what_agents_get(project):
    settings, warnings = load(
        project, "agents: {developer: {memory: {maxInjected: 3, minImportance: High}}, me: {budget: 9}}\n"
    )
    assert not warnings
    developer, me = settings.limits("developer"), settings.limits("me")
    assert (developer.max_injected, developer.min_importance, me.budget, me.max_injected) == (3, "high", 9, -1)
    with pytest.raises(BadInput, match="unknown agent 'x'"):
        settings.limits("x")


def test_files_add_to_each_other_and_the_later_one_counts(project):
    settings, warnings = load(
        project,
        "agents: {me: {budget: 9, maxInjected: 2}}\nembedder: static\n",
        user="agents: {me: {budget: 8}}\nembedder: openai\n",
        own="agents: {me: {maxInjected: 4}}\n",
    )
    assert (settings.limits("me").budget, settings.limits("me").max_injected) == (9, 4) and not warnings
    assert settings.embedder.provider == "static"


USERS_OWN = """\
embedder: {model: m, start: 'rm -rf x'}
llm: {provider: 'http://evil', model: m}
keys: {embedder: AWS_SECRET, llm: AWS_SECRET, webhook: AWS_SECRET}
sinks: {folder: /x, webhook: 'https://h', events: [store], allowLocal: yes}
trust: {agents: off}
ledger: off
privacy: {names: [Ada]}
minConfidence: 0.1
sources: [/x]
store: {name: postgres, url: 'postgres://evil', repository: x}
"""


def test_what_could_do_harm_is_the_users_alone(project, monkeypatch):
    monkeypatch.setattr("rawkomem.repository.settings_table.MAX_WARNINGS", 100)
    settings, warnings = load(project, USERS_OWN)
    own = {row.key for row in ROWS.values() if row.who != BOTH}
    assert settings == Settings() and all("may be set in your own config only" in text for text in warnings)
    assert len(warnings) == len(own) + 3, "three keys, and two ends of a store"
    assert all(any(f" {key}" in text for text in warnings) for key in own)


def test_the_user_can(project):
    settings, warnings = load(project, user=USERS_OWN)
    sinks, llm, store = settings.sinks, settings.llm, settings.store
    assert not warnings and (settings.commits, settings.ledger, settings.names) == (False, "off", ("Ada",))
    assert settings.sources == ("/x",)
    assert (llm.endpoint, llm.model, llm.key_env, llm.command) == ("http://evil", "m", "AWS_SECRET", "")
    assert (sinks.markdown.folder, sinks.markdown.events, sinks.webhook.events) == ("/x", ("store",), ("store",))
    assert (sinks.webhook.url, sinks.webhook.allow_local, sinks.webhook.key_env) == ("https://h", True, "AWS_SECRET")
    assert (store.name, store.url, store.repository) == ("postgres", "postgres://evil", "x")
    assert load(project, user="llm: claude -p\n")[0].llm.command == "claude -p"


def test_events(project):
    assert load(project, user="sinks: {folder: /x, events: []}\n")[0].sinks.markdown.events == ()
    assert load(project, user="sinks: {folder: /x}\n")[0].sinks.markdown.events == SINK_EVENTS


def test_whose_commits_count(project):
    settings, warnings = load(project, user="trust: {agents: ['*@ci.example.org', Robo]}\n")
    assert (settings.commits, settings.identities, warnings) == (True, ("*@ci.example.org", "Robo"), [])


def test_what_is_not_a_setting_is_named_each_time(project):
    """The first command after an edit may be a hook, whose warnings nobody sees."""
    (warning,) = load(project, "colour: red\nembeder: static\n")[1][:1]
    assert "config.yaml:1: colour is not a setting" in warning
    again: list[str] = []
    load_settings(Layout(str(project / ".rawko")), again.append)
    assert again[0] == warning and "embeder is not a setting; did you mean embedder?" in again[1]


WRONG = [
    ("lessons: {minConfidence: inf}", "lessons.minConfidence must be a number from 0 to 1"),
    ("lessons: {minConfidence: .nan}", "lessons.minConfidence must be a number from 0 to 1"),
    ("lessons: {minConfidence: nan}", "lessons.minConfidence must be a number from 0 to 1"),
    ("lessons: {minConfidence: 2}", "lessons.minConfidence must be a number from 0 to 1"),
    ("keepDays: {traces: inf}", "keepDays.traces must be a whole number from 0 to 36500"),
    ("keepDays: {traces: 1.5}", "keepDays.traces must be a whole number"),
    ("keepDays: {traces: -1}", "keepDays.traces must be a whole number"),
    ("keepDays: 3", "keepDays must hold lessons, traces, ledger"),
    ("agents: {me: {budget: many}}", "agents.me.budget must be a whole number from 0 to 1000000"),
    ("agents: {me: {maxInjected: [[1]]}}", "agents.me.maxInjected must be a whole number"),
    ("agents: {me: {minImportance: urgent}}", "agents.me.minImportance must be one of low, medium, high, critical"),
    ("agents: {me: 3}", "agents.me must hold maxInjected, "),
    ("agents: 3", "agents must hold NAME, and below it maxInjected, "),
    ("predicates: {z: {normalize: foo}}", "predicates.z.normalize must be one of none, trim, "),
    ("predicates: {z: {frob: x}}", "predicates.z.frob is not a setting"),
    ("sinks: 3", "sinks must hold folder, "),
    ("recordSessions: sometimes", "recordSessions must be on or off"),
    ("ledger: maybe", "ledger must be one of on, writes, off"),
    ("store: cloud", "store must be sqlite, or a store of an installed package"),
    ("privacy: {names: [[a, b], c]}", "privacy.names must be a list of texts"),
    ("embedder: [a, b]", "embedder must be"),
    ("embedder: nonsense", "embedder must be"),
    ("llm: {model: [a]}", "llm.model must be a text"),
    ('llm: {model: "a\\u0007b"}', "llm.model must be a text"),
    (f"llm: {{model: {'x' * 3_000}}}", "llm.model must be a text"),
    ("sinks: {allowLocal: perhaps}", "sinks.allowLocal must be on or off"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_wrong_value_is_one_warning_and_the_default(project, text, said):
    settings, (warning,) = load(project, user=text + "\n")
    assert settings == Settings() and said in warning and warning.startswith(f"{user_config()}:1: ")
    assert "\n" not in warning


def test_where_the_default_would_be_less_careful_a_wrong_value_is_the_careful_one(project):
    assert load(project, "trust: {maxUnverified: none}\n")[0].max_unverified == 0
    assert load(project, user="sinks: {events: [stroe], webhook: 'https://h'}\n")[0].sinks.webhook.events == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2\n", "config.yaml:2: duplicate key 'a'"),
        ("- x\n", "config.yaml:1: "),
        ("recordSessions: 'on\n", "not valid YAML"),
        (b"recordSessions: \xff\xfe\n", "is not UTF-8 text (byte 16)"),
        ("# " + "x" * 70_000 + "\n", "is larger than 64 KiB"),
        ("a: " + "[" * 20 + "]" * 20 + "\n", "nested deeper"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_warning_and_the_defaults(project, text, said):
    settings, (warning,) = load(project, text, user="ledger: off\n")
    assert settings.ledger == "off" and settings.embedder == Settings().embedder and said in warning


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no /dev/zero")
def test_a_file_that_never_ends_is_not_read(project):
    (project / ".rawko" / "config.yaml").unlink()
    (project / ".rawko" / "config.yaml").symlink_to("/dev/zero")
    warnings: list[str] = []
    assert load_settings(Layout(str(project / ".rawko")), warnings.append) == Settings()
    assert "cannot be read (not a regular file)" in warnings[0]


def test_a_broken_config_stops_neither_a_command_nor_the_prompt_hook(project, rawkomem, memories):
    """K7: `inf` made every command fail, and the prompt hook silent."""
    (memories / "one.md").write_text("---\ntitle: Zebras\nwhenToUse: zebra\n---\n\nZebras have stripes.\n")
    (project / ".rawko" / "config.yaml").write_text("agents: {developer: {budget: inf}}\nkeepDays: {lessons: nan}\n")
    found = rawkomem("search", "zebras")
    assert "Zebras" in found.stdout and "agents.developer.budget must be a whole number" in found.stderr
    assert "stripes" in rawkomem("inject", "draw a zebra", "--agent", "developer").stdout
    call = json.dumps(
        {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "draw a zebra", "cwd": str(project)}
    )
    assert "stripes" in rawkomem("hook", "claude", "prompt", input=call).stdout
    log = (project / ".rawko" / "local" / "hook.log").read_text()
    assert "agents.developer.budget must be a whole number" in log and "keepDays.lessons" in log


def test_settings_are_read_once_and_again_when_a_file_changes(project, monkeypatch):
    load(project, "embedder: minilm\n")
    layout = Layout(str(project / ".rawko"))

    def no_yaml(*args):
        raise AssertionError("the cache was not used")

    monkeypatch.setattr("rawkomem.repository.settings._read", no_yaml)
    assert load_settings(layout, print).embedder.provider == "minilm"
    monkeypatch.undo()
    (project / ".rawko" / "config.yaml").write_text("embedder: static\n")
    assert load_settings(layout, print).embedder.provider == "static"


INJECTED = "predicates.x\nembedder.provider\topenai\nembedder.url\thttp://127.0.0.1:9/v1\nembedder.start\tsh -c 'id > PWNED'\nz"


@pytest.mark.parametrize(
    "name", [INJECTED, "predicates.x\nembedder.start\tsh", "a\x1b[31mb", "\u202ekcart", "x" * 100, ""]
)
def test_a_key_of_the_repository_never_becomes_a_setting_of_the_user(project, name):
    """S1: a key with line breaks was read back from the cache as lines of the user's own settings."""
    text = json.dumps({name: "supersede", "predicates": {name: {"normalize": "trim"}}, "agents": {name: {"budget": 1}}})
    for _ in range(2):  # from the file, then from the cache
        settings, warnings = load(project, text)
        assert settings == Settings() and len(warnings) == 3
        assert all(warning.isprintable() and len(warning) < 300 for warning in warnings)


def test_a_value_of_the_repository_never_becomes_a_setting_of_the_user(project):
    for _ in range(2):
        settings, _ = load(project, json.dumps({"profile": "lane\nembedder.start\tsh"}))
        assert settings == Settings()


def test_cached_settings_need_no_table(project):
    text = "recordSessions: on\nagents: {developer: {budget: 7}}\n"
    before, _ = load(project, text, user="embedder: {start: serve}\ntrust: {maxUnverified: 1}\n")
    assert before.limits("developer").budget == 7 and before.embedder.start == "serve" and before.max_unverified == 1
    code = (
        "import sys; from rawkomem.files.layout import Layout; from rawkomem.repository.settings import load_settings;"
        "settings = load_settings(Layout(sys.argv[1]), print);"
        "print(settings.limits('developer').budget, 'rawkomem.repository.settings_table' in sys.modules)"
    )
    layout = str(project / ".rawko")
    ran = subprocess.run([sys.executable, "-c", code, layout], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout == "7 False\n"


@pytest.mark.parametrize("data", [b"", b"x", b"\x00" * 50, marshal.dumps(3), marshal.dumps(("a", "b", "c", "d"))])
def test_a_broken_cache_is_made_again(project, data):
    load(project, "recordSessions: on\n")
    cached(project).write_bytes(data)
    assert load_settings(Layout(str(project / ".rawko")), print).record_sessions
    assert cached(project).stat().st_mode & 0o077 == 0, "it may hold a password"


def test_the_environment_has_the_last_word_on_the_embedder(project, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "static")
    assert load(project, "embedder: minilm\n", user="embedder: openai\n")[0].embedder.provider == "static"
    monkeypatch.setenv("RAWKOMEM_EMBEDDER", "http://localhost:1/v1")
    assert load(project)[0].embedder.url == "http://localhost:1/v1"


def test_there_are_few_settings():
    assert len(ROWS) <= 26


def test_the_page_of_settings_is_up_to_date():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == write_settings_docs.write(), "run 'make docs'"


def test_the_page_of_settings_has_every_variable():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    source = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "rawkomem").rglob("*.py"))
    used = set(re.findall(r"_?RAWKOMEM_[A-Z_]*[A-Z]", source))
    assert len(used) >= 7 and all(f"`{name}`" in page for name in used), used
    assert "`RAWKOMEM_LANCEDB_URL`" in page, "put together from the store's name"
