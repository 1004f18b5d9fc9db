"""The page in real headless Chromium: what people do with it, with a mouse and without, and what others try with it."""

import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from math import hypot

import pytest
from rawkomem.files.installation import plan_start, write_start
from rawkomem.model.entries import Draft, Entry
from rawkomem.repository import Repository

from tests.conftest import ROOT, shared
from tests.faces.web.conftest import serving
from tests.faces.web.hostile import HOSTILE
from tests.faces.web.tabs import DRAWN, SOON, Tab

pytestmark = pytest.mark.page


def test_the_token_leaves_the_address(tab):
    page = tab.open()
    assert page.url == tab.origin + "#/"
    assert not [url for url in tab.asked if tab.server.door.token in url]
    page.reload()
    page.wait_for_selector(".list a")
    assert page.context.cookies() == []


def test_search_as_you_type_and_open(tab):
    page = tab.open()
    page.locator("#search").press_sequentially("rounding pri", delay=15)
    page.wait_for_selector(".list a >> text=Round prices once")
    assert page.locator(".list a").first.inner_text().startswith("Round prices once")
    assert page.locator(".list mark").first.inner_text().lower() == "rounding" or page.locator(".list mark").count()
    page.locator(".list a").first.click()
    page.wait_for_selector("h1 >> text=Round prices once, at the very end")
    told = page.locator("article.memory").inner_text()
    for part in (
        "Trust",
        "a person vouches for it",
        "pricing.py#total",
        "fresh",
        "supports",
        "History",
        "reinforce",
        "the auditors found",
    ):
        assert part in told, part
    page.locator(".prose a").click()
    page.wait_for_selector("h1 >> text=Floats made the invoice differ")


def test_enter_opens_what_was_typed_not_what_was_listed(tab):
    page = tab.open()
    page.fill("#search", "rounding prices")
    page.wait_for_selector(".list a >> nth=0 >> text=Round prices once")
    page.fill("#search", "date picker without a mouse")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 >> text=The date picker must work without a mouse")
    tab.go("#/graph")
    page.wait_for_selector(DRAWN)
    page.fill("#search", "trigram index")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 >> text=Searching for a route is slow")


def test_an_answer_that_comes_late_changes_nothing(tab):
    page = tab.open()
    graph = tab.hold("graph")
    tab.go("#/graph")
    tab.until_asked(graph)
    tab.go("#/health")
    page.wait_for_selector(".check")
    tab.let_go(graph)
    page.wait_for_timeout(400)
    assert page.locator(".check").count() > 0 and page.locator(".canvas").count() == 0


def test_leaving_before_the_list_arrives(tab):
    page = tab.open("#/health")
    page.wait_for_selector(".check")
    lists = tab.hold("memories")
    tab.go("#/memory/errors-are-problem-documents")
    tab.until_asked(lists)
    tab.go("#/review")
    page.wait_for_selector(".waiting .card")
    tab.let_go(lists)
    page.wait_for_timeout(400)
    assert page.locator(".waiting > .card").count() == 1 and page.locator(".list, .failure").count() == 0


def test_of_two_memories_the_last_chosen_is_shown(tab):
    page = tab.open("#/graph")
    page.wait_for_selector(DRAWN)
    lists = tab.hold("memories")
    tab.go("#/memory/errors-are-problem-documents")
    tab.until_asked(lists)
    tab.go("#/memory/api-versions-are-dates")
    page.wait_for_selector("h1 >> text=API versions are dates")
    tab.let_go(lists)
    page.wait_for_selector(".list a")
    page.wait_for_timeout(400)
    assert page.locator(".memory h1").inner_text() == "API versions are dates"


def test_a_failure_that_comes_late_changes_nothing(tab):
    page = tab.open()
    graph = tab.hold("graph")
    tab.go("#/graph")
    tab.until_asked(graph)
    tab.go("#/review")
    page.wait_for_selector(".waiting .card")
    for route in graph:
        route.abort()
    page.wait_for_timeout(300)
    assert page.locator(".failure").count() == 0 and page.locator(".waiting > .card").count() == 1
    tab.complaints.clear()  # Chromium itself notes the answer that did not come


