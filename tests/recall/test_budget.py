"""The text of a prompt never costs more than its budget, in any format."""

import random

import pytest
from rawkomem.model.entries import Task
from rawkomem.recall.inject import pack
from rawkomem.recall.render import FORMS, Page
from rawkomem.recall.signals import Limits, question_of
from rawkomem.text.chunks import count_tokens

from tests.commands import cases
from tests.recall.forgery import Chance
from tests.recall.helpers import item, memory

WORDS = [
    "deploy", "the", "gateway", "after", "3", "migrations,", "never", "before;", "schlägt", "fehl", "部署", "网关", "42",
    "`make`", "(see", "docs/a.md)", "токен", "🙂",
]  # fmt: skip


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 30))).capitalize() + "."


def body(chance: Chance) -> str:
    lines = []
    for _ in range(chance.randint(0, 40)):
        kind = chance.random()
        lines.append(
            f"{'#' * chance.randint(1, 4)} {chance.choice(WORDS)}" if kind < 0.1
            else f"```\n{sentence(chance)}\n```" if kind < 0.15
            else chance.line() if kind < 0.2
            else f"- {sentence(chance)}" if kind < 0.4
            else " ".join(sentence(chance) for _ in range(chance.randint(1, 5))) + "\n"
        )  # fmt: skip
    return "\n".join(lines)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(cases(8, 1)))
def test_no_format_costs_more_than_the_budget(form, seed):
    chance = Chance(seed)
    for _ in range(cases(25, 10)):
        ranked = [
            item(
                memory(f"m{number}", title=sentence(chance), body=body(chance), path=f"memories/{number}.md", line=1),
                chance.random(),
            )
            for number in range(chance.randint(1, 7))
        ]
        budget = chance.choice([chance.randint(10, 200), chance.randint(10, 3_000)])
        page = Page(form, question_of("deploy the gateway"), chance.random() < 0.5)
        packed = pack(ranked, Limits(7, budget=budget - page.frame), page.cost, page.shorter)
        text = page.write([*map(page.shown, packed.items)])
        assert count_tokens(text) <= budget, (form, budget, text)
        assert len(packed.items) + len(packed.left_out) == len(ranked)


def test_what_is_too_long_is_shown_with_fewer_sentences(memories, repository):
    rest = " ".join(f"Sentence {n} tells of other things." for n in range(30))
    (memories / "gateway.md").write_text(
        f"---\ntitle: Gateway\nwhenToUse: gateway\n---\n\n{rest} The gateway drains for ninety seconds. {rest}\n"
    )
    full = repository.inject(Task("restart the gateway"), form="xml")
    assert 100 < full.tokens <= 2_000
    for budget in (60, 80, 100):
        tight = repository.inject(Task("how long does the gateway drain"), form="xml", budget=budget)
        assert tight.tokens <= budget and "The gateway drains for ninety seconds." in tight.text and "…" in tight.text
    none = repository.inject(Task("restart the gateway"), form="xml", budget=30)
    assert none.text == "" and none.left_out[0].out.code == "over-budget"
