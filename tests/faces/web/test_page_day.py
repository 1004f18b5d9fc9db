"""A person's day with the hooks of Claude Code and the page: corrected, kept with one key, known in the next session."""

import json
import os
import time

import pytest
from rawkomem.repository import Repository

from tests.faces.web.conftest import serving
from tests.faces.web.tabs import SOON, Tab
from tests.hosts.hooks.conftest import Hook
from tests.hosts.hooks.payloads import claude
from tests.learn.session.sessions import SESSION, claude_code

pytestmark = pytest.mark.page
CORRECTION = "no, never use vitest here, use jest"
RULE = "Never use vitest here, use jest"  # what the memory says
TALK = [
    ("user", "run the tests"),
    ("assistant", "I ran the tests with vitest. All of them pass."),
    ("user", CORRECTION),
    ("assistant", "Understood, jest it is."),
]


def test_a_correction_is_kept_on_the_page_and_known_in_the_next_session(browser, project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    hook = Hook(project, elsewhere)
    ask = {**claude("UserPromptSubmit", prompt="run the tests"), "session_id": "next"}
    assert RULE not in hook.process("claude", "prompt", ask)
    transcript = elsewhere / f"{SESSION}.jsonl"
    transcript.write_bytes(claude_code(TALK))
    hook.process("claude", "turn-end", {**claude("Stop"), "session_id": SESSION}, transcript=str(transcript))
    ends = time.monotonic() + SOON / 1000
    while not waiting(project) and time.monotonic() < ends:
        time.sleep(0.1)

    with serving(project) as server:
        tab = Tab(browser, server)
        page = tab.open("#/review")
        page.wait_for_selector(".waiting > [data-waits=draft]")
        shown(page, "waits")
        assert CORRECTION in page.locator(".waiting > .card").inner_text()
        page.keyboard.press("k")
        page.wait_for_selector("#toast.shown >> text=Kept: Never use vitest here, use jest")
        page.wait_for_selector("text=Nothing to review")
        shown(page, "kept")
        tab.check()
        page.context.close()

    context = json.loads(hook.process("claude", "prompt", ask))["hookSpecificOutput"]["additionalContext"]
    assert RULE in context


def waiting(project) -> list:
    with Repository.open(str(project)) as repository:
        return repository.waiting()


def shown(page, name: str) -> None:
    """Keep a picture in the folder that RAWKOMEM_PICTURES names, for a person to look at."""
    if folder := os.environ.get("RAWKOMEM_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png")
