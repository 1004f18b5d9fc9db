"""Working on the page in real headless Chromium: writing, deciding on several, health, access."""

import os
import re
from pathlib import Path

import pytest
from rawkomem.model.entries import Entry
from rawkomem.repository import Repository

from tests.conftest import ROOT
from tests.faces.web.conftest import serving
from tests.faces.web.sample import leave_work
from tests.faces.web.tabs import Tab

pytestmark = pytest.mark.page
AXE = ROOT / ".axe" / "node_modules" / "axe-core" / "axe.min.js"
PRICES = "#/memory/round-prices-once-at-the-very-end"
READ_ME = "[![build passing](https://ci.example/b.svg)](https://ci.example/)\n\n- [x] done\n  - nested\n- [ ] open\n\n```python\ndef f():\n    return 1  # why\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"


def form(tab: Tab, label: str):
    return tab.page.locator(".memory-form").get_by_label(label)


def saved(tab: Tab, words: str) -> None:
    tab.page.wait_for_selector(f"#toast.shown >> text={words}")


def test_a_memory_is_added_with_the_keyboard_and_shown(tab, sample):
    page = tab.open()
    page.keyboard.press("n")
    page.wait_for_selector(".memory-form")
    page.keyboard.type("Quays have numbers")
    form(tab, "Text, in Markdown").fill(READ_ME)
    form(tab, "When to use it").fill("quay\nberth number")
    form(tab, "Kind").select_option("lesson")
    form(tab, "Importance").select_option("high")
    form(tab, "Tags").fill("quay, harbour ,")
    tab.go("#/graph")  # what was typed is still there after a look at something else
    page.wait_for_selector(".canvas")
    tab.go("#/new")
    page.wait_for_selector(".memory-form")
    assert form(tab, "Title").input_value() == "Quays have numbers"
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".memory h1 >> text=Quays have numbers")
    saved(tab, "Added.")
    prose = page.locator(".prose")
    assert prose.locator(".picture").inner_text() == "build passing" and prose.locator("img").count() == 0
    assert prose.locator("li li").inner_text() == "nested"
    assert prose.locator("td").count() == 2
    with Repository.open(str(sample)) as repository:
        memory = repository.get("quays-have-numbers")
        assert (memory.kind, memory.importance, memory.tags) == ("lesson", "high", ("quay", "harbour"))
        assert memory.when == ("quay", "berth number") and repository.beliefs.trust(memory).standing.verified
    page.keyboard.press("n")
    page.wait_for_selector(".memory-form")
    assert form(tab, "Title").input_value() == ""
    page.get_by_role("button", name="Add memory").click()
    saved(tab, "a memory needs a title or a text")
    tab.complaints.clear()  # Chromium itself notes each 400


def test_an_edit_is_an_amendment(tab, sample):
    page = tab.open(PRICES)
    page.wait_for_selector(".prose")
    page.keyboard.press("e")
    page.wait_for_selector(".memory-form")
    form(tab, "Title").fill("Round prices once")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector(".memory h1 >> text=Round prices once")
    saved(tab, "Saved as an amendment.")
    page.wait_for_selector(".history >> text=Round prices once, at the very end")
    with Repository.open(str(sample), via="person") as repository:
        assert repository.get("round-prices-once-at-the-very-end").title == "Round prices once"
        page.keyboard.press("e")
        page.wait_for_selector(".memory-form")
        form(tab, "Title").fill("Mine")
        tab.go("#/graph")
        page.wait_for_selector(".canvas")
        repository.amend("round-prices-once-at-the-very-end", importance="critical", tags=("money",))
        tab.go(PRICES)
        page.wait_for_selector(".notice >> text=You changed this memory and did not save it.")
        page.keyboard.press("e")
        page.wait_for_selector(".unsaved >> text=Not saved yet: title.")
        assert form(tab, "Tags").input_value() == "money"
        repository.amend("round-prices-once-at-the-very-end", title="Theirs", importance="low")
        page.get_by_role("button", name="Save").click()
        saved(tab, "somebody else changed the title meanwhile")
        page.wait_for_selector(".newer >> text=Theirs")
        assert form(tab, "Title").input_value() == "Mine"
        page.get_by_role("button", name="Save").click()
        page.wait_for_selector(".memory h1 >> text=Mine")
        memory = repository.get("round-prices-once-at-the-very-end")
        assert (memory.title, memory.importance, memory.tags) == ("Mine", "low", ("money",))
        repository.amend("round-prices-once-at-the-very-end", title="A long title " * 20 + "ends here")
        page.keyboard.press("e")
        page.wait_for_selector(".memory-form")
        assert form(tab, "Title").input_value().endswith("ends here")
        page.get_by_role("button", name="Cancel").click()
    tab.complaints.clear()  # Chromium itself notes each 409