def test_the_decision_on_a_long_text_is_in_sight(tab, sample):
    repository = Repository.open(str(sample))
    long = repository.add(Entry(title="Long", body="A line of many.\n\n" * 20, kind="reflection"))
    repository.beliefs.quarantine(long.id, "to be looked at")
    page = tab.open()
    page.set_viewport_size({"width": 1280, "height": 520})
    tab.go(f"#/review/quarantined:{long.id}")
    page.wait_for_selector(".waiting .card >> text=A line of many")
    place = page.locator(".card [data-review=keep]").bounding_box()
    assert place["y"] + place["height"] <= 520


def test_what_others_write_is_seen(tab, sample):
    page = tab.open()
    repository = Repository.open(str(sample))
    number = int(page.locator(".home h1").inner_text().split()[0])
    assert number == page.locator(".list a").count()
    assert "Not in use: 1 superseded, 2 quarantined." in page.locator(".home").inner_text()

    repository.add(Entry(title="Written meanwhile", body="By another.", kind="reflection", tags=("meanwhile",)))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_selector(".list a >> text=Written meanwhile")
    page.wait_for_function(
        "number => document.querySelector('.home h1').innerText.startsWith(`${number} `)", arg=number + 1
    )
    page.wait_for_selector("[data-filter=tag] option[value=meanwhile]", state="attached")

    repository.beliefs.quarantine("written-meanwhile", "to be looked at")
    tab.go("#/health")
    page.wait_for_function("() => document.querySelector('#waiting').innerText === '5'")
    repository.close()


def test_filters(tab):
    page = tab.open()
    page.select_option("[data-filter=kind]", "skill")
    page.wait_for_function("() => document.querySelectorAll('.list a').length === 4")
    page.select_option("[data-filter=importance]", "high")
    page.wait_for_function("() => document.querySelectorAll('.list a').length === 2")
    page.get_by_role("button", name="Clear").click()
    page.wait_for_function("() => document.querySelectorAll('.list a').length > 40")
    page.select_option("[data-filter=status]", "superseded")
    page.wait_for_selector(".list a >> text=Deploys go out before ten")
    page.locator(".list a").click()
    page.wait_for_selector(".notice >> text=superseded by")
    page.select_option("[data-filter=status]", "")
    page.select_option("[data-filter=tag]", "weather")
    page.select_option("[data-filter=type]", "correction")
    page.wait_for_selector(".list >> text=Nothing found")


def test_why_and_why_not(tab):
    page = tab.open("#/memory/round-prices-once-at-the-very-end")
    page.wait_for_selector("#task")
    page.fill("#task", "fix the rounding of the price")
    page.wait_for_selector(".verdict .yes")
    assert page.locator(".factors li").count() >= 2
    page.fill("#task", "water the flowers in the office")
    page.wait_for_selector(".verdict .no")
    tab.go("#/memory/errors-are-problem-documents")
    page.wait_for_selector("h1 >> text=Errors are problem documents")
    assert page.input_value("#task") == "water the flowers in the office"


def test_feedback(tab, sample):
    page = tab.open("#/memory/round-prices-once-at-the-very-end")
    page.locator("[data-vote=helpful]").click()
    page.wait_for_selector("[data-vote=helpful] b >> text=4")
    page.locator("[data-vote=harmful]").click()
    page.wait_for_selector("[data-vote=harmful] b >> text=1")
    memory = Repository.open(str(sample)).get("round-prices-once-at-the-very-end")
    assert (memory.helpful, memory.harmful) == (4, 1)


def test_a_double_click_votes_once(tab, sample):
    page = tab.open("#/memory/round-prices-once-at-the-very-end")
    votes = tab.hold("feedback")
    page.locator("[data-vote=helpful]").dblclick()
    page.locator("[data-vote=harmful]").click(force=True)
    tab.until_asked(votes)
    assert len(votes) == 1
    tab.let_go(votes)
    page.wait_for_selector("[data-vote=helpful] b >> text=4")
    assert page.locator("[data-vote=helpful]").is_enabled() and "Helpful" in tab.focused()
    memory = Repository.open(str(sample)).get("round-prices-once-at-the-very-end")
    assert (memory.helpful, memory.harmful) == (4, 0)


