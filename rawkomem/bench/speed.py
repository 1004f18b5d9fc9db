"""`bench speed`: measures how long the real commands take, as processes, in milliseconds and in starts.

A start is the median time of `python -c pass` on the same machine in the same run. Limits are given
in starts, because machines differ and are noisy. As a program, this file keeps a repository open and injects
repeatedly, as a server does, and prints the times as JSON.
"""

from __future__ import annotations

import compileall
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, cycle, islice
from typing import Any

from ..embed.minilm import MINILM_NAME
from ..embed.static import STATIC_FILE, TokenVectors
from ..files.installation import plan_start, write_start
from ..files.layout import FOLDER, Layout
from ..format.frontmatter import emit_entry, emit_fields
from ..index.catalogue import Catalogue
from ..index.stores.database import index_path, open_database
from ..model.entries import Entry, Task, Value
from ..model.values import record
from ..repository import Repository

RUNS_PER_COMMAND = 15  # with fewer runs, the median varies too much
GUARDS = 50  # memories that apply to acts
GUARDED = "deploy"  # start of their patterns
PROMPT_PAUSE_S = 0.3  # a hook leaves work in the background, which ends before a person's next prompt
SILENT: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
TRANSCRIPT_BYTES = 1_000_000  # of the session whose prompt the hook answers
QUESTIONS = (
    "why does the {} of the {} fail after {}",
    "how do we change the {} of {} without losing the {} and the {}",
    "where is {} set",
    "the {} is slow since we moved {} to {}: what do we know about {} and {}",
)


@record
class Measure:
    """One figure: milliseconds with starts, or megabytes."""

    name: str
    ms: float = 0.0
    starts: float = 0.0
    mb: float = 0.0


def command(*words: str) -> list[str]:
    """Return the command line of the installed console script if there is one, else of the module."""
    script = os.path.join(os.path.dirname(sys.executable), "rawkomem")
    if os.path.exists(script):
        return [script, *words]
    return [sys.executable, "-m", "rawkomem", *words]


def measure_speed(files: int, say: Callable[[str], None]) -> list[Measure]:
    """Return all figures for a repository with this many files in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="rawkomem-bench-") as project:
        say(f"writing {files} files of 1 to 4 kB")
        # as pip does when it installs
        compileall.compile_dir(os.path.dirname(os.path.dirname(__file__)), quiet=2)
        make_repository(project, files)
        _write_guards(project)
        with embedder("static"):
            return _measure(project, say)


def _measure(project: str, say: Callable[[str], None]) -> list[Measure]:
    start = _median([[sys.executable, "-c", "pass"]], project)
    measures = [Measure("start", start, 1.0)]

    def add(name: str, ms: float) -> None:
        measures.append(Measure(name, ms, ms / start))
        say(f"{name}: {ms:.0f} ms = {ms / start:.1f} starts")

    add("first index", _time(command("sync"), project))
    _settle(project)
    searches = [command("search", query) for query in queries()]
    add("cold search", _median(searches, project))
    add("no-op sync", _median([command("sync")], project))
    injections = [command("inject", query) for query in queries()]
    add("cold inject", _median(injections, project))
    hook = [command("hook", "claude", "prompt")]
    add("prompt hook", _median(hook, project, _prompts(project), PROMPT_PAUSE_S))
    act = [command("hook", "claude", "before-tool")]
    quiet = _acts(project, "git status")
    reminded = _acts(project, f"{GUARDED}0 --prod")
    _time(act[0], project, quiet[0])  # makes the table
    add("before-tool hook, nothing to say", _median(act, project, quiet))
    add("before-tool hook, a reminder", _median(act, project, reminded))
    processes = (subprocess.Popen(words, cwd=project, **SILENT) for words in searches)
    measures.append(Measure("cold search, peak memory", mb=max(map(_peak, processes))))
    measures += _warm(project, start, "warm inject")
    watcher = subprocess.Popen(command("index", "watch"), cwd=project, **SILENT)
    try:
        _settle(project)
        measures.append(Measure("idle watcher, memory", mb=_resident(watcher.pid)))
        add(
            "save to searchable, under the watcher",
            statistics.median(_saved(project, n) for n in range(7)),
        )
    finally:
        watcher.send_signal(signal.SIGTERM)
        watcher.wait(10)
    _fill_second_tier(project)
    with embedder("auto"):
        add("cold inject, contextual", _median(injections, project))
        measures += _warm(project, start, "warm inject, contextual")
    return measures


@contextmanager
def embedder(name: str) -> Iterator[None]:
    """Set the embedder of this process and those that it starts, for one block of code."""
    before = os.environ.get("RAWKOMEM_EMBEDDER")
    os.environ["RAWKOMEM_EMBEDDER"] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ["RAWKOMEM_EMBEDDER"]
        else:
            os.environ["RAWKOMEM_EMBEDDER"] = before


def _fill_second_tier(project: str) -> None:
    """Copy the first tier's vectors: as many and as long as real ones, which would take an hour to compute."""
    database = open_database(index_path(Layout(os.path.join(project, FOLDER))))
    with database:
        database.execute(
            "INSERT INTO deep_fine SELECT * FROM fine; INSERT INTO deep_coarse SELECT * FROM coarse"
        )
        database.execute("DELETE FROM shallow")
        Catalogue(database).set_meta("deep", MINILM_NAME)
    database.close()


