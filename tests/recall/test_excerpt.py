"""What a prompt shows of a memory: the passage that matched, in whole sentences, under its headings."""

import random
import re

import pytest
from rawkomem.model.entries import Task
from rawkomem.recall.excerpt import MAX_WHOLE_CHARS, excerpt
from rawkomem.recall.render import render
from rawkomem.text.chunks import count_tokens

from tests.conftest import ROOT
from tests.recall.helpers import item, memory

BADGES = (
    "[![Build](https://ci.example/badge.svg)](https://ci.example) ![Coverage](https://shields.io/c.svg)\n"
    '<p align="center"><img src="logo.png" width="300"></p>\n'
)


def test_a_short_body_is_shown_whole():
    assert excerpt("Ports", "Redis listens on 6380.\n\nKafka on 9092.") == "Redis listens on 6380.\n\nKafka on 9092."


@pytest.mark.parametrize("first", ["# Ports\n\n", "Ports\n=====\n\n", "**Ports**\n\n", "Ports. ", "<h1>Ports</h1>\n\n"])
def test_the_title_is_not_repeated(first):
    assert excerpt("Ports", f"{first}Redis listens on 6380.") == "Redis listens on 6380."


def test_headings_become_a_path():
    body = "# Ports\n\n## Servers\n\n### Cache\n\nRedis listens on 6380.\n\n### Queue\n\nKafka on 9092.\n\n## Notes\n"
    assert excerpt("Ports", body) == ("Servers › Cache:\nRedis listens on 6380.\n\nQueue:\nKafka on 9092.\n\nNotes:")
    assert "\\#" not in render([item(memory(title="Ports", body=body))], "xml")


def test_badges_images_comments_and_rules_are_left_out():
    body = f"{BADGES}\n<!-- toc\nhidden -->\nIt runs on port 80.<br>\n\n---\n\nSee ![a plan](plan.png) `![kept](x)`."
    shown = excerpt("Web", body)
    assert "It runs on port 80." in shown and "kept" in shown
    assert not any(gone in shown for gone in ("badge", "shields", "img", "<p", "hidden", "---", "<br>"))


def test_long_code_is_cut_by_lines_and_indented():
    code = "\n".join(f"step_{n} --with option_{n}  # comment {n}" for n in range(80))
    code = code.replace("comment 70", "unlock the vault")
    shown = excerpt("Steps", f"Run these.\n\n```sh\n{code}\n```\n\nThen rest.", ("unlock", "vault"), most=300)
    assert "unlock the vault" in shown and "```" not in shown and "…" in shown
    lines = [line.removeprefix("    ") for line in shown.split("\n") if line.startswith("    step")]
    assert lines and all(line in code for line in lines)


def test_several_passages_are_joined_in_order():
    filler = "\n\n".join(f"Nothing of interest happens in paragraph {n}, it fills the page only." for n in range(60))
    body = f"The valve opens at nine bar.\n\n{filler}\n\nThe valve closes at two bar, never below.\n\n{filler}"
    shown = excerpt("Boiler", body, ("valve", "bar"), 0, 300)
    assert shown.index("opens at nine") < shown.index("…") < shown.index("closes at two")


def test_nothing_fits():
    assert excerpt("T", "This sentence is longer than twenty characters. " * 40, most=20) == ""


def documents() -> list[tuple[str, str]]:
    """Sections of this repository's own pages, with what READMEs begin with."""
    found = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        title = text.partition("\n")[0].lstrip("# ")
        parts = re.split(r"(?m)^(?=## )", text)
        for number in range(max(1, len(parts) - 2)):
            found.append((f"{title} {number}", BADGES + "\n" + "".join(parts[number : number + 3])))
        found.append((title, text))
    return found


def asked_of(body: str, chance: random.Random) -> str:
    """A sentence of prose of the body, to ask for."""
    prose = re.sub(r"(?ms)^```.*?^```$|^[|#<\[].*?$", "", body)
    sentences = [one for one in re.split(r"(?<=[.:])\s+", prose) if 40 < len(one) < 200 and "\n\n" not in one]
    return chance.choice(sentences) if sentences else ""


def test_a_hundred_questions_to_long_memories():
    chance, cut_inside, not_shown, asked = random.Random(3), 0, [], 0
    every = documents()
    assert len(every) >= 100
    for title, body in every:
        words = set(re.findall(r"\w+", body))
        for _ in range(1):
            wanted = asked_of(body, chance)
            if not wanted:
                continue
            asked += 1
            query = tuple(dict.fromkeys(re.findall(r"\w{3,}", wanted.lower())))
            shown = excerpt(title, body, query)
            plain = set(re.findall(r"\w+", shown))
            cut_inside += bool(plain - words)
            key = re.sub(r"\W+", "", wanted)
            not_shown += [] if key in re.sub(r"\W+", "", shown) else [wanted]
            assert "shields.io" not in shown and "<img" not in shown and not shown.startswith(f"{title}\n")
            assert len(shown) <= 1.2 * MAX_WHOLE_CHARS
    assert asked >= 100 and cut_inside == 0
    assert len(not_shown) <= asked / 25, (len(not_shown), asked, not_shown[:5])  # about three in a hundred, by chance


def test_the_frame_of_hooks_is_small():
    chance, shares = random.Random(1), []
    for _ in range(50):
        text = ("The gateway drains for ninety seconds before it stops. " * 6)[: chance.randint(200, 300)].rsplit(
            " ", 1
        )[0]
        of = [
            item(memory(f"mem_17691642000{n:02}_3fa9c1", title="Restart the gateway with care", body=text))
            for n in range(2)
        ]
        written = render(of, "xml")
        shares.append(1 - 2 * (len(text) + len(of[0].memory.title)) / len(written))
    assert max(shares) <= 0.25, max(shares)
    assert count_tokens(written) < 200


def test_a_condition_that_fires_shows_the_passage_about_the_task(repository, memories):
    filler = "\n\n".join(
        f"## Part {n}\n\n" + f"Chapter {n} is about gardens and their flowers. " * 12 for n in range(8)
    )
    (memories / "runbook.md").write_text(
        f"---\ntitle: Runbook\nwhenToUse: ['runbook|oncall']\n---\n\n{filler}\n\n## Pager\n\nAcknowledge the pager within five minutes.\n"
    )
    text = repository.inject(Task("oncall: how fast must I acknowledge the pager"), form="xml").text
    assert "Pager:\nAcknowledge the pager within five minutes." in text