def review(tab: Tab, waits: str):
    """Go to an item of a kind that waits, with the key for "later"."""
    for _ in range(6):
        tab.page.wait_for_selector(".waiting > .card")
        if tab.page.locator(f".waiting > [data-waits={waits}]").count():
            return tab.page.locator(".waiting > .card")
        place = tab.page.locator(".waiting .lead").inner_text()
        tab.page.keyboard.press("l")
        tab.page.wait_for_function("place => document.querySelector('.waiting .lead').innerText !== place", arg=place)
    raise AssertionError(f"no {waits} waits")


def test_the_walk_decides_one_item_after_the_other_with_single_keys(tab, sample):
    page = tab.open()
    assert page.locator("#waiting").inner_text() == "4"
    page.keyboard.press("3")
    card = review(tab, "conflict")
    told = card.inner_text()
    assert "Held back" in told and "crossing seat hold = 15" in told and "insufficient" not in told
    assert "Keep: use it in place of the other" in told
    page.keyboard.press("k")
    page.wait_for_selector("#toast.shown >> text=Kept: Seats are held for thirty minutes")
    card = review(tab, "draft")
    assert "I renamed the port" in card.inner_text() and "It replaces" in card.inner_text()
    page.keyboard.press("e")
    page.locator(".edit").get_by_label("Title").fill("Port codes are capitals")
    page.keyboard.press("Escape")
    page.wait_for_selector("[data-review=edit] >> text=not saved")
    page.keyboard.press("e")
    assert "Not saved yet: title." in card.inner_text()
    page.locator(".edit").get_by_label("When to use it").fill("port\nharbour")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#toast.shown >> text=Kept with your words")
    page.wait_for_selector(".waiting h2 >> text=Seed the fixtures")
    page.keyboard.press("d")
    page.wait_for_selector("#toast.shown >> text=Dropped: Seed the fixtures")
    page.wait_for_selector("text=Nothing to review")
    assert page.locator("#waiting").is_hidden()
    page.keyboard.press("u")
    page.wait_for_selector(".waiting h2 >> text=Seed the fixtures")
    assert page.locator("#waiting").inner_text() == "1"
    with Repository.open(str(sample)) as repository:
        kept = repository.get("port-codes-are-capitals")
        assert kept.when == ("port", "harbour") and "CPH, not cph" in kept.extra["quote"]
        assert repository.beliefs.trust(kept).standing.verified and len(repository.waiting()) == 1
        assert repository.get("seats-are-held-for-fifteen-minutes").status == "superseded"
        assert repository.get("the-harbour-api-allows-ten-calls-a-second").superseded_by == kept.id


def test_a_proposed_change_is_shown_on_its_memory_and_declined(tab, sample):
    with Repository.open(str(sample), via="agent") as agent:
        agent.amend("round-prices-once-at-the-very-end", Entry(body="Round prices wherever you like."))
    page = tab.open("#/memory/round-prices-once-at-the-very-end")
    card = page.locator(".memory [data-waits=proposal]")
    card.wait_for()
    assert "wherever you like" in "".join(card.locator("ins").all_inner_texts())
    card.get_by_role("button", name="Drop").click()
    card.wait_for(state="detached")
    with Repository.open(str(sample)) as repository:
        memory = repository.get("round-prices-once-at-the-very-end")
        assert "wherever" not in memory.body and not memory.proposed


def test_the_last_of_many_memories_is_reached(browser, tmp_path):
    write_start(plan_start(str(tmp_path)))
    with Repository.open(str(tmp_path)) as repository:
        repository.add_many([Entry(title=f"Note {number}", body="Text.") for number in range(203)])
    with serving(tmp_path) as server:
        tab = Tab(browser, server)
        page = tab.open()
        assert page.locator(".list a").count() == 200
        page.get_by_role("button", name="Show 3 more of 203").click()
        page.wait_for_function("() => document.querySelectorAll('.list a').length === 203")
        tab.until_focused("Note")
        page.context.close()


