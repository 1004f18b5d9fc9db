"""What is asked about all memories reads the rows that match, not every memory; and the answers stay the same."""

import pytest
from rawkomem.index.catalogue import CITES, memory_of

CITING = "---\nid: mem_cites\ntitle: Retries\ncites: ['code.py#run@0123456789ab']\n---\n\nThree times.\n"
APPLYING = "---\nid: mem_applies\ntitle: Force\nappliesTo:\n  commands: [git push --force]\n---\n\nNever.\n"
GLOB = "---\nid: mem_glob\ntitle: Queries\nwhenToUse: ['src/**/*.sql']\n---\n\nBind values.\n"
PLAIN = (
    "---\nid: mem_plain_{0}\ntitle: Note {0}\nwhenToUse: [note]\n---\n\nGlob src and cites nothing, applies to {0}.\n"
)


@pytest.fixture
def catalogue(repository, memories):
    for name, text in (("citing", CITING), ("applying", APPLYING), ("glob", GLOB)):
        (memories / f"{name}.md").write_text(text)
    for number in range(5):
        (memories / f"plain-{number}.md").write_text(PLAIN.format(number))
    repository.sync()
    return repository.core.catalogue


def plans(catalogue, ask) -> tuple[object, list[str]]:
    """Return the answer of a call, and the plan of each query that it sends."""
    sent = []
    database = catalogue.db
    database.exec_trace = lambda cursor, sql, values: sent.append((sql, values)) or True
    try:
        answer = ask()
    finally:
        database.exec_trace = None
    return answer, [row[3] for query in sent for row in database.execute(f"EXPLAIN QUERY PLAN {query[0]}", query[1])]


def is_small(plan: str) -> bool:
    """Tell whether a step of a plan reads few pages: rows by their id, or an index that holds all that is asked."""
    few = ("COVERING INDEX", "(id=?", "memories_citing", "memories_applying")
    return "memories" not in plan or any(words in plan for words in few)


def test_memories_that_apply_to_acts_are_found_without_reading_the_others(catalogue):
    docs, steps = plans(catalogue, catalogue.docs_applying)
    assert [memory_of(doc).id for doc in docs] == ["mem_applies", "mem_glob"]
    assert steps and all(map(is_small, steps)), steps


def test_memories_that_cite_code_are_found_without_reading_the_others(catalogue):
    ids, steps = plans(catalogue, lambda: catalogue.with_key(CITES))
    assert ids == {"mem_cites"}
    assert steps and all(map(is_small, steps)), steps


def test_a_list_reads_an_index_with_its_columns_in_its_order(catalogue):
    rows, steps = plans(catalogue, catalogue.rows)
    assert len(rows) == 8 and rows == sorted(rows, key=lambda row: (-row.updated, row.id))
    assert steps and all(map(is_small, steps)) and not any("TEMP B-TREE" in step for step in steps), steps
