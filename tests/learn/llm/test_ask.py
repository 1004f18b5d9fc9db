"""One JSON object out of whatever a model writes around it; one repair; then a clear failure."""

import pytest
from rawkomem.llm import LlmFailure, UnfitAnswer, ask_for_json, read_json_object

from tests.cpu import cpu_seconds
from tests.embed.server import Server
from tests.learn.llm.models import opened, says, says_json

SCHEMA = {
    "type": "object",
    "required": ["good", "why"],
    "properties": {
        "good": {"type": "boolean"},
        "why": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}
GOOD = {"good": True, "why": "because"}
FENCED = '```json\n{"good": true, "why": "because"}\n```'


@pytest.mark.parametrize(
    "text",
    [
        '{"good": true, "why": "because"}',
        'Sure! Here it is: {"good": true, "why": "because"} I hope that helps.',
        FENCED,
        f"I thought about {{braces}} and {{}} first.\n\n{FENCED}",
    ],
)
def test_an_object_is_found_wherever_it_stands(text):
    assert read_json_object(text, SCHEMA) == GOOD


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I cannot help with that.", "no JSON object"),
        ('{"good": true}', "lacks 'why'"),
        ('{"good": 1, "why": ""}', "good must be boolean"),
        ('{"good": true, "why": 3}', "why must be string or null"),
        ('{"good": true, "why": "", "tags": [1]}', "an item of tags must be string"),
    ],
)
def test_what_is_wrong_is_said(text, said):
    with pytest.raises(UnfitAnswer, match=said.replace("(", r"\(")):
        read_json_object(text, SCHEMA)


@pytest.mark.time
@pytest.mark.parametrize("text", ["{" * 200_000, '{"a":' * 100_000, "{}" * 100_000])
def test_a_hostile_answer_takes_no_time(text):
    def read() -> None:
        with pytest.raises(UnfitAnswer):
            read_json_object(text, SCHEMA)

    assert cpu_seconds(read) < 5


def test_a_broken_answer_is_sent_back_once():
    with Server(says('{"good": tru'), says_json(GOOD)) as server:
        assert ask_for_json(opened(server), "the question", "", SCHEMA) == GOOD
        again = server.seen[-1][2]["messages"][-1]["content"]
        assert "the question" in again and '{"good": tru' in again and "no JSON object" in again


def test_two_broken_answers_are_a_failure():
    with Server(says("I'd rather not."), says('{"good": 1, "why": ""}')) as server:
        with pytest.raises(LlmFailure) as caught:
            ask_for_json(opened(server), "q", "", SCHEMA)
        assert "twice: good must be boolean" in caught.value.message and len(server.seen) == 2