def test_a_message_covers_no_button_and_waiting_is_shown(tab):
    page = tab.page
    lists = tab.hold("memories")
    page.goto(tab.server.address)
    tab.until_asked(lists)
    page.wait_for_selector(".list .loading >> text=Loading")
    tab.let_go(lists)
    page.wait_for_selector(".list a")
    tab.go("#/review")
    page.wait_for_selector(".waiting > .card")
    page.keyboard.press("k")
    page.wait_for_selector("#toast.shown")
    edges = "[document.querySelector('main').getBoundingClientRect().bottom, document.querySelector('#toast').getBoundingClientRect().top]"
    bottom, top = page.evaluate(edges)
    assert bottom <= top


def test_graph(tab):
    page = tab.open("#/graph")
    page.wait_for_selector(DRAWN)
    drawn = page.evaluate("document.querySelector('.canvas').drawn()")
    nodes = drawn["nodes"]
    assert len(nodes) == 47
    assert min(apart(one, other) - one["r"] - other["r"] for one, other in combinations(nodes, 2)) > 1
    assert all(0 < node["x"] < 1280 and 0 < node["y"] < 740 for node in nodes)
    assert max(node["x"] for node in nodes) - min(node["x"] for node in nodes) > 700  # it fills the window
    check_pulled_together(drawn)
    check_labels(drawn, 25)
    outage = next(node for node in nodes if node["title"] == "The outage of midsummer")
    page.locator(".canvas").click(position={"x": outage["x"], "y": outage["y"]})
    page.wait_for_selector(".node-card >> text=connected with 3 memories")
    page.locator(".node-card .button").click()
    page.wait_for_selector("h1 >> text=The outage of midsummer")
    tab.go("#/graph")
    page.wait_for_selector(DRAWN)
    assert page.evaluate("document.querySelector('.canvas').drawn()") == drawn  # the same picture each time


def apart(one: dict, other: dict) -> float:
    return hypot(one["x"] - other["x"], one["y"] - other["y"])


def check_pulled_together(drawn: dict) -> None:
    """Linked memories lie much closer to each other than others do."""
    nodes = drawn["nodes"]
    linked = [apart(nodes[edge["from"]], nodes[edge["to"]]) for edge in drawn["edges"] if edge["kind"] != "similar"]
    every = [apart(one, other) for one, other in combinations(nodes[:300], 2)]
    assert sum(linked) / len(linked) < 0.35 * sum(every) / len(every)


def check_labels(drawn: dict, least: int) -> None:
    boxes = [label["box"] for label in drawn["labels"]]
    assert len(boxes) >= least
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_a_graph_is_dragged_and_zoomed(tab):
    page = tab.open("#/graph")
    page.wait_for_selector(DRAWN)
    canvas = page.locator(".canvas")
    before = canvas.evaluate("canvas => canvas.drawn().nodes[0]")
    top = canvas.bounding_box()["y"]
    page.mouse.move(before["x"], before["y"] + top)
    page.mouse.down()
    page.mouse.move(before["x"] + 60, before["y"] + top + 40, steps=4)
    page.mouse.up()
    moved = canvas.evaluate("canvas => canvas.drawn().nodes")
    assert abs(moved[0]["x"] - before["x"] - 60) < 3 and abs(moved[0]["y"] - before["y"] - 40) < 3
    page.get_by_role("button", name="Zoom in").click()
    page.keyboard.press("+")
    zoomed = canvas.evaluate("canvas => canvas.drawn().nodes")
    assert apart(zoomed[0], zoomed[1]) > 1.5 * apart(moved[0], moved[1])
    page.keyboard.press("0")
    shown = canvas.evaluate("canvas => canvas.drawn().nodes")
    assert all(0 < node["x"] < 1280 for node in shown)


