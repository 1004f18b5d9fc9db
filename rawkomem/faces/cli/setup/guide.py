"""Guide a person through `rawkomem init`: show a plan, ask before each step, and suggest what to try next."""

from __future__ import annotations

import os
import shlex
import sys
import time
from functools import cached_property
from typing import TYPE_CHECKING

import click

from ....exchange.copies import INSTRUCTIONS
from ....exchange.formats import FORMATS
from ....exchange.place import place_of
from ....files.local.told import Told
from ....files.start import write_start
from ....git.connect import Wanted, carry_out
from ....git.connect import plan_connect as plan_git
from ....hosts.connect.plan import plan_connect
from ....hosts.hooks.prompt import rehearsed
from ....hosts.records import HOSTS
from ....hosts.replay.replay import replay
from ....model.errors import RawkoError
from ....model.filters import Filter
from ....model.kinds import ACTIVE
from ....model.record import record, replace
from ....text.clean import one_line
from ....text.count import count
from ....text.injection import scan_for_injection
from ..learning.exchange import shown_path
from ..learning.replay import last_sessions, sum_up, tell_session
from ..memories.decided import who
from ..opening import open_repository
from ..terminal import note, paint, say, wide
from .connect import connect_command
from .connect_git import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ....hosts.replay.past import Past
    from ....index.catalogue import Row
    from ....model.entry import Memory
    from ....repository import Repository
    from ....repository.wings.exchange import Import
    from .survey import Survey

    Ask = Callable[["Step", str], bool]

READ_BY_AGENTS = (INSTRUCTIONS, "cursor")  # formats of files that people write for agents
MAX_PATHS_SHOWN = 3
MAX_TITLES_SHOWN = 8
MAX_TITLES_TRIED = 5  # as the task in the last suggestion
MAX_SESSIONS = 3
MAX_PROMPTS = 100  # of a session that is replayed
MAX_PROMPTS_SHOWN = 6
REPLAY_LIMIT_S = 10
ADD = "add --title 'Why we chose X' --when 'choosing|changing X'"


@record
class Step:
    """One step: its line in the plan, its question (empty if there is nothing to do), and its action."""

    what: str
    question: Callable[[], str]
    run: Callable[[], None]
    default: bool = True
    show: Callable[[], None] | None = None  # prints the texts that the question is about


class Stopped(Exception):
    """The user does not want a repository here."""


def ask_person(step: Step, question: str) -> bool:
    """Ask at the terminal and return the answer. Enter takes the default, `s` shows the texts in question."""
    choices = ("Y/n" if step.default else "y/N") + ("/s" if step.show else "")
    while True:
        answer = click.prompt(f"{question} [{choices}]", default="", show_default=False, prompt_suffix=" ")
        word = answer.strip().lower()
        if word in ("", "y", "yes", "n", "no"):
            return step.default if not word else word.startswith("y")
        if step.show and word in ("s", "show"):
            step.show()
        else:
            say("Answer y for yes, n for no" + (", s to see the texts." if step.show else "."))


def take_default(step: Step, question: str) -> bool:
    """Print a question with its default answer, and return that answer."""
    say(f"{question} {'yes' if step.default else 'no'}")
    return step.default


