"""A repository that was made to be slow does not make commands slow, and what is left out is said in one line.

The default lane runs small versions of the repositories, the slow lane the full ones. Limits are in starts of Python.
"""

import json
from functools import cache

import pytest
from rawkomem.format import blocks
from rawkomem.index import index as indexing
from rawkomem.index import sync
from rawkomem.recall.signals import MAX_QUESTION_CHARS
from rawkomem.text import conditions
from rawkomem.text.conditions import MAX_ENGINE_WORK

from tests import hostile
from tests.cpu import cpu_seconds, start_seconds
from tests.torture.helpers import assert_equals_rebuild

MAX_FIRST_SECONDS = 3 * indexing.MAX_ANSWER_SYNC_S  # of processor time: a sync, the process that reads ahead, a batch
MAX_QUESTION_STARTS = 60  # of a question on a complete index
MAX_READING_STARTS = 80  # of commands that read
MAX_VOTE_RATIO = 4  # of a vote on a memory with 5,000 entries to one on a memory with one entry
QUESTIONS = (("inject", "deploy the service"), ("search", "deploy the service"))
SMALL = {
    "expensive_regexes": (60, "regex-1"),
    "large_file": (1_000_000, "large"),
    "tiny_files": (1_000, "000/t1"),
    "many_conditions": (60, "when-1"),
    "deep_nesting": (10, "quoted-1"),
    "large_frontmatters": (10, "quoted-none"),
    "many_entries": (6_000, "m1"),
    "many_votes": (3_000, "voted"),
    "many_links": (1_000, "linked"),
    "long_lines": (1, "words-0"),
}


@cache
def start() -> float:
    return start_seconds(9)


def starts(command, *words: str, **given) -> float:
    """Return the processor time of a command, in starts of Python."""
    return cpu_seconds(lambda: command(*words, **given)) / start()


def check_commands(rawkomem, shown: str) -> None:
    """Run the commands of a prompt and of a reader, right after a clone and on a complete index."""
    assert cpu_seconds(lambda: rawkomem.process("inject", "deploy the service")) < MAX_FIRST_SECONDS
    rawkomem("sync")
    for words in QUESTIONS:
        assert starts(rawkomem.process, *words) < MAX_QUESTION_STARTS, words
    asked = json.dumps({"session_id": "s", "prompt": "deploy the service", "cwd": str(rawkomem.folder)})
    assert starts(rawkomem.process, "hook", "claude", "prompt", input=asked) < MAX_QUESTION_STARTS
    for words in (("list",), ("stats",), ("show", shown), ("why", shown), ("history", shown, "--json")):
        assert starts(rawkomem, *words, check=None) < MAX_READING_STARTS, words


@pytest.mark.time
@pytest.mark.parametrize("name", SMALL)
def test_a_small_hostile_repository_slows_no_command(name, memories, rawkomem):
    size, shown = SMALL[name]
    hostile.ALL[name](memories, size)
    check_commands(rawkomem, shown)


@pytest.mark.time
@pytest.mark.parametrize("name", SMALL)
def test_a_hostile_repository_slows_no_command(name, memories, rawkomem):
    hostile.ALL[name](memories)
    assert cpu_seconds(lambda: rawkomem.process("inject", "deploy the service")) < MAX_FIRST_SECONDS
    for _ in range(3):
        assert cpu_seconds(lambda: rawkomem.process("search", "deploy")) < MAX_FIRST_SECONDS


# What is left out is said


def test_regexes_beyond_the_budget_are_not_tried_and_counted(memories, rawkomem):
    hostile.expensive_regexes(memories, 60)
    said = rawkomem("inject", "deploy the service").stderr
    assert "regexes of whenToUse were not tried: together they take too long" in said


def test_one_authors_regexes_do_not_crowd_out_an_honest_one(memories, rawkomem):
    hostile.expensive_regexes(memories, 20)
    text = hostile.entry("honest", "Restart the queue.\n", r"'deploy\s+the\s+serv.ce'", "Queue")
    hostile.write(memories, "zz-honest", text)
    assert "Restart the queue." in rawkomem("inject", "deploy the service").stdout


@pytest.fixture
def compiled(monkeypatch):
    """The instructions of each regex that RE2 has compiled, or those that it may have tried."""
    sizes = []
    compile_regex = conditions._compile_regex

    def count(source, most):
        found = compile_regex(source, most)
        sizes.append(found[0].programsize if found[0] else 3_000)
        return found

    monkeypatch.setattr(conditions, "_compile_regex", count)
    monkeypatch.setattr(conditions, "known_conditions", {})
    monkeypatch.setattr(conditions, "_compiled_regexes", {})
    return sizes


@pytest.mark.parametrize("pattern", [hostile.REGEX, hostile.LARGE_REGEX, "'a.{{1,90}}{n}'", "'(b?){{1,60}}'"])
def test_a_sync_and_a_prompt_compile_a_limited_number_of_instructions(pattern, memories, repository, compiled):
    """200 files then take less than 2 s of processor time, and a prompt less than 50 ms."""
    for file in range(60):
        when = ", ".join(["deploy", *(pattern.format(n=f"x{file}y{number}") for number in range(31))])
        hostile.write(memories, f"regex-{file}", hostile.entry(f"regex-{file}", when=when))
    repository.sync()
    assert sum(compiled) <= 60 * (conditions.MAX_COMPILED + 3_000)
    compiled.clear()
    conditions.known_conditions.clear()  # as in a new process
    repository.inject("deploy the service")
    assert sum(compiled) <= 2 * (MAX_ENGINE_WORK + 3_000)