def _warm(project: str, start: float, name: str) -> list[Measure]:
    """Return the times of a process that keeps the repository open, and its peak memory."""
    words = [sys.executable, "-m", "rawkomem.bench.speed", project, *queries()]
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert process.stdout is not None
    times = json.load(process.stdout)
    measures = [Measure(f"{name}, {key}", ms, ms / start) for key, ms in times.items()]
    return [*measures, Measure(f"{name}, peak memory", mb=_peak(process))]


def queries() -> list[str]:
    """Return some questions, each on a subject of the memories."""
    subjects = MadeProse().subjects
    return [
        text.format(*subject)
        for text, subject in zip(QUESTIONS, subjects, strict=False)
    ]


def _prompts(project: str) -> list[str]:
    """Return calls of the prompt hook, each in a new session with a long transcript."""
    transcript = os.path.join(project, "transcript.jsonl")
    message = {
        "role": "user",
        "content": "we looked at the deployment and at its retries",
    }
    line = json.dumps({"type": "user", "sessionId": "s", "message": message}) + "\n"
    with open(transcript, "w", encoding="utf-8") as stream:
        stream.write(line * (TRANSCRIPT_BYTES // len(line)))
    call = {
        "hook_event_name": "UserPromptSubmit",
        "transcript_path": transcript,
        "cwd": project,
    }
    prompts = queries() * RUNS_PER_COMMAND
    sessions = enumerate(prompts[:RUNS_PER_COMMAND])
    return [
        json.dumps({**call, "session_id": f"s{n}", "prompt": text})
        for n, text in sessions
    ]


def _write_guards(project: str) -> None:
    """Write memories that apply to commands and to files."""
    for number in range(GUARDS):
        patterns: dict[str, Value] = {
            "commands": [f"{GUARDED}{number}*"],
            "paths": [f"{GUARDED}{number}/**"],
        }
        entry = Entry(title=f"Guard {number}", extra={"appliesTo": patterns})
        file = os.path.join(project, FOLDER, "memories", f"guard-{number}.md")
        with open(file, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(emit_entry(entry))


def _acts(project: str, line: str) -> list[str]:
    """Return calls before a command runs, each in a new session."""
    call = {"cwd": project, "tool_name": "Bash", "tool_input": {"command": line}}
    return [
        json.dumps({"session_id": f"{line} {n}", **call})
        for n in range(RUNS_PER_COMMAND)
    ]


def _settle(project: str) -> None:
    """Wait until stamps are old enough and a watcher is idle."""
    time.sleep(1.5)
    _time(command("sync"), project)
    time.sleep(0.5)


def _median(
    commands: list[list[str]],
    project: str,
    inputs: Sequence[str] = ("",),
    pause_s: float = 0.0,
) -> float:
    """Return the median time of many runs, which take the commands and the inputs in turn, each after a pause."""
    times = []
    pairs = zip(cycle(commands), cycle(inputs), strict=False)
    for words, text in islice(pairs, RUNS_PER_COMMAND):
        time.sleep(pause_s)
        times.append(_time(words, project, text))
    return statistics.median(times)


def _time(words: list[str], project: str, input: str = "") -> float:
    """Return the milliseconds that one process takes."""
    begun = time.perf_counter()
    done = subprocess.run(
        words, cwd=project, input=input, capture_output=True, text=True, check=False
    )
    ms = (time.perf_counter() - begun) * 1000
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)} failed: {done.stderr[-500:]}")
    return ms


def _peak(process: subprocess.Popen[bytes]) -> float:
    """Wait for a process; return its peak memory in megabytes."""
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return usage.ru_maxrss / unit


def _resident(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as stream:
            return next(
                int(line.split()[1]) / 1024
                for line in stream
                if line.startswith("VmRSS")
            )
    except OSError:
        return 0.0


def _saved(project: str, number: int) -> float:
    """Return the milliseconds from saving a file until the watcher has indexed it."""
    layout = Layout(os.path.join(project, FOLDER))
    database = open_database(index_path(layout), readonly=True)
    stem = f"saved-while-watching-{number}"
    time.sleep(0.2)
    begun = time.perf_counter()
    with open(
        os.path.join(layout.root, "memories", f"{stem}.md"), "w", encoding="utf-8"
    ) as stream:
        stream.write(f"---\ntitle: Saved while watching {number}\n---\n\nText.\n")
    while Catalogue(database).row(stem) is None:
        if time.perf_counter() - begun > 30:
            raise RuntimeError("the watcher did not index a saved file within 30 s")
        time.sleep(0.002)
    database.close()
    return (time.perf_counter() - begun) * 1000


# Write a made-up repository of any size: memories of 1 to 4 kB of English sentences on many subjects.

VOCABULARY_WORDS = 8_000  # distinct words; a team's notes have about as many
# as long as memories of real projects
MIN_MEMORY_BYTES = 1_000
MAX_MEMORY_BYTES = 4_000
# subjects of memories, and words of each subject
SUBJECTS = 200
SUBJECT_WORDS = 30
OWN_WORDS = 15  # words of a memory that its subject does not have
SHARE_OF_OWN = 0.6  # of the content words; the others are any words, by Zipf's law
SENTENCES = (
    "The {} must be done before the {} reads the {}.",
    "When {} fails, look at the {} first: its {} says what the {} expected.",
    "We moved the {} from {} to {}, because the old {} lost every {} under load.",
    "Do not change the {} of {} without a test for {} and {}.",
    "A {} that has no {} is treated as {}.",
    "The {} people asked for {} in March, so {} and {} share one {} since then.",
    "If you see {} in the log, restart the {} and check that {} is still there.",
    "It took two days to find out that {} depends on the {} of the {}.",
    "Run {} with {} twice, as the first run only fills the {}.",
    "Both {} and {} write to the {}, so keep each {} short.",
    "There is one {} for {}, one for {}, and none for {}.",
    "Ask the owner of {} before you delete a {}.",
)
AUTHORS = ("planner", "developer", "tester", "reviewer")
SEED = 7  # of everything that is made up by chance


class MadeProse:
    """Words by Zipf's law, and sentences that use them."""

    def __init__(self) -> None:
        self.words = vocabulary()
        self._weights = list(
            accumulate(1 / (rank + 3) for rank in range(len(self.words)))
        )
        chance = random.Random(SEED)
        self.subjects = [
            chance.sample(self.words, SUBJECT_WORDS) for _ in range(SUBJECTS)
        ]

    def some(
        self, chance: random.Random, count: int, own: Sequence[str] = ()
    ) -> list[str]:
        """Return words, most of them from `own`."""
        words = chance.choices(self.words, cum_weights=self._weights, k=count)
        return [
            chance.choice(own) if own and chance.random() < SHARE_OF_OWN else w
            for w in words
        ]

    def sentence(self, chance: random.Random, own: Sequence[str]) -> str:
        """Return a sentence; most of its content words are from `own`."""
        pattern = chance.choice(SENTENCES)
        text = pattern.format(*self.some(chance, pattern.count("{}"), own))
        return text[0].upper() + text[1:]


def make_repository(project: str, files: int) -> None:
    """Write `.rawko/` into a project folder: this many files with one memory."""
    write_start(plan_start(project))
    prose = MadeProse()
    folder = os.path.join(project, ".rawko", "memories")
    for number in range(files):
        chance = random.Random(SEED * 1_000_003 + number)
        file = os.path.join(folder, f"memory-{number:06d}.md")
        with open(file, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(memory_text(chance, prose, number))


def vocabulary() -> list[str]:
    """Return English words in a made-up order of frequency, the most frequent first."""
    known = sorted(
        word
        for word in TokenVectors(STATIC_FILE).index()
        if word.isascii() and word.isalpha() and len(word) > 2
    )
    return random.Random(SEED).sample(known, VOCABULARY_WORDS)


def memory_text(chance: random.Random, prose: MadeProse, number: int) -> str:
    """Return one memory: frontmatter, and sections of a few sentences with a list."""
    own = [*chance.choice(prose.subjects), *chance.sample(prose.words, OWN_WORDS)]
    fields: dict[str, Value] = {
        "title": f"{' '.join(prose.some(chance, 5, own)).capitalize()} {number}",
        "whenToUse": [
            "|".join(chance.sample(own, 3)),
            f"When working on {' '.join(chance.sample(own, 3))}",
        ],
        "tags": chance.choices(prose.words[100:200], k=3),
        "importance": chance.choice(("low", "medium", "high", "critical")),
        "discoveredAt": f"2026-{chance.randint(1, 9):02d}-{chance.randint(1, 28):02d}T10:30:00Z",
        "discoveredBy": chance.choice(AUTHORS),
    }
    text = f"---\n{emit_fields(fields)}---\n"
    # a section has about 800
    wanted = chance.randint(MIN_MEMORY_BYTES, MAX_MEMORY_BYTES - 800)
    while len(text) < wanted:
        heading = " ".join(prose.some(chance, 3, own)).capitalize()
        sentences = [prose.sentence(chance, own) for _ in range(chance.randint(4, 8))]
        items = [f"- {prose.sentence(chance, own)}\n" for _ in range(2)]
        text += f"\n## {heading}\n\n{' '.join(sentences)}\n\n{''.join(items)}"
    return text


WARM_UP_CALLS = 5  # calls that fill caches and are not timed
TIMED_CALLS = 60


def call_times(call: Callable[[str], object], texts: list[str]) -> tuple[float, float]:
    """Return median and 95th percentile of a call in milliseconds.

    Each text gets another number each time, so that no cached answer is used.
    """
    times = []
    for number in range(WARM_UP_CALLS + TIMED_CALLS):
        begun = time.perf_counter()
        call(f"{texts[number % len(texts)]} {number}")
        times.append((time.perf_counter() - begun) * 1000)
    times = sorted(times[WARM_UP_CALLS:])
    return times[len(times) // 2], times[len(times) * 95 // 100]


if __name__ == "__main__":
    repository = Repository.open(sys.argv[1])
    p50, p95 = call_times(lambda text: repository.inject(Task(text)), sys.argv[2:])
    print(json.dumps({"p50": p50, "p95": p95}))
