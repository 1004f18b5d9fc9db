"""What must hold after a command met a fault at any point, and the repository in which commands meet it.

- Exit code 0: what it acknowledged is in the files. Another exit code: nothing was stored.
- No traceback. The next command works, and the index equals one made from the files.
- A retry leaves what one run leaves. Only votes, traces and log entries may count twice after a kill: they are events.
- After a purge that began, the text is nowhere below .rawko once any later command has run.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from rawkomem.exchange.sinks import SinkQueue
from rawkomem.files.archive import pack_folder
from rawkomem.files.blocks import new_row
from rawkomem.files.installation import plan_start, write_start
from rawkomem.files.journal import append_blocks, recall_row
from rawkomem.files.layout import Layout, sweep
from rawkomem.files.reading import QUARANTINE, read_file
from rawkomem.files.records import close_records
from rawkomem.format.yamo import build_block, emit_yamo
from rawkomem.repository import Repository

from tests.commands import ENVIRONMENT
from tests.conftest import ROOT
from tests.learn.traces.runs import fill
from tests.torture.helpers import write

SECRET = "quixoticzebra"
NOW = "2026-06-01T12:00:00Z"
LATER = "2027-07-01T12:00:00Z"
SESSION = "\n".join(
    json.dumps({"type": kind, "message": {"role": kind, "content": text}, "sessionId": "s1", "uuid": str(number)})
    for number, (kind, text) in enumerate(
        [
            ("user", "We decided to use pnpm instead of npm because the lockfile is smaller."),
            ("assistant", "Understood."),
        ]
    )
)
NOTES = "# Notes\n\n## Deploys\n\nWe deploy on Fridays only with two reviewers.\n\n## Tests\n\nTests run with pytest -n 2.\n"
VICTIM = "mem_1760000000000_aaaaaa"
NEW_ID = re.compile(r"[a-z]+[_-]1(?:7803152|8144432)\d{5}[_-]\w+")  # made at NOW or LATER

# name → the command line, and its standard input
COMMANDS = {
    "add": (["add", "--title", "Parcel", "-b", "Parcels leave at noon.", "--json"], ""),
    "amend": (["amend", "mem_keep", "-b", "Kept and amended.", "--json"], ""),
    "delete": (["delete", "mem_keep", "--json"], ""),
    "feedback": (["feedback", "mem_keep", "--helpful"], ""),
    "purge": (["purge", VICTIM, "--yes"], ""),
    "sync": (["sync"], ""),
    "rebuild": (["index", "rebuild"], ""),
    "consolidate": (["consolidate", "--apply"], ""),
    "learn": (["learn", "session.jsonl", "--json"], ""),
    "import": (["import", "NOTES.md", "--from", "markdown", "--json"], ""),
    "retention": (["tidy", "retention", "--apply", "--json"], ""),
    "log": (["@log"], ""),
    "log add": (["trace", "log", "add", "--goal", "Ship it", "--json"], ""),
    "trace": (["trace", "add", "--goal", "Ship it", "--plan", "p", "--json"], ""),
}
CLOCK = {"retention": LATER}
TIDY = ("sync", "rebuild", "consolidate", "retention", "import", "purge")  # parts of which may be done when they fail
EVENTS = ("feedback", "log", "log add", "trace")  # of which a killed run and its retry are two


class Driver:
    """The warm process that runs jobs, with a user's folders of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.start = folder, folder / "start"
        homes = {name: str(folder / name) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        self.env = {**ENVIRONMENT, **homes, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        command = [sys.executable, "-m", "tests.torture.driver"]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.start.mkdir()
        assert self(self.start, ["@prepare"])["code"] == 0

    def __call__(self, project: Path, argv: list[str], env: dict[str, str] | None = None, **job: object) -> dict:
        env = {"RAWKOMEM_NOW": NOW, **(env or {})}
        self.process.stdin.write(json.dumps({"cwd": str(project), "argv": argv, "env": env, **job}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait(120)


def prepare(project: Path) -> None:
    """Make the repository that every case starts from."""
    write_start(plan_start(str(project)))
    root = project / ".rawko"
    layout = Layout(str(root))
    write(root, "memories/keep.md", "---\nid: mem_keep\ntitle: Keep\n---\n\nKept as it is.\n")
    text = f"---\nid: {VICTIM}\ntitle: The {SECRET} plan\nat: 2025-10-09\n---\n\nIts codename is {SECRET}.\n"
    amend = f"---\nid: amend_1\nkind: amend\nabout: {VICTIM}\nat: 2025-10-10\n---\n\nStill {SECRET}, said again.\n"
    write(root, "memories/plan.md", text)
    write(root, "memories/more.md", f"---\nid: mem_more\ntitle: More\n---\n\nOther.\n\n---\n\n{amend}")
    write(root, "archive/2024-01/old.md", amend.replace("amend_1", "amend_2"))
    pack_folder(layout, "archive/2024-01")
    fill(project, 6)
    blocks = [f"---\nexperience_id: exp_{n}\nprimary_goal: g{n}\ntimestamp: 2026-0{n}-01\n---\n" for n in (1, 2, 3)]
    write(root, "log/memory_log.md", "\n---\n\n".join(blocks))
    write(project, "session.jsonl", SESSION)
    write(project, "NOTES.md", NOTES)
    with Repository.open(str(project), warn=lambda message: None) as repository:
        repository.search(f"{SECRET} plan")
        repository.add("Another one", title="Another", by="me")
    write(root, ".rawkomem-k1ll3d", f"left by a kill: {SECRET}")
    remember(project)


def remember(project: Path) -> None:
    """Put the secret into the records of this machine, and into a file that a killed process left."""
    layout = Layout(str(project / ".rawko"))
    event = {"event": "store", "key": "k1", "memory": VICTIM, "title": SECRET, "text": f"Its codename is {SECRET}."}
    SinkQueue(layout).add([event])
    values = {"id": VICTIM, "type": "memory", "length": "9", "preview": SECRET}
    retained = new_row("retain", "me", 1, emit_yamo(build_block("retain", "me", 1, **values)))
    append_blocks(layout, [retained, recall_row(2, "me", f"{SECRET} plan", 10, "", 1, 1.0, 0.5)])
    close_records()
    write(project / ".rawko", "local/tmp/1-0.writing", f"left by a kill: {SECRET}")


def entries(project: Path) -> list[tuple[str, str, str]]:
    """Return (kind, target, what it says) of every entry, sorted; each file must be whole."""
    layout, found = Layout(str(project / ".rawko")), []
    for path in sweep(layout).paths:
        reading = read_file(layout.path(path), path)
        assert reading.verdict != QUARANTINE and not any(entry.draft for entry in reading.entries), reading.problems
        for entry in reading.entries:
            target = NEW_ID.sub("*", entry.target)  # another one each time
            found.append((entry.kind, target, NEW_ID.sub("*", f"{entry.title}|{entry.body}")))
    return sorted(found)


def holding(project: Path, text: str = SECRET) -> list[str]:
    """Return the files below .rawko that hold a text, in their bytes, in their names, or compressed."""
    found = []
    for file in (project / ".rawko").rglob("*"):
        data = file.read_bytes() if file.is_file() else b""
        data = gzip.decompress(data) if file.suffix == ".gz" else data
        if text.encode() in data.lower() or text in file.name:
            found.append(str(file.relative_to(project)))
    return found


class Case:
    """One command, one fault, and what must hold afterwards."""

    def __init__(self, driver: Driver, name: str, once: list):
        self.driver, self.folder, self.name, self.once = driver, driver.folder / "case", name, once
        local = Path(".rawko", "local")
        shutil.rmtree(self.folder, ignore_errors=True)  # of a case that failed
        shutil.copytree(
            driver.start, self.folder, ignore=lambda place, _: ["local"] if place.endswith(".rawko") else []
        )
        assert driver(self.folder, ["sync"])["code"] == 0  # makes a local folder: a copied one is foreign
        assert driver(self.folder, ["@remember"])["code"] == 0
        if name in ("sync", "rebuild"):
            for file in (self.folder / local).glob("index-*.db*"):
                file.unlink()
        self.before = entries(self.folder)

    def run(self, **fault: object) -> dict:
        """Run the command."""
        argv, given = COMMANDS[self.name]
        return self.driver(self.folder, argv, {"RAWKOMEM_NOW": CLOCK.get(self.name, NOW)}, input=given, **fault)

    def check(self, done: dict) -> None:
        """Check everything that must hold after the fault."""
        self.tells(done)
        failed = done["code"] not in (0, -9)
        now, once, before = entries(self.folder), self.once, self.before
        if self.name == "log":  # an entry on its way to the archive may be in both places, and counts once
            now, once, before = ([*dict.fromkeys(some)] for some in (now, once, before))
        if failed and self.name not in TIDY:
            assert now == before, (done, "it failed, and yet something was stored")
        if done["code"] == 0:
            assert self.name in TIDY or now == once, (done, "it was acknowledged, and is not there")
        after = self.driver(self.folder, ["search", "other more"])
        assert after["code"] == 0 and "mem_more" in after["out"], after
        self.tells(after)
        if done["code"] == 0 and self.name == "purge":
            assert holding(self.folder) == []
        self.again(done)
        fresh = self.driver(self.folder, ["status", "--json"])
        assert fresh["code"] == 0 and json.loads(fresh["out"])["fresh"], fresh
        self.tells(fresh)
        shutil.rmtree(self.folder)

    def again(self, done: dict) -> None:
        """Retry what did not end well: the result is that of one run."""
        if self.name == "purge":
            if any(target == VICTIM for _, target, _ in entries(self.folder)):  # it did not begin
                assert self.run()["code"] == 0
            assert holding(self.folder) == [], done
            assert self.driver(self.folder, ["index", "ledger", "verify"])["code"] == 0
        elif done["code"] != 0 and not (done["code"] == -9 and self.name in EVENTS):
            retried = self.run()
            assert retried["code"] == 0 or self.is_done_already(retried), (done, retried)
            self.tells(retried)
        if not (done["code"] == -9 and self.name in EVENTS):
            left, once = entries(self.folder), self.once
            same = {*left} == {*once} if self.name == "log" else left == once
            assert same, (done, "a retry did not leave what one run leaves")

    def is_done_already(self, retried: dict) -> bool:
        """Tell whether a retry was refused because the killed run had done it: a deleted memory stays deleted."""
        return self.name == "delete" and "deleted" in retried["err"]

    def tells(self, done: dict) -> None:
        """Check that nothing printed a traceback, and that a failure says what is wrong in one line."""
        assert "Traceback" not in done["err"], done["err"]
        if done["code"] not in (0, -9):
            assert done["code"] in (1, 2) and done["err"].startswith("rawkomem: "), done


def what_once_leaves(driver: Driver, *names: str) -> dict[str, tuple[list, int, float]]:
    """Return name → (the entries after one run without a fault, how many points it passes, how long it takes).

    Without names, all commands run.
    """
    found = {}
    for name in names or COMMANDS:
        case = Case(driver, name, [])
        done = case.run()
        assert done["code"] == 0, done
        found[name] = (entries(case.folder), done["count"], done["took"])
        shutil.rmtree(case.folder)
    return found