def crowd(count: int) -> dict:
    """A graph of memories in groups of 40: each is linked to one of its group, a few to another group."""
    item = {
        "kind": "memory",
        "status": "active",
        "importance": "medium",
        "created": 0,
        "updated": 0,
        "by": "",
        "type": "",
    }
    nodes = [
        {
            **item,
            "id": f"m{n}",
            "title": f"Memory number {n} of group {n // 40}",
            "tags": [f"topic-{n // 40}"],
            "excerpt": "",
        }
        for n in range(count)
    ]
    edges = [{"source": f"m{n}", "target": f"m{n - 1 - n % 7 if n % 40 > 7 else n - n % 40}", "type": "related", "weight": 1.0}
             for n in range(count) if n % 40]  # fmt: skip
    edges += [
        {"source": f"m{n}", "target": f"m{(n * 7) % count}", "type": "similar", "weight": 0.6}
        for n in range(0, count, 9)
    ]
    return {"total": count, "nodes": nodes, "edges": [edge for edge in edges if edge["source"] != edge["target"]]}


@pytest.mark.parametrize("count", [10, 2_000])
def test_a_graph_of_few_and_of_very_many(tab, count):
    page = tab.open()
    page.route("**/api/graph", lambda route: route.fulfill(json=crowd(count)))
    tab.go("#/graph")
    page.wait_for_selector(DRAWN, timeout=3 * SOON)
    drawn = page.evaluate("document.querySelector('.canvas').drawn()")
    assert all(0 < node["x"] < 1280 and 0 < node["y"] < 740 for node in drawn["nodes"])
    check_labels(drawn, 10 if count == 10 else 30)
    if count > 10:
        check_pulled_together(drawn)
        named = {label["text"] for label in drawn["labels"] if label["cluster"]}
        assert len(named) == count // 40 and all(name.startswith("#topic-") for name in named)


def test_with_the_keyboard_alone(tab, sample):
    """From the search to a vote, a verdict and a review, without a pointer."""
    page = tab.open()
    press = page.keyboard.press
    press("/")
    page.keyboard.type("rounding prices")
    press("ArrowDown")  # at once: the list may still show an earlier search
    tab.until_focused("Round prices once")
    press("j")
    tab.until_focused("Floats made the invoice")
    press("k")
    tab.until_focused("Round prices once")
    press("Enter")
    page.wait_for_function("() => document.activeElement.tagName === 'H1'")
    press("w")
    page.keyboard.type("rounding of prices")
    press("Enter")
    page.wait_for_selector(".verdict .yes")
    press("Escape")
    assert page.evaluate("document.activeElement.tagName") != "INPUT"
    page.locator("h1").focus()
    for _ in range(30):
        press("Tab")
        if "Helpful" in tab.focused():
            break
    shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert shown != "none"  # one sees where one is
    press("Enter")
    page.wait_for_selector("[data-vote=helpful] b >> text=4")
    press("j")
    page.wait_for_selector("h1 >> text=Floats made the invoice")
    press("Escape")
    page.wait_for_selector(".home")
    tab.until_focused("Floats made the invoice")
    press("2")
    page.wait_for_selector(DRAWN)
    press("ArrowRight")
    press("ArrowRight")
    title = page.locator(".node-card h2").inner_text()
    press("Enter")
    page.wait_for_function("title => document.querySelector('h1')?.innerText === title", arg=title)
    press("3")
    card = review(tab, "quarantined")
    waiting = card.locator("h2").inner_text()
    card.get_by_label("Reason").focus()
    page.keyboard.type("read it, it is so")
    press("Tab")
    tab.until_focused("Keep")
    press("Enter")
    page.wait_for_selector("#toast.shown >> text=Kept")
    press("?")
    page.wait_for_selector("dialog[open]")
    press("Escape")
    assert page.locator("dialog[open]").count() == 0
    repository = Repository.open(str(sample))
    (activated,) = [row for row in repository.list() if row.title == waiting]
    assert repository.get(activated.id).status == "active"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(browser, sample, scheme):
    """WCAG AA: at least 4.5 to 1 between each text and what lies behind it."""
    with serving(sample) as server:
        tab = Tab(browser, server, color_scheme=scheme)
        page = tab.open("#/memory/round-prices-once-at-the-very-end")
        page.wait_for_selector(".prose")
        poor = page.evaluate(CONTRAST)
        for view, part in (("#/review", ".waiting > .card"), ("#/review/draft:drf_5c1d2e3f4a5b", "[data-waits=draft]")):
            tab.go(view)
            page.wait_for_selector(part)
            poor += page.evaluate(CONTRAST)
        for view, part in (
            ("#/", ".home"),
            ("#/memory/nothing-of-that-name", ".failure"),
        ):
            tab.go(view)
            page.wait_for_selector(part)
            poor += page.evaluate(CONTRAST)
        tab.complaints = [line for line in tab.complaints if "404" not in line]  # Chromium itself notes it
        tab.check()
        page.context.close()
    assert poor == []