def test_archive_restore_and_delete(tab, sample):
    page = tab.open(PRICES)
    page.wait_for_selector(".prose")
    page.keyboard.press("a")
    page.get_by_label("Reason", exact=True).fill("no longer so")
    page.keyboard.press("Enter")
    page.wait_for_selector(".notice >> text=Not in use")
    saved(tab, "Archived")
    page.get_by_role("button", name="Restore…").click()
    page.locator("[data-confirm=restore]").click()
    page.wait_for_selector("[data-act=archive]")
    page.get_by_role("button", name="Delete…").click()
    page.locator("[data-confirm=delete]").click()
    page.wait_for_selector(".memory h1 >> text=(deleted)")
    with Repository.open(str(sample)) as repository:
        memory = repository.get("round-prices-once-at-the-very-end")
        assert memory.status == "deleted"
        assert "no longer so" in str([step.entry.extra for step in repository.history(memory.id)])


def test_a_link_is_made_and_removed(tab, sample):
    page = tab.open(PRICES)
    page.wait_for_selector(".prose")
    page.keyboard.press("l")
    page.get_by_label("The other memory").fill("midsummer outage")
    page.locator(".found button", has_text="The outage of midsummer").click()
    row = page.locator("aside li", has_text="The outage of midsummer")
    row.wait_for()
    saved(tab, "Linked to")
    row.get_by_role("button").click()
    row.wait_for(state="detached")
    with Repository.open(str(sample)) as repository:
        assert len(repository.get("round-prices-once-at-the-very-end").links) == 1


def test_several_memories_are_archived_at_once_and_undone_where_possible(tab, sample):
    page = tab.open()
    page.select_option("[data-filter=tag]", "weather")
    page.wait_for_function("() => document.querySelectorAll('.list a').length === 3")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.locator(".choose").nth(1).check()
    assert "2 memories selected" in page.locator(".bulk").inner_text()
    page.locator(".bulk [data-bulk=archive]").click()
    page.wait_for_function("() => document.querySelectorAll('.list a').length === 1")
    saved(tab, "2 memories archived.")
    assert page.locator(".bulk").is_hidden()
    page.keyboard.press("u")
    page.wait_for_function("() => document.querySelectorAll('.list a').length === 3")


def test_everything_that_waits_is_dropped_at_once(tab, sample):
    leave_work(sample)
    page = tab.open("#/review")
    page.get_by_role("button", name="Select all").click()
    page.get_by_label("Reason for all").fill("not now")
    page.locator(".bulk [data-bulk=drop]").click()
    page.wait_for_selector("text=Nothing to review")
    saved(tab, "5 items dropped.")
    with Repository.open(str(sample)) as repository:
        assert repository.get("the-harbour-api-allows-ten-calls-a-second").status == "archived"
        assert not repository.get("errors-are-problem-documents").proposed and repository.waiting() == []


