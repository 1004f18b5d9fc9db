"""Law 3 as a property: after any history of files and syncs, the index is that of a rebuild, in rows and in answers."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rawkomem.files.layout import Layout
from rawkomem.format.blocks import join_entry
from rawkomem.index import sync
from rawkomem.index.stores.sqlite import WORD_TABLES

from tests.commands import cases
from tests.files.odd_more import SECRETS
from tests.index.digest import DIGEST_PARTS
from tests.torture.helpers import assert_equals_rebuild, change, index_of, memory

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # every sync waits for the disk
NAMES = ("memories/a.md", "memories/b.md", "memories/lessons/c.md", "traces/2026-01/d.md", "archive/a.md")
TEXTS = (
    memory("Apple", "About apples.", id="mem_1", discoveredAt="2026-01-01"),
    memory("Banana", "About bananas and login.", id="mem_2"),
    memory("No id", "zebra", whenToUse="[auth|login, how to deploy]", tags="[x, y]"),
    memory("Apple", "Another text under the same id.", id="mem_1"),
    memory("Long", "# One\n\n" + "apple " * 300 + "\n\n# Two\n\n" + "banana " * 300, importance="high"),
    memory("Two", "first") + "\n---\n\n" + memory("Second", "zebra crossing", id="mem_3"),
    memory("Talk") + "".join(f"\n---\n\n{memory(f'Turn {n}', f'apple number {n}')}" for n in range(6)),
    change("amend", "mem_1", "Amended: about zebras.", at="2026-02-01", title="Amended"),
    change("amend", "mem_2", at="2026-02-02", tags="[z]"),
    change("delete", "mem_1", at="2026-03-01"),
    change("delete", "a", at="2026-03-01"),
    change("feedback", "mem_2", signal="helpful"),
    change("archive", "mem_3", reason="old"),
    memory("Typed", "apple", id="mem_4", type="decision", entities="[project:api, person:mark]", session="s1"),
    change("amend", "mem_4", at="2026-02-03", type="insight", entity="project:web", category="fact"),
    change("validity", "mem_4", at="2026-02-04", validUntil="2026-05-01"),
    memory("ᚠᚢᚦ", "ᚨᚱᚲ"),
    memory("Claim", "apple", id="mem_5", claim="{subject: s, predicate: p, value: v}", conflictsWith="[mem_1]"),
    memory("Another", "zebra", id="mem_5", claim="{subject: t, predicate: p, value: v}"),
    change("quarantine", "mem_5", reason="odd", conflictsWith="[mem_1, mem_2]"),
    change("supersede", "mem_2", supersededBy="mem_1"),
    change("supersede", "mem_1", at="2026-02-09", supersededBy="mem_2"),
    change("supersede", "mem_4", at="2026-02-09", supersededBy="mem_2"),
    memory("Old", "login", id="mem_3", supersededBy="mem_4"),
    memory("Leak", f"The token is {SECRETS['github']}."),
    memory("Conflict", "<<<<<<< HEAD\napple\n=======\nbanana\n>>>>>>> other"),
    memory("Deleted at once", "apple") + "\n---\n\n" + change("delete", "b"),
    "no frontmatter: login",
    "---\ntitle: [\n---\nbroken\n",
    "",
    "\0binary",
)

NAME, TEXT = st.sampled_from(NAMES), st.sampled_from(TEXTS)
OPERATIONS = st.one_of(
    st.tuples(st.just("write"), NAME, TEXT),
    st.tuples(st.just("save"), NAME, TEXT),
    st.tuples(st.just("append"), NAME, TEXT),
    st.tuples(st.just("rename"), NAME, NAME),
    st.tuples(st.just("remove"), NAME, NAME),
    st.tuples(st.just("touch"), NAME, NAME),
    st.tuples(st.just("sync"), NAME, NAME),
    st.tuples(st.just("sync"), NAME, NAME),
)


def carry_out(root: Path, operation: str, name: str, argument: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if operation == "write":
        file.write_text(argument, "utf-8")
    elif operation == "save":
        temporary = file.with_suffix(".tmp")
        temporary.write_text(argument, "utf-8")
        temporary.replace(file)
    elif operation == "append":
        old = file.read_text("utf-8") if file.exists() else ""
        file.write_text(join_entry(old, argument), "utf-8")
    elif file.exists() and operation == "rename":
        (root / argument).parent.mkdir(parents=True, exist_ok=True)
        file.rename(root / argument)
    elif file.exists() and operation == "remove":
        file.unlink()
    elif file.exists() and operation == "touch":
        os.utime(file)


def check_law(operations) -> None:
    project = tempfile.mkdtemp(dir=MEMORY)
    try:
        root = Path(project, ".rawko")
        (root / "memories").mkdir(parents=True)
        index = index_of(Layout(str(root)))
        for operation, name, argument in operations:
            if operation == "sync":
                index.refresh()
            else:
                carry_out(root, operation, name, argument)
        index.refresh()
        assert_equals_rebuild(index)
    finally:
        shutil.rmtree(project)


def test_the_digest_covers_every_table_and_column(repository, memories):
    """A table or column that is added must be compared as well, or be left out here with a reason."""
    (memories / "a.md").write_text(TEXTS[2], "utf-8")
    repository.sync()
    database = repository.core.index.reading()
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    shadows = {name for name in tables if name.rpartition("_")[0] in WORD_TABLES}
    behind = {
        "deep_fine",
        "deep_coarse",
        "shallow",
    }  # filled in behind; tests/index/contextual/test_fill.py compares them
    authorship = {"introduced", "committed", "vouched", "authorship"}  # from git, not from the files
    tables -= behind | authorship
    assert tables - shadows - {"meta"} == set(DIGEST_PARTS) - {"fingerprint"}, (
        "meta: listing and inode depend on history"
    )
    left_out = {"n", "document", "condition", "stamp"}  # row numbers and time stamps
    for table in tables - shadows - {"meta", "memories", *WORD_TABLES}:
        columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")} - left_out
        assert all(column in DIGEST_PARTS[table] for column in columns), (table, columns)


ANYTHING = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=cases(50, 10), **ANYTHING)
@given(st.lists(OPERATIONS, max_size=16))
def test_any_history_ends_in_the_index_of_a_rebuild(operations):
    check_law(operations)


@settings(max_examples=cases(20, 4), **ANYTHING)
@given(st.lists(OPERATIONS, min_size=4, max_size=16))
def test_so_it_does_in_batches_of_one_file(operations):
    batch, sync.BATCH_FILES = sync.BATCH_FILES, 1
    try:
        check_law(operations)
    finally:
        sync.BATCH_FILES = batch


@pytest.mark.slow
@settings(max_examples=cases(600, 60), **ANYTHING)
@given(st.lists(OPERATIONS, min_size=5, max_size=40))
def test_any_long_history_ends_in_the_index_of_a_rebuild(operations):
    check_law(operations)
