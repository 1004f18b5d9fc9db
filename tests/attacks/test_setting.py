"""A config.yaml that no person committed hides a person's memory, lowers it, or lets more of an agent's memories in."""

import pytest
from rawkomem.repository import Repository

from tests.attacks.conftest import AGENTS, TASK, TEXT
from tests.git.gitting import AGENT

pytestmark = pytest.mark.attacks

SETTINGS = {
    "no memories": "agents: {developer: {maxInjected: 0}}",
    "no tokens": "agents: {developer: {budget: 0}}",
    "few tokens": "agents: {developer: {budget: 5}}",
    "a profile of an agent": "agents: {developer: {profile: 'composite:trust=0'}}",
    "all agents": "agents: {developer: {maxInjected: 0}, tester: {maxInjected: 0}, planner: {maxInjected: 0}, default: {maxInjected: 0}}",
    "a profile": "profile: lane",
    "weights": "profile: 'fit:importance=0,when_to_use=0'",
    "lessons": "lessons: {minConfidence: 1}",
    "days": "keepDays: {lessons: 0, traces: 1}",
    "more of agents": "trust: {maxUnverified: 100}",
    "no agents": "trust: {agents: off}",
    "other agents": "trust: {agents: ['Ada Person', 'ada@example.org', '.*']}",
    "confidence": "minConfidence: 1",
    "no confidence": "minConfidence: 0",
    "a store": "store: {name: postgres, url: 'postgres://127.0.0.1:9/x'}",
    "a folder of a store": "store: {name: sqlite, url: /dev/shm/evil.db}",
    "an embedder": "embedder: http://127.0.0.1:9/v1",
    "a command": "embedder: {provider: openai, start: 'touch PWNED'}",
    "a model": "llm: 'touch PWNED'",
    "sinks": "sinks: {folder: /dev/shm/evil, webhook: 'http://127.0.0.1:9/'}",
    "sources": "sources: [/dev/shm/evil]",
    "no ledger": "ledger: off",
    "predicates": "predicates: {method: {cardinality: one, conflictPolicy: keep_last}}",
    "names": "privacy: {names: [deploy, make, Deploy]}",
    "a newer format": "format: 1000000",
    "no format": "format: 0",
    "broken": "{{{",
    "an alias": "a: &x [*x]",
    "twice": "profile: fit\nprofile: lane",
    "bytes": "\0\0\0",
    "large": "#" + "x" * 2_000_000,
    "keys": "keys: {webhook: HOME}",
    "an odd key": '"profile\\nagents.developer.maxInjected\\t0": 1',
}  # fmt: skip
NEWER = pytest.mark.xfail(
    strict=True, reason="a format that nobody committed keeps this program from reading the files"
)
OPTIONS = [{}, {"strict": True}, {"agent": "developer"}, {"agent": "tester"}]


def injected(project) -> list[object]:
    """Return what each kind of injection holds, from a repository that was opened now."""
    told: list[object] = []
    with Repository.open(str(project), warn=lambda text: None) as repository:
        for options in OPTIONS:
            items = repository.inject(TASK, **options).items
            told.append([(one.memory.id, round(one.score, 6)) for one in items])
    return told


def limited(*settings: str) -> list:
    """Return settings for a test; the attack with a newer format succeeds."""
    return [pytest.param(one, marks=NEWER if one == "a newer format" else ()) for one in settings]


@pytest.mark.parametrize("by", [None, AGENT], ids=["not committed", "committed by an agent"])
@pytest.mark.parametrize("setting", limited(*SETTINGS))
def test_a_setting_that_no_person_committed(setting, by, ground, git):
    for number in range(4):
        text = AGENTS.replace("mem_agent", f"agent{number}").replace("faster", f"faster {number}")
        (ground.memories / f"agent{number}.md").write_text(text)
    before = injected(ground.project)
    (ground.project / ".rawko" / "config.yaml").write_text(SETTINGS[setting] + "\n")
    if by:
        git("add", ".rawko/config.yaml")
        git("commit", "-qm", "settings", by=by)
    assert injected(ground.project) == before
    assert not [*ground.project.rglob("PWNED")]


@pytest.mark.parametrize("command", ["inject", "hook"])
@pytest.mark.parametrize(
    "setting", limited("no memories", "a profile", "a newer format", "broken", "a command", "bytes")
)
def test_through_the_command_and_the_hook(setting, command, ground, rawkomem):
    (ground.project / ".rawko" / "config.yaml").write_text(SETTINGS[setting] + "\n")
    call = (
        f'{{"session_id": "s", "cwd": "{ground.project}", "hook_event_name": "UserPromptSubmit", "prompt": "{TASK}"}}'
    )
    words = ("inject", TASK) if command == "inject" else ("hook", "claude", "prompt")
    assert TEXT in rawkomem(*words, input=call, check=None).stdout


def linked(config) -> None:
    config.unlink(missing_ok=True)
    config.symlink_to("/dev/zero")


FILES = {
    "removed": lambda config: config.unlink(missing_ok=True),
    "a link": linked,
    "a folder": lambda config: (config.unlink(missing_ok=True), config.mkdir()),
    "a large one": lambda config: config.write_bytes(b"x: 1\n" * 1_000_000),
    "not UTF-8": lambda config: config.write_bytes(b"\xff\xfe"),
}


@pytest.mark.parametrize("by", [None, AGENT], ids=["not committed", "committed by an agent"])
@pytest.mark.parametrize("way", FILES)
def test_the_file_of_settings_itself(way, by, ground, git):
    config = ground.project / ".rawko" / "config.yaml"
    config.write_text("agents: {developer: {maxInjected: 2}}\n")
    git.commit()
    before = injected(ground.project)
    FILES[way](config)
    if by:
        git.commit("settings", by)
    assert injected(ground.project) == before