def test_a_review_shows_every_word_or_says_that_there_is_more(tab, sample):
    with Repository.open(str(sample), via="agent") as agent:
        long = "\n\n".join(f"Paragraph {number} of a long text." for number in range(80))
        written = agent.add(Entry(title="A long story", body=f"{long}\n\nThe end."))
        agent.beliefs.quarantine(written.id, "from outside")
        agent.amend("errors-are-problem-documents", body="RFC 7807, with a `type` that leads to a page in the handbook. Clients match on `type`, never on the text.")  # fmt: skip
    page = tab.open("#/review")
    card = page.locator(".card", has_text="Errors are problem documents")
    card.wait_for()
    assert card.locator(".difference del").all_inner_texts() == ["9457,"]
    assert card.locator(".difference ins").all_inner_texts() == ["7807,"]
    page.locator(".queue a", has_text="A long story").click()
    story = page.locator(".card", has=page.locator("h2", has_text="A long story"))
    more = story.get_by_role("button", name="Show the full text")
    more.wait_for()
    more.click()
    end = story.get_by_text("The end.")
    shown, place = end.bounding_box(), story.locator(".prose").bounding_box()
    assert shown["y"] + shown["height"] <= place["y"] + place["height"] + 1
    cut = page.evaluate("""() => [...document.querySelectorAll('.waiting .card *')].filter(element => {
        const style = getComputedStyle(element);
        return style.overflowY !== 'visible' && element.scrollHeight > element.clientHeight + 2 && !element.closest('.folded') && !element.matches('pre, input, table');
    }).map(element => element.className)""")
    assert cut == []


def test_health_leads_to_what_to_do(tab, sample):
    leave_work(sample)
    page = tab.open()
    page.keyboard.press("4")
    page.wait_for_selector(".check")
    tiles = {
        tile.inner_text().split("\n")[1]: int(tile.inner_text().split("\n")[0])
        for tile in page.locator(".tiles a").all()
    }
    assert tiles["Stale"] == 1 and tiles["Contradicted"] == 1 and tiles["Without conditions"] > 0
    assert "All sources hold." in page.locator("[data-check=weak]").inner_text(), "a check that found nothing says so"
    page.locator("#check-stale").get_by_role("button", name="Still true").click()
    page.wait_for_selector("#check-stale", state="detached")
    saved(tab, "Confirmed")
    page.locator("#check-unused .choose").first.check()
    page.locator("#check-unused [data-bulk=archive]").click()
    page.wait_for_function(
        "count => Number(document.querySelector('[data-check=unused] b').innerText) === count",
        arg=tiles["Never used"] - 1,
    )
    page.locator("#check-unconditional").get_by_role("link", name="Add a condition").first.click()
    page.wait_for_selector(".memory-form")
    form(tab, "When to use it").fill("mermaid diagram")
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("aside >> text=mermaid diagram")


def test_the_keyboard_help_lists_the_keys_of_the_docs(tab):
    page = tab.open()
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    shown = set(page.locator("dialog kbd").all_inner_texts())
    text = (ROOT / "docs" / "web.md").read_text(encoding="utf-8").partition("## Keyboard")[2].partition("\n## ")[0]
    told = set(re.findall(r"`([^`]+)`", text))
    assert len(told) > 5 and told <= shown


def test_every_view_is_accessible_and_pictured(browser, sample, tmp_path):
    """No violation of axe-core in any view, wide and narrow, light and dark; the pictures stay in $RAWKOMEM_PICTURES."""
    if not AXE.exists():
        pytest.skip("for want of axe-core, which needs npm: make test-page")
    from tools.picture_page import SCHEMES, SIZES, VIEWS, take_all

    leave_work(sample)
    with serving(sample) as server:
        source, found = AXE.read_text(encoding="utf-8"), {}

        def look(page, name: str) -> None:
            if not page.evaluate("Boolean(window.axe)"):
                page.evaluate(source)
            answer = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
            wrong = [f"{one['id']}: {node['html'][:160]}" for one in answer["violations"] for node in one["nodes"][:3]]
            if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                wrong.append("wider than the window")
            if wrong:
                found[name] = wrong

        folder = Path(os.environ.get("RAWKOMEM_PICTURES") or tmp_path)
        taken = take_all(browser, server.address, folder, look)
    assert found == {}
    assert len(taken) == len(VIEWS) * len(SIZES) * len(SCHEMES) and all(file.stat().st_size > 5_000 for file in taken)