def test_regexes_after_those_that_take_long_are_refused_and_reported(memories, rawkomem):
    when = ", ".join(hostile.REGEX.format(n=number) for number in range(20))
    hostile.write(memories, "many", hostile.entry("many", when=f"{when}, deploy"))
    assert "is a regex after others that take too long to compile together" in rawkomem("check").stdout
    assert "many" in rawkomem("inject", "deploy the service").stdout


def test_thirty_ordinary_regexes_are_all_used():
    patterns = [rf"deploy{number}[ -]?(it|now)\b" for number in range(32)]
    assert all(condition.how == conditions.ENGINE for condition in conditions.read_conditions(patterns))


def test_a_regex_that_is_too_large_is_refused_without_compiling_it(memories, rawkomem):
    when = hostile.LARGE_REGEX.format(n="deploy")
    hostile.write(memories, "large-regex", hostile.entry("large-regex", when=when))
    assert "is a regex that takes too long to compile: it is not used" in rawkomem("check").stdout
    assert MAX_ENGINE_WORK > 50_000  # many times what the regexes of people need


def test_a_file_with_too_many_entries_says_so(memories, rawkomem, monkeypatch):
    monkeypatch.setattr(blocks, "MAX_ENTRIES", 50)
    hostile.many_entries(memories, 60)
    assert "more than 50 entries: the rest is not read" in rawkomem("check", check=1).stdout


def test_a_sync_that_takes_too_long_is_continued_by_the_next_question(memories, repository, monkeypatch):
    monkeypatch.setattr(indexing, "MAX_ANSWER_SYNC_S", 1e-9)
    monkeypatch.setattr(sync, "BATCH_FILES", 10)
    hostile.tiny_files(memories, 35)
    found = [len(repository.list()) for _ in range(5)]
    assert found == [10, 20, 30, 35, 35]
    assert (
        "the index is not complete: 25 of 35 files are not read yet; run 'rawkomem index sync'"
        in repository.warnings[1]
    )
    assert len([said for said in repository.warnings if "not complete" in said]) == 3
    assert_equals_rebuild(repository.core.index)


def test_an_explicit_sync_reads_all_files(memories, repository, monkeypatch):
    monkeypatch.setattr(indexing, "MAX_ANSWER_SYNC_S", 1e-9)
    monkeypatch.setattr(sync, "BATCH_FILES", 10)
    hostile.tiny_files(memories, 35)
    report = repository.sync()
    assert (report.read, report.left) == (35, 0) and len(repository.list()) == 35


def test_large_files_are_batches_of_their_own():
    stamps = {f"m/{n}.md": f"{size} 1 1 1" for n, size in enumerate([10, 3 << 20, 10, 1 << 20, 1 << 20, 10])}
    assert [len(batch) for batch in sync.batches_of(stamps, stamps)] == [1, 1, 2, 2]
    assert sync.batches_of([], {}) == [[]]


# A task of any size


@pytest.mark.time
@pytest.mark.parametrize("command", ["inject", "search"])
def test_a_task_of_megabytes_is_cut_with_a_note(command, memories, rawkomem):
    hostile.write(memories, "one", hostile.entry("one"))
    rawkomem("sync")
    words = ("inject", "-") if command == "inject" else ("search", "deploy the service now " * 5_000)
    given = {"input": "deploy the service now " * 115_000} if command == "inject" else {}
    done = rawkomem(*words, **given)
    assert f"only {MAX_QUESTION_CHARS:,} of them are used" in done.stderr and "one" in done.stdout.lower()
    assert starts(rawkomem.process, *words, **given) < MAX_QUESTION_STARTS


def test_given_files_of_any_size_are_refused_and_not_read_whole(tmp_path, project, rawkomem):
    large = tmp_path / "large.txt"
    with open(large, "wb") as stream:
        stream.truncate(17 << 20)
    done = rawkomem("add", "--title", "Large", "-f", str(large), check=None)
    assert done.returncode and "is larger than 16 MiB (split it)" in done.stderr


# A long history


@pytest.mark.time
def test_a_vote_costs_little_whatever_the_history(memories, rawkomem, tmp_path_factory):
    """Compiled modules are kept between the processes, as in an installation."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("compiled"))}
    hostile.many_votes(memories, 5_000, 12)
    hostile.write(memories, "calm", hostile.entry("calm", when="calm"))
    rawkomem("sync")
    took = {}
    for id in ("calm", "voted"):
        rawkomem.process("feedback", id, "--helpful", env=compiled)
        took[id] = min(starts(rawkomem.process, "feedback", id, "--helpful", env=compiled) for _ in range(3))
    assert took["voted"] <= MAX_VOTE_RATIO * took["calm"], took
    assert rawkomem.json("show", "voted")["helpful"] == 4
