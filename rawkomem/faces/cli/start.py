"""Implement `rawkomem init`: look at a project, show a plan, ask before each step, and suggest what to
try next.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import click
from click import Abort, Context, pass_context, prompt

from ...exchange.formats import FORMATS
from ...exchange.import_plan import INSTRUCTIONS_FORMAT
from ...exchange.sources import place_of
from ...files.installation import StartFile, make_personal_folder, plan_start, write_start
from ...files.layout import FOLDER, Layout, find_layout, personal_root
from ...files.session_records import Told
from ...git.connection import Wanted, carry_out_connection
from ...git.connection import plan_git_connection as plan_git
from ...git.runner import work_tree
from ...hosts import person
from ...hosts.connect import installed_hosts, plan_connect
from ...hosts.hook_prompt import rehearsed
from ...hosts.known_hosts import HOSTS
from ...index.catalogue import Row
from ...model.entries import Memory
from ...model.errors import NotFound, RawkoError
from ...model.filters import Filter
from ...model.values import ACTIVE, record
from ...repository import Repository
from ...repository.transfer import Import, preview_import
from ...text.chunks import counted
from ...text.clean import one_line
from ...text.prose import scan_for_injection
from . import opening
from .connecting import connect_command, git_program
from .declarations import flag
from .importing import shown_path
from .opening import author, open_repository
from .options import DRY_RUN, PERSONAL, YES
from .overview import connected_hosts
from .pager import paged
from .terminal import note, paint, say, wide

Ask = Callable[["GuideStep", str], bool]


# Find what `rawkomem init` can import and connect. Writes nothing.


@record
class Survey:
    """What `rawkomem init` can do in a project."""

    layout: Layout
    is_started: bool  # whether the project has a repository of its own
    files: tuple[StartFile, ...]  # files of a repository that do not exist yet
    parent: str  # the folder above that has a repository; empty if the project has its own
    imports: tuple[Import, ...]  # one for each source, even if it has nothing new
    waiting: tuple[str, ...]  # formats of imported memories that wait for a review
    skipped: tuple[tuple[str, str], ...]  # sources that cannot be read, and why
    hosts: tuple[str, ...]  # installed and not connected
    is_git: bool  # whether git can be connected
    wants_git: bool  # whether git cannot be connected because there is no git repository

    def kinds(self) -> list[str]:
        """Return the formats with new memories or with memories that wait for a review, each once."""
        return [*dict.fromkeys((*(item.kind for item in self.imports if item.news), *self.waiting))]


def survey(place: str, imports: bool, connect: bool) -> Survey:
    """Return what can be done in a project; `imports` and `connect` are False to leave these parts out."""
    project = os.path.abspath(place)
    layout = Layout(os.path.join(project, FOLDER))
    above = _repository_around(project)
    is_started, is_git = above == project, _is_git(project)
    found: list[Import] = []
    waiting: dict[str, None] = {}
    if imports and is_started:
        with open_repository(project) as repository:
            found = preview_import(project, repository.core.all())
            places = [place_of(memory.extra) for memory in repository.beliefs.waiting()]
        waiting = dict.fromkeys(place.partition(":")[0] for place in places)
    elif imports:
        found = preview_import(project)
    connected = connected_hosts(project)
    missing = [step for step in plan_start(project) if not step.exists]
    if is_started:  # an empty file only keeps a folder, which exists
        missing = [
            step for step in missing if step.text or not os.path.isdir(os.path.dirname(step.path))
        ]
    return Survey(
        layout,
        is_started,
        tuple(missing),
        "" if is_started else above,
        tuple(found),
        tuple(waiting),
        tuple(pair for item in found if item.unreadable for pair in item.skipped),
        tuple(name for name in installed_hosts() if name not in connected) if connect else (),
        connect and is_git,
        connect and not is_git,
    )


def _repository_around(project: str) -> str:
    """Return the nearest folder with a repository, this one or one above it; empty if there is none."""
    try:
        return find_layout(project).project
    except NotFound:
        return ""


def _is_git(project: str) -> bool:
    try:
        work_tree(project)
    except NotFound:
        return False
    return True


# Guide a person through `rawkomem init`: show a plan, ask before each step, and suggest what to
# try next.

READ_BY_AGENTS = (INSTRUCTIONS_FORMAT, "cursor")  # formats of files that people write for agents
MAX_PATHS_SHOWN = 3  # in a question; the plan lists all
MAX_TITLES_SHOWN = 8
MAX_TITLES_TRIED = 5  # as the task in the last suggestion
ADD = "add --title 'Why we chose X' --when 'choosing|changing X'"


@record
class GuideStep:
    """One step: its line in the plan, its question (empty if there is nothing to do), and its action."""

    what: str
    question: Callable[[], str]
    run: Callable[[], None]
    default: bool = True
    show: Callable[[], None] | None = None  # prints the texts that the question is about


class Stopped(Exception):
    """The user does not want a repository here."""


def ask_person(step: GuideStep, question: str) -> bool:
    """Ask at the terminal and return the answer. Enter takes the default, `s` shows the texts in question."""
    choices = ("Y/n" if step.default else "y/N") + ("/s" if step.show else "")
    while True:
        person.discard_typed()
        answer = prompt(
            f"{question} [{choices}]", default="", show_default=False, prompt_suffix=" "
        )
        word = answer.strip().lower()
        if word in ("", "y", "yes", "n", "no"):
            return step.default if not word else word.startswith("y")
        if step.show and word in ("s", "show"):
            step.show()
        else:
            say("Answer y for yes, n for no" + (", s to see the texts." if step.show else "."))


def take_default(step: GuideStep, question: str) -> bool:
    """Print a question with its default answer, and return that answer."""
    say(f"{question} {'yes' if step.default else 'no'}")
    return step.default


class Guide:
    """A guided start in one project. `steps` is the plan; `run` asks for each step and carries it out."""

    def __init__(self, context: Context, found: Survey, is_person: bool):
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

    def steps(self) -> list[GuideStep]:
        """Return the steps that have something to do."""
        return [*self._start(), *self._imports(), *map(self._host, self.found.hosts), *self._git()]

    def run(self, ask: Ask) -> None:
        """Ask for each step and carry it out. Report a step that fails, and continue with the next one.

        Raise Stopped if the user does not want a repository.
        """
        steps = self.steps()
        for number, step in enumerate(steps, 1):
            if number > 1:  # the first step writes the files of the repository
                self._refuse_without_files()
            try:
                question = step.question()
                if question and ask(
                    step, paint(f"[{number}/{len(steps)}]", "cyan") + f" {question}"
                ):
                    sys.stdout.flush()  # notes go to stderr
                    step.run()
            except RawkoError as failure:
                note(f"this step failed: {failure.in_full}")
        self._refuse_without_files()

    # The files of the repository

    def _start(self) -> Iterator[GuideStep]:
        if not self.found.files:
            return
        names = ", ".join(shown_path(step.path) for step in self.found.files)
        above = self.found.parent
        question = f"Write {'it' if len(self.found.files) == 1 else 'these files'}?"
        if above:
            question = f"{shown_path(above)} has a repository, which is also used here. Start another one here?"
        yield GuideStep(f"Write {names}", lambda: question, self._write_files, not above)

    def _write_files(self) -> None:
        write_start(self.found.files)
        self.is_started = True
        self.undo.insert(
            0,
            (f"{self.command} uninstall", "removes what rawkomem wrote; your Markdown files stay"),
        )

    def _refuse_without_files(self) -> None:
        """Raise Stopped if the user did not want the files of the repository."""
        if not self.is_started:
            raise Stopped

    # Imports and their review

    def _imports(self) -> Iterator[GuideStep]:
        for kind in self.found.kinds():
            sources = [item for item in self.found.imports if item.kind == kind]
            if any(item.news for item in sources):
                yield self._import(sources)
            if self.is_person:
                yield self._review(kind, sources)

    def _import(self, sources: Sequence[Import]) -> GuideStep:
        number = sum(len(item.news) for item in sources)
        copies = sum(
            item.other != item.entry.id
            for one in sources
            for item in one.decided
            if item.what == "known"
        )
        same = (
            f" ({counted(copies, 'section')} that another file also holds will not be stored again)"
            if copies
            else ""
        )
        what = f"Import {counted(number, 'memory')} from {_paths_of(sources)}{same}"
        names = [f"\n     {shown_path(item.path)}" for item in sources]
        shown = what + "".join(names if len(names) > MAX_PATHS_SHOWN else ())
        return GuideStep(shown, lambda: f"{what}?", lambda: self._import_all(sources))

    def _import_all(self, sources: Sequence[Import]) -> None:
        done = self.repository.exchange.import_all([item.path for item in sources])
        self.repository.core.follow()
        self._note_change(f"the import from {_paths_of(sources)}")
        number = counted(sum(len(item.news) for item in done), "memory")
        if self.is_person:
            say(f"  {number} imported")
        else:
            say(f"  {number} imported. Agents get nothing from this import until a person runs:")
            say(f"  {self.command} review --all-from {shlex.quote(sources[0].kind)} --activate")

    def _review(self, kind: str, sources: Sequence[Import]) -> GuideStep:
        """Return the step in which a person vouches for an import. The default is no if agents may have written it."""
        where = _paths_of(sources) if sources else FORMATS[kind].what
        return GuideStep(
            f"Review the memories from {where}: agents get only memories that a person vouches for",
            lambda: self._review_question(kind),
            lambda: self._activate(kind, where),
            kind in READ_BY_AGENTS,
            lambda: self._show_texts(kind),
        )

    def _review_question(self, kind: str) -> str:
        """Print the memories that wait, and return the question about them; empty if no memory is in question.

        Memories with a suspicious line are printed with that line. The question is only about the other memories.
        """
        waiting = self._waiting(kind)
        held = {memory.id: line for memory in waiting if (line := _suspicious_line(memory))}
        asked = [memory for memory in waiting if memory.id not in held]
        self._list_memories(asked, {})
        if held:
            what = f"Held back: {counted(len(held), 'memory')} with a line that may give orders to agents"
            say(paint(f"      {what}", "yellow"))
            self._list_memories([memory for memory in waiting if memory.id in held], held)
        if not asked:
            return ""
        what = "this memory" if len(asked) == 1 else f"these {len(asked)} memories"
        return f"Do you vouch for {what}, so that agents get {'it' if len(asked) == 1 else 'them'}?"

    def _list_memories(self, memories: Sequence[Memory], held: Mapping[str, str]) -> None:
        """Print the first memories; those that are held back with their suspicious line and the command to use them."""
        for memory in memories[:MAX_TITLES_SHOWN]:
            place = place_of(memory.extra).partition(":")[2].partition("#")[0]
            say(
                f"      {one_line(memory.title, max(30, wide() - 50))}  {paint(one_line(place, 40), 'dim')}"
            )
            if line := held.get(memory.id):
                say(f"        the line: {paint(one_line(line, max(30, wide() - 20)), 'yellow')}")
                say(f"        to use it: {self.command} review {memory.id} --activate")
        if len(memories) > MAX_TITLES_SHOWN:
            say(paint(f"      and {len(memories) - MAX_TITLES_SHOWN} more", "dim"))

    def _waiting(self, kind: str = "") -> list[Memory]:
        """Return the imported memories that wait for a review, of one format or of all, in import order."""
        return self.repository.beliefs.waiting(kind)[::-1]

    def _show_texts(self, kind: str) -> None:
        with paged():
            for memory in self._waiting(kind):
                title = paint(one_line(memory.title, wide()), "bold")
                say(f"\n{title}  {paint(memory.id, 'dim')}\n{memory.body.strip()}")
            say()

    def _activate(self, kind: str, where: str) -> None:
        held = [memory.id for memory in self._waiting(kind) if _suspicious_line(memory)]
        done = self.repository.beliefs.review_all(kind, "activate", by=author(""), held_back=held)
        self._note_change(f"the review of {where}")
        say(f"  {counted(sum(memory.status == ACTIVE for memory in done), 'memory')} in use")

    def _note_change(self, what: str) -> None:
        """Record the command that undoes the last change of memories."""
        ((change, _),) = self.repository.undoing.changes(1)
        self.undo.insert(0, (f"{self.command} undo {change.name} --all", what))

    # Connections

    def _host(self, name: str) -> GuideStep:
        title = HOSTS[name].about.partition(":")[0]
        what = f"Connect {title}, so that each prompt gets the memories that fit it"

        def question() -> str:
            files = [
                shown_path(change.path)
                for change in plan_connect(name, self.project)
                if not change.is_none
            ]
            return f"Connect {title}? It writes {' and '.join(files)}." if files else ""

        def run() -> None:
            self.context.invoke(connect_command.commands[name])
            self.connected.append(title)
            self.undo.insert(0, (f"{self.command} connect {name} --remove", title))

        return GuideStep(what, question, run)

    def _git(self) -> Iterator[GuideStep]:
        if not self.found.is_git or (self.found.is_started and not self._git_changes()):
            return
        what = "Connect git, so that it merges memories entry by entry and checks them before each commit"
        yield GuideStep(what, lambda: f"{what}?", self._connect_git)

    def _git_changes(self) -> bool:
        plan = plan_git(self.found.layout, Wanted(git_program()))
        return bool(plan.files or plan.settings)

    def _connect_git(self) -> None:
        plan = plan_git(self.found.layout, Wanted(git_program()))
        carry_out_connection(plan)
        for file in plan.files:
            say(f"  wrote {shown_path(file.path)}")
        for advice in plan.advice:
            say(f"  {paint('to do', 'yellow')}: {advice}")
        self.undo.insert(0, (f"{self.command} connect git --remove", "git"))

    def in_use(self) -> Sequence[Row]:
        """Return the memories that agents can get, most recently changed first."""
        return self.repository.list(Filter(statuses=(ACTIVE,), current=True))

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
        reviews = self._reviews()
        if not used and reviews:
            return f"let agents use the imported memories:{reviews}"
        if reviews:
            say(f"\n{paint('Imported memories wait for your review:', 'bold')}{reviews}")
        if not used:
            return f"store your first memory: {self.command} {ADD}"
        titles = [row.title for row in used[:MAX_TITLES_TRIED]]
        task = next((title for title in titles if self._is_injected(title)), "")
        shown = f"{self.command} {'inject' if task else 'search'} {shlex.quote(task or titles[0])}"
        if self.connected:
            return f"start {self.connected[0]} here and work as usual. To see what it gets for a task: {shown}"
        return f"see what an agent gets for a task: {shown}"

    def _reviews(self) -> str:
        """Return a line for each format of imported memories that wait: the command that reviews them, their number."""
        kinds = Counter(place_of(memory.extra).partition(":")[0] for memory in self._waiting())
        return "".join(
            f"\n  {self.command} review --all-from {shlex.quote(kind)} --activate  ({counted(number, 'memory')})"
            for kind, number in kinds.items()
        )

    def _is_injected(self, task: str) -> bool:
        return bool(
            rehearsed(self.repository, task, b"", Told(), HOSTS["claude"].max_context_bytes).items
        )


def _suspicious_line(memory: Memory) -> str:
    """Return the first line of a memory that reads like an order to an agent; empty if there is none."""
    lines = f"{memory.title}\n{memory.body}".split("\n")
    return next((line for line in lines if scan_for_injection(line).score), "")


def _paths_of(sources: Sequence[Import]) -> str:
    """Return the paths of an import; if there are many, their number."""
    if len(sources) > MAX_PATHS_SHOWN:
        return f"{len(sources)} files and folders"
    return ", ".join(shown_path(item.path) for item in sources)


# Implement `rawkomem init`: start a repository. At a terminal, also offer to import and connect.

WHAT_IT_IS = (
    "rawkomem stores the memories of this project in .rawko, as Markdown files that you commit."
)


@click.command("init")
@YES.but(help="Take the suggested answer to each question; do not ask.")
@DRY_RUN
@flag(
    "--no-import",
    help="Do not import instructions, rules and memories of other tools.",
)
@flag("--no-connect", help="Do not connect agent hosts and git.")
@PERSONAL.but(help="Start your personal repository; its memories are recalled in every project.")
@pass_context
def init_command(
    context: Context,
    /,
    yes: bool,
    dry_run: bool,
    no_import: bool,
    no_connect: bool,
    personal: bool,
) -> int:
    """Start a memory repository in this project.

    At a terminal, it shows a plan and asks before each step: write .rawko, import CLAUDE.md, AGENTS.md, rules and
    memories of other tools, connect git and the installed agent hosts. Run it again later to import and connect what
    is new. Without a terminal, it only writes the files in .rawko, unless you add --yes.

    Examples:
      rawkomem init
      rawkomem init --dry-run
      rawkomem init --personal
    """
    if personal or not (yes or person.arrival() == person.PERSON):
        _start_plain(context.obj, dry_run, personal)
        return 0

    found = survey(context.obj or ".", not no_import, not no_connect)
    guide = Guide(context, found, opening.arrival() == person.PERSON)
    for place, why in found.skipped:
        note(f"{place} is left out: {why}")
    try:
        return _guided(guide, yes, dry_run)
    finally:
        guide.close()


def _start_plain(folder: str, dry_run: bool, personal: bool) -> None:
    """Write and list the files of a repository."""
    place = os.path.dirname(personal_root()) if personal else folder or "."
    steps = plan_start(place)
    for step in steps:
        say(f"{paint('exists', 'dim') if step.exists else paint('write ', 'green')}  {step.path}")
    if dry_run:
        say("Nothing was written (--dry-run).")
        return
    if personal:
        make_personal_folder(place)
    write_start(steps)
    option = " --personal" if personal else ""
    say(
        f"Ready. Store a memory with: rawkomem add{option} --title 'Why we chose X' --when 'choosing|changing X'"
    )


def _guided(guide: Guide, yes: bool, dry_run: bool) -> int:
    """Print the plan, and carry it out unless it is a dry run. Return the exit code."""

    steps = guide.steps()
    if not steps:
        say("Nothing new was found to import or to connect.")
    else:
        say(f"{WHAT_IT_IS}\n\n{paint('The plan:', 'bold')}")
    for number, step in enumerate(steps, 1):
        say(f"  {number}. {step.what}")
    if guide.found.wants_git:
        note(
            "there is no git repository here; after 'git init', 'rawkomem init' offers to connect git"
        )
    if dry_run:
        say("Nothing was written (--dry-run).")
        return 0
    if steps and not yes:
        say(
            "\nEnter takes the answer in capitals, s shows the texts. Ctrl-C stops; finished steps stay.\n"
        )
    try:
        guide.run(take_default if yes else ask_person)
    except Stopped:
        note("stopped: nothing was written")
        return 1
    except (Abort, KeyboardInterrupt):
        say()
        note("stopped; run 'rawkomem init' again to continue")
        if guide.undo:
            guide.tell_end()
        return 1
    guide.tell_end()
    return 0
