"""Mutated files: no exception ever, answers in time, and whatever is read can be folded, stored and written again."""

import json
import random

import pytest
from rawkomem.files.reading import read_data
from rawkomem.format.frontmatter import emit_entry
from rawkomem.index.ingest import pieces_of, with_surroundings
from rawkomem.model.entries import Entry
from rawkomem.model.values import as_dict
from rawkomem.redaction.entries import redact_entry
from rawkomem.state.fold import fold

from tests.commands import cases
from tests.conftest import ROOT, shared
from tests.files.odd_more import ODD

SIZE = 6_000  # bytes of a seed: a page, twice what the content rules call ideal
PIECES = [
    b"---", b"---\n", b"\n---\n\n---\ntitle: x\n---\n", b"title: ", b"kind: amend\nabout: a\n", b"whenToUse: [", b"```\n",
    b"~~~\n", b"<!--", b"-->", b"- ", b": ", b"&a ", b"*a", b"!!", b"%YAML 1.2\n", b"...\n", b"|\n", b">-\n", b'"', b"'",
    b"[", b"]", b"{", b"}", b"\t", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"<<<<<<< a\n",
    b"=======\n", b">>>>>>> b\n", b"#", b"\\b", b"\\u0000", b"id: a#" + b"9" * 5000 + b"\n", b"9" * 400, b"importance: no\n",
    b"discoveredAt: 99999-01-01\n", b"at: +1\n", b"validUntil: {}\n", b"from: [[a]]\n", b"signal: [helpful]\n",
]  # fmt: skip
UNICODE = [
    "\u200b", "\u202e", "\ufeff", "\u2028", "\x85", "\x9b31m", "\U000e0041", "\ufe0f", "é", "e\u0301", "ß", "認", "🙂",
    "\u0301" * 50, "а", "ǅ", "İ", "٣", "\u00ad", "\uffff", "\U0010ffff", "\x1b[31m", "\x1b]52;c;",
]  # fmt: skip


def seeds() -> list[bytes]:
    """Good and odd files."""
    files = [*sorted(shared("data/odd_md").glob("*.md")), *(ROOT / "templates").glob("*.md")]
    found = [file.read_bytes() for file in files] + [
        item.data for name, item in ODD.items() if not name.startswith("size-")
    ]
    return [data[:SIZE] for data in found if data]


def mutate(data: bytes, others: list[bytes], source: random.Random) -> bytes:
    for _ in range(source.choice([1, 1, 2, 4])):
        data = source.choice(MUTATIONS)(bytearray(data), others, source)
    return bytes(data[: 2 * SIZE])


def flip(data, others, source):
    for _ in range(source.choice([1, 3, 10])):
        if data:
            data[source.randrange(len(data))] = source.randrange(256)
    return data


def insert(data, others, source):
    at = source.randrange(len(data) + 1)
    return data[:at] + source.choice(PIECES) + data[at:]


def insert_unicode(data, others, source):
    text = data.decode("utf-8", "replace")
    at = source.randrange(len(text) + 1)
    return bytearray((text[:at] + source.choice(UNICODE) + text[at:]).encode())


def remove(data, others, source):
    at = source.randrange(len(data) + 1)
    return data[:at] + data[at + source.randrange(60) :]


def cut_off(data, others, source):
    return data[: source.randrange(len(data) + 1)]


def splice(data, others, source):
    other = source.choice(others)
    return data[: source.randrange(len(data) + 1)] + other[source.randrange(len(other)) :]


def shuffle_lines(data, others, source):
    lines = bytes(data).splitlines(keepends=True)
    source.shuffle(lines)
    return bytearray(b"".join(lines))


def repeat_block(data, others, source):
    start = source.randrange(len(data) + 1)
    return data[:start] + data[start : start + source.randrange(200)] * source.choice([2, 10, 40]) + data[start:]


MUTATIONS = [flip, insert, insert, insert_unicode, remove, cut_off, splice, shuffle_lines, repeat_block]


def assert_usable(reading, data: bytes) -> None:
    """What reading gives is sound: places in the file, and memories that can be folded, stored and cut."""
    lines = data.count(b"\n") + data.count(b"\r") + 1
    assert reading.verdict in ("accept", "accept_warn", "quarantine")
    assert all(1 <= problem.line <= lines and problem.message for problem in reading.problems), reading.problems
    assert reading.entries or reading.verdict == "quarantine"
    by_target: dict[str, list[Entry]] = {}
    for entry in reading.entries:
        assert entry.id and 1 <= entry.line <= lines
        by_target.setdefault(entry.target, []).append(redact_entry(entry) if entry.leaks else entry)
    memories = [memory for memory in map(fold, by_target.values()) if memory]
    json.dumps([as_dict(memory) for memory in memories]).encode()
    with_surroundings([pieces_of(memory) for memory in memories])


def assert_written_again(reading) -> None:
    """An entry that is accepted reads back as the same entry after it is written."""
    for entry in reading.entries[:3]:
        again = read_data(emit_entry(entry).encode(), reading.path).entries
        if len(again) == 1 and not entry.draft and not again[0].draft:
            same = (
                "kind",
                "id",
                "about",
                "title",
                "when",
                "tags",
                "importance",
                "by",
                "found_in",
                "source",
                "extra",
                "body",
            )
            assert [getattr(again[0], key) for key in same] == [getattr(entry, key) for key in same]


def fuzz(count: int, seed: int) -> None:
    source, others = random.Random(seed), seeds()
    for number in range(count):
        data = mutate(source.choice(others), others, source)
        try:
            reading = read_data(data, "memories/x.md")
            assert_usable(reading, data)
            if number % 10 == 0:
                assert_written_again(reading)
        except Exception as failure:
            raise AssertionError(f"seed {seed}, mutant {number}: {data!r}") from failure


def test_some_mutants():
    fuzz(300, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 2 + cases(4, 1)))
def test_thousands_of_mutants(seed):
    fuzz(cases(25_000, 12_000), seed)