CONTRAST = """() => {
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => { const [r, g, b] = numbers(colour).map((n) => (n /= 255) <= 0.03928 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = (node) => { for (; node; node = node.parentElement) { const found = getComputedStyle(node).backgroundColor; if ((numbers(found)[3] ?? 1) > 0.9) return found; } return 'rgb(255,255,255)'; };
    const poor = [];
    for (const node of document.querySelectorAll('body *')) {
        if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || !node.checkVisibility() || node.closest('#toast, dialog, svg, option, .skip')) continue;
        const [one, other] = [light(getComputedStyle(node).color), light(behind(node))].sort((a, b) => b - a);
        if ((one + 0.05) / (other + 0.05) < 4.5) poor.push(`${node.tagName}.${node.className}: ${node.textContent.slice(0, 30)} ${((one + 0.05) / (other + 0.05)).toFixed(2)}`);
    }
    return poor;
}"""


CUT_OFF = """() => [...document.querySelectorAll('main *')].filter((one) => one.checkVisibility() && !one.closest('svg, canvas, pre, table, .unseen')
    && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))"""


def test_on_a_phone_nothing_runs_over_the_edge(browser, sample):
    with serving(sample) as server:
        tab = Tab(browser, server)
        tab.page.set_viewport_size({"width": 360, "height": 740})
        with Repository.open(str(sample), via="agent") as agent:
            agent.amend(
                "errors-are-problem-documents", body=f"See https://example.org/{'long' * 60} and | a | table |."
            )
        for view in ("", "#/memory/round-prices-once-at-the-very-end", "#/review", "#/review/draft:drf_5c1d2e3f4a5b", "#/health", "#/new",
                     "#/graph"):  # fmt: skip
            tab.open(view) if not view else tab.go(view)
            tab.page.wait_for_timeout(400)
            assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
            assert tab.page.evaluate(CUT_OFF) == [], view
            assert tab.page.evaluate(
                "document.querySelector('nav a:last-of-type').getBoundingClientRect().right <= innerWidth"
            )
        tab.page.wait_for_selector(DRAWN)
        drawn = tab.page.evaluate("document.querySelector('.canvas').drawn()")
        check_labels(drawn, 5)
        assert all(0 < node["x"] < 360 for node in drawn["nodes"])
        assert (
            max(node["x"] for node in drawn["nodes"]) - min(node["x"] for node in drawn["nodes"]) > 240
        )  # the graph fills it
        tab.go("#/memory/round-prices-once-at-the-very-end")
        tab.page.get_by_role("button", name="← All memories").click()
        tab.page.wait_for_selector(".list a")
        tab.check()


def test_an_empty_repository_says_how_to_start(browser, tmp_path):
    write_start(plan_start(str(tmp_path)))
    with serving(tmp_path) as server:
        tab = Tab(browser, server)
        page = tab.open()
        page.wait_for_selector("text=No memories yet")
        for view, told in (
            ("graph", "Nothing to draw yet"),
            ("review", "Nothing to review"),
            ("health", "No memories yet"),
        ):
            tab.go(f"#/{view}")
            page.wait_for_selector(f"text={told}")
        tab.check()