class Guide:
    """A guided start in one project. `steps` is the plan; `run` asks for each step and carries it out."""

    def __init__(self, context: click.Context, found: Survey, is_person: bool):
        self.context, self.found, self.is_person = context, found, is_person
        self.project = found.layout.project
        self.command = f"rawkomem -C {shlex.quote(context.obj)}" if context.obj else "rawkomem"
        self.undo: list[tuple[str, str]] = []  # (command, what it undoes), last step first
        self.connected: list[str] = []
        self.is_started = found.is_started
        context.obj = self.project  # the commands that a step runs work in this folder

    @cached_property
    def repository(self) -> Repository:
        """The repository, opened when the first step needs it."""
        return open_repository(self.project, layers=True)

    def close(self) -> None:
        """Close the repository if it was opened."""
        if "repository" in self.__dict__:
            self.repository.close()

    def steps(self) -> list[Step]:
        """Return the steps that have something to do."""
        return [*self._start(), *self._imports(), *self._hosts(), *self._git(), *self._replay()]

    def run(self, ask: Ask) -> None:
        """Ask for each step and carry it out. Report a step that fails, and continue with the next one.

        Raise Stopped if the user does not want a repository.
        """
        steps = self.steps()
        for number, step in enumerate(steps, 1):
            try:
                question = step.question()
                if question and ask(step, paint(f"[{number}/{len(steps)}]", "cyan") + f" {question}"):
                    sys.stdout.flush()  # notes go to stderr
                    step.run()
            except RawkoError as failure:
                note(f"this step failed: {failure.message} ({failure.hint})")
        self._refuse_without_files()

    # The files of the repository

    def _start(self) -> Iterator[Step]:
        if not self.found.files:
            return
        names = ", ".join(shown_path(step.path) for step in self.found.files)
        above = self.found.parent
        question = f"Write {'it' if len(self.found.files) == 1 else 'these files'}?"
        if above:
            question = f"{shown_path(above)} has a repository, which is also used here. Start another one here?"
        yield Step(f"Write {names}", lambda: question, self._write_files, not above)

    def _write_files(self) -> None:
        write_start(self.found.files)
        self.is_started = True
        self.undo.insert(0, (f"{self.command} uninstall", "removes what rawkomem wrote; your Markdown files stay"))

    def _refuse_without_files(self) -> None:
        """Raise Stopped if the user did not want the files of the repository."""
        if not self.is_started:
            raise Stopped

    # Imports and their review

    def _imports(self) -> Iterator[Step]:
        for kind in self.found.kinds():
            sources = [item for item in self.found.imports if item.kind == kind]
            if any(item.news for item in sources):
                yield self._import(sources)
            if self.is_person:
                yield self._review(kind, sources)

    def _import(self, sources: Sequence[Import]) -> Step:
        number = sum(len(item.news) for item in sources)
        copies = sum(item.other != item.entry.id for one in sources for item in one.decided if item.what == "known")
        same = f" ({count(copies, 'section')} that another file also holds will not be stored again)" if copies else ""
        what = f"Import {count(number, 'memory')} from {_paths(sources)}{same}"
        return Step(what, lambda: self._asked(f"{what}?"), lambda: self._import_all(sources))

    def _asked(self, question: str) -> str:
        self._refuse_without_files()
        return question

    def _import_all(self, sources: Sequence[Import]) -> None:
        done = self.repository.exchange.import_all([item.path for item in sources])
        self.repository.core.follow()
        self._note_change(f"the import from {_paths(sources)}")
        number = count(sum(len(item.news) for item in done), "memory")
        if self.is_person:
            say(f"  {number} imported")
        else:
            say(f"  {number} imported. Agents get nothing from this import until a person runs:")
            say(f"  {self.command} review --all-from {shlex.quote(sources[0].kind)} --activate")

    def _review(self, kind: str, sources: Sequence[Import]) -> Step:
        """Return the step in which a person vouches for an import. The default is no if agents may have written it."""
        where = _paths(sources) if sources else FORMATS[kind].what
        is_odd = any(scan_for_injection(item.entry.body).score for one in sources for item in one.news)
        return Step(
            f"Review the memories from {where}: agents get only memories that a person vouches for",
            lambda: self._review_question(kind),
            lambda: self._activate(kind, where),
            kind in READ_BY_AGENTS and not is_odd,
            lambda: self._show_texts(kind),
        )

    def _review_question(self, kind: str) -> str:
        """Print the memories that wait, and return the question; empty if none waits."""
        self._refuse_without_files()
        waiting = self._waiting(kind)
        if not waiting:
            return ""
        for memory in waiting[:MAX_TITLES_SHOWN]:
            place = place_of(memory.extra).partition(":")[2].partition("#")[0]
            say(f"      {one_line(memory.title, max(30, wide() - 50))}  {paint(one_line(place, 40), 'dim')}")
        if len(waiting) > MAX_TITLES_SHOWN:
            say(paint(f"      and {len(waiting) - MAX_TITLES_SHOWN} more", "dim"))
        odd = sum(bool(scan_for_injection(memory.body).score) for memory in waiting)
        if odd:
            say(
                paint(
                    f"      {count(odd, 'text')} may try to give orders to agents: press s to read before you agree",
                    "yellow",
                )
            )
        what = "this memory" if len(waiting) == 1 else f"these {len(waiting)} memories"
        return f"Do you vouch for {what}, so that agents get {'it' if len(waiting) == 1 else 'them'}?"

    def _waiting(self, kind: str = "") -> list[Memory]:
        """Return the imported memories that wait for a review, of one format or of all, in import order."""
        return self.repository.beliefs.waiting(kind)[::-1]

    def _show_texts(self, kind: str) -> None:
        for memory in self._waiting(kind):
            say(f"\n{paint(one_line(memory.title, wide()), 'bold')}  {paint(memory.id, 'dim')}\n{memory.body.strip()}")
        say()

    def _activate(self, kind: str, where: str) -> None:
        done = self.repository.beliefs.review_all(kind, "activate", by=who(""))
        self._note_change(f"the review of {where}")
        say(f"  {count(sum(memory.status == ACTIVE for memory in done), 'memory')} in use")

    def _note_change(self, what: str) -> None:
        """Record the command that undoes the last change of memories."""
        ((change, _),) = self.repository.undoing.changes(1)
        self.undo.insert(0, (f"{self.command} undo {change.name} --all", what))

    # Connections

    def _hosts(self) -> Iterator[Step]:
        for name in self.found.hosts:
            yield self._host(name)

    def _host(self, name: str) -> Step:
        title = HOSTS[name].about.partition(":")[0]
        what = f"Connect {title}, so that each prompt gets the memories that fit it"

        def question() -> str:
            self._refuse_without_files()
            files = [shown_path(change.path) for change in plan_connect(name, self.project) if not change.is_none]
            return f"Connect {title}? It writes {' and '.join(files)}." if files else ""

        def run() -> None:
            self.context.invoke(connect_command.commands[name])
            self.connected.append(title)
            self.undo.insert(0, (f"{self.command} connect {name} --remove", title))

        return Step(what, question, run)

    def _git(self) -> Iterator[Step]:
        if not self.found.is_git or (self.found.is_started and not self._git_changes()):
            return
        what = "Connect git, so that it merges memories entry by entry and checks them before each commit"
        yield Step(what, lambda: self._asked(f"{what}?"), self._connect_git)

    def _git_changes(self) -> bool:
        plan = plan_git(self.found.layout, Wanted(program()))
        return bool(plan.files or plan.settings)

    def _connect_git(self) -> None:
        plan = plan_git(self.found.layout, Wanted(program()))
        carry_out(plan)
        for file in plan.files:
            say(f"  wrote {shown_path(file.path)}")
        for advice in plan.advice:
            say(f"  {paint('to do', 'yellow')}: {advice}")
        self.undo.insert(0, (f"{self.command} connect git --remove", "git"))

    # Replay

    def _replay(self) -> Iterator[Step]:
        number = min(MAX_SESSIONS, len(self.found.sessions))
        if number:
            what = f"Replay your last {count(number, 'session')}" if number > 1 else "Replay your last session"
            what += " with an agent here, to see which memories it would get now"
            yield Step(what, lambda: self._replay_question(what), self._replay_all)

    def _replay_question(self, what: str) -> str:
        self._refuse_without_files()
        return f"{what}?" if self.in_use() else ""

    def in_use(self) -> Sequence[Row]:
        """Return the memories that agents can get, most recently changed first."""
        return self.repository.list(Filter(statuses=(ACTIVE,), current=True))

    def _replay_all(self) -> None:
        ends, replayed = time.monotonic() + REPLAY_LIMIT_S, []
        for past in last_sessions(self.repository, MAX_SESSIONS):
            replayed.append(replay(self.repository, _first_prompts(past)))
            tell_session(replayed[-1], MAX_PROMPTS_SHOWN)
            if time.monotonic() > ends:
                break
        answers = [answer for session in replayed for answer in session.answers]
        given = sum(bool(answer.memories) for answer in answers)
        say(f"  {given} of {count(len(answers), 'prompt')} would get memories. 'rawkomem replay' shows all prompts.")
        if any(session.corrections for session in replayed):
            sum_up(replayed, False)

    # The end

    def tell_end(self) -> None:
        """Print how to undo each step, and one thing to try next."""
        if self.undo:
            say(f"\n{paint('To undo a step:', 'bold')}")
            width = max(len(command) for command, _ in self.undo)
            for command, what in self.undo:
                say(f"  {command:{width}}  {paint(what, 'dim')}")
        say(f"\n{paint('Next:', 'bold')} {self._next()}")

    def _next(self) -> str:
        used = self.in_use()
        waiting = [place_of(memory.extra) for memory in self._waiting()]
        if not used and waiting:
            kind = shlex.quote(waiting[0].partition(":")[0])
            return f"let agents use the imported memories: {self.command} review --all-from {kind} --activate"
        if not used:
            return f"store your first memory: {self.command} {ADD}"
        titles = [row.title for row in used[:MAX_TITLES_TRIED]]
        task = next((title for title in titles if self._is_injected(title)), "")
        shown = f"{self.command} {'inject' if task else 'search'} {shlex.quote(task or titles[0])}"
        if self.connected:
            return f"start {self.connected[0]} here and work as usual. To see what it gets for a task: {shown}"
        return f"see what an agent gets for a task: {shown}"

    def _is_injected(self, task: str) -> bool:
        return bool(rehearsed(self.repository, task, b"", Told(), HOSTS["claude"].max_context_bytes).items)


def _paths(sources: Sequence[Import]) -> str:
    """Return the paths of an import; if there are many, a few of them or their common name."""
    paths = [shown_path(item.path) for item in sources]
    names = {os.path.basename(path) for path in paths}
    if len(paths) <= MAX_PATHS_SHOWN:
        return ", ".join(paths)
    if len(names) == 1:
        return f"{len(paths)} files named {names.pop()}"
    return f"{', '.join(paths[: MAX_PATHS_SHOWN - 1])} and {len(paths) - MAX_PATHS_SHOWN + 1} more"


def _first_prompts(past: Past) -> Past:
    """Return a session with at most MAX_PROMPTS prompts."""
    if len(past.moments) <= MAX_PROMPTS:
        return past
    end = past.moments[MAX_PROMPTS].turn - 1
    return replace(past, moments=past.moments[:MAX_PROMPTS], turns=past.turns[:end])