def test_errors_are_told(tab):
    page = tab.open("#/memory/nothing-of-that-name")
    page.wait_for_selector(".failure >> text=no memory")
    page.evaluate("sessionStorage.setItem('rawkomem-token', 'wrong')")
    page.reload()
    page.wait_for_selector("text=This tab has no access")
    tab.complaints.clear()  # Chromium itself notes each 404 and 401


def test_a_server_that_stopped_is_told(browser, sample):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "rawkomem", "browse", "--no-open"]
    with subprocess.Popen(command, cwd=sample, env=env, stdout=subprocess.PIPE, text=True) as process:
        page = browser.new_page()
        page.goto(process.stdout.readline().strip())
        page.wait_for_selector(".list a")
        page.keyboard.press("3")
        page.wait_for_selector(".notice >> text=Your decisions count as an agent")
        page.keyboard.press("1")
        page.wait_for_selector(".list a")
        process.terminate()
        process.wait(20)
        page.fill("#search", "prices")
        page.wait_for_selector("text=The server does not answer", timeout=SOON)
        page.close()


def hostile_project(folder):
    """Every hostile text as body, title, tag, condition and finder; and the odd files, where they are at hand."""
    write_start(plan_start(str(folder)))
    memories = folder / ".rawko" / "memories"
    for number, text in enumerate(HOSTILE):
        one_line = text.replace("\\", "").replace('"', "'").replace("\n", " ").replace("\t", " ")[:200]
        fields = f'title: "{one_line}"\nwhenToUse: ["{one_line}"]\ntags: ["{one_line[:60]}"]\ndiscoveredBy: "{one_line[:60]}"\n'
        dated = f"{fields}discoveredAt: 2026-01-{number % 28 + 1:02d}\nrelatedMemories: [hostile-{(number + 1) % len(HOSTILE)}]\n"
        (memories / f"hostile-{number}.md").write_text(f"---\n{dated}---\n\n{text}\n", encoding="utf-8")
    for odd in sorted(shared("data/odd_md").glob("*.md")):
        shutil.copy(odd, memories / odd.name)
    return folder


def test_nothing_that_memories_say_runs_or_leaves(browser, tmp_path):
    with serving(hostile_project(tmp_path)) as server:
        tab = Tab(browser, server)
        page = tab.open()
        repository = Repository.open(str(tmp_path))
        repository.drafts.store.put(
            Draft(id=f"drf_{number}", kind="rule", said=text, before=text, title=text, text=f"{text}\n", when=(text,))
            for number, text in enumerate(HOSTILE)
        )
        ids = [row.id for row in repository.list()]
        assert len(ids) >= len(HOSTILE)
        for id in ids:
            tab.go(f"#/memory/{id.replace('#', '%23')}")
            page.wait_for_function("id => document.querySelector('.place')?.innerText.includes(id)", arg=id)
            assert page.evaluate(
                "[...document.querySelectorAll('.prose *')].every(e => !/^(SCRIPT|IMG|IFRAME|STYLE|FORM|SVG|LINK|META|BASE|OBJECT)$/i.test(e.tagName))"
            )
            for link in page.locator(".prose a[href^='#']").all():
                assert link.get_attribute("href").startswith("#/memory/")
        for view in ("graph", "review", "health", ""):
            tab.go(f"#/{view}")
            page.wait_for_timeout(500)
        page.fill("#search", HOSTILE[1])
        page.wait_for_timeout(500)
        assert page.evaluate("window.hacked") is None
        tab.check()


def test_even_markup_that_got_through_would_not_run(tab):
    """The policy of the page, not only the cleaning of Markdown, keeps scripts out."""
    page = tab.open()
    said = page.evaluate("""() => {
        const element = document.createElement('div');
        try { element.innerHTML = '<img src=x onerror="window.hacked=1">'; } catch (error) { return error.name; }
        document.body.append(element);
        return 'put';
    }""")
    assert said == "TypeError"  # trusted types
    page.evaluate(
        "const s = document.createElement('script'); try { s.text = 'window.hacked = 1'; document.body.append(s); } catch {}"
    )
    assert page.evaluate("fetch('https://evil.example/').then(() => 'sent', () => 'refused')") == "refused"
    assert page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in line for line in tab.complaints)
    tab.complaints.clear()
    tab.asked.clear()


ATTACK = """<!doctype html><body><script>
const target = location.hash.slice(1), id = 'round-prices-once-at-the-very-end';
const body = JSON.stringify({ id, signal: 'harmful' });
const tries = [
  () => fetch(target + 'api/feedback', { method: 'POST', mode: 'no-cors', body }),
  () => fetch(target + 'api/feedback', { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'Content-Type': 'text/plain' }, body }),
  () => fetch(target + 'api/feedback', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Rawkomem': '1' }, body }),
  () => fetch(target + 'api/overview').then((answer) => answer.text()),
  () => navigator.sendBeacon(target + 'api/feedback', body),
  () => new Promise((done) => { const frame = document.createElement('iframe'); frame.name = 'f'; frame.onload = done; document.body.append(frame);
    const form = document.createElement('form'); form.method = 'post'; form.enctype = 'text/plain'; form.action = target + 'api/feedback'; form.target = 'f';
    const field = document.createElement('input'); field.name = body.slice(0, -1) + ', "x": "'; field.value = '"}'; form.append(field); document.body.append(form); form.submit(); }),
  () => new Promise((done) => { const s = document.createElement('script'); s.src = target + 'api.js'; s.onload = () => done('loaded'); s.onerror = () => done('refused'); document.body.append(s); }),
];
(async () => { const found = []; for (const attempt of tries) { try { found.push(String(await attempt())); } catch (error) { found.push('refused'); } } document.title = found.join('|'); })();
</script></body>"""


@pytest.fixture
def elsewhere():
    """Another site: a page on another port of this machine that attacks the one it is told."""

    class Attacker(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(ATTACK.encode())

        def log_message(self, *_):
            pass

    site = ThreadingHTTPServer(("127.0.0.1", 0), Attacker)
    threading.Thread(target=site.serve_forever, args=(0.01,), daemon=True).start()
    yield f":{site.server_address[1]}/"
    site.shutdown()
    site.server_close()


@pytest.mark.parametrize("host", ["127.0.0.1", "evil.test"])
def test_another_page_in_the_same_browser_changes_and_learns_nothing(tab, elsewhere, sample, host):
    tab.open()  # the victim has the page open, in the same browser
    before = {path: path.read_bytes() for path in (sample / ".rawko").rglob("*.md")}
    other = tab.page.context.new_page()
    other.goto(f"http://{host}{elsewhere}#{tab.origin}")
    other.wait_for_function("() => document.title !== ''", timeout=SOON)
    assert "northwind" not in other.title()
    assert other.title().endswith("refused")
    assert {path: path.read_bytes() for path in (sample / ".rawko").rglob("*.md")} == before


def test_a_name_that_was_rebound_to_this_machine_is_misdirected(tab):
    tab.open()
    other = tab.page.context.new_page()
    answer = other.goto(f"http://evil.test:{tab.server.door.port}/")
    assert answer.status == 421
    said = other.evaluate(
        "token => fetch('/api/overview', { headers: { Authorization: 'Bearer ' + token } }).then(a => a.status, () => 0)",
        tab.server.door.token,
    )
    assert said in (0, 421)


def test_nobody_can_frame_it(tab, elsewhere):
    tab.open()
    other = tab.page.context.new_page()
    other.goto(f"http://127.0.0.1{elsewhere}#http://127.0.0.1:1/")
    other.evaluate(
        "address => new Promise(done => { const f = document.createElement('iframe'); f.src = address; f.onload = done; document.body.append(f); })",
        tab.origin,
    )
    assert not any(frame.url.startswith(tab.origin) and frame.query_selector("header.top") for frame in other.frames)
