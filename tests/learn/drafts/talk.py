"""Sessions as turns, for the tests of drafts."""

from rawkomem.learn.drafts import choose_drafts
from rawkomem.learn.turns import ASSISTANT, TOOL, USER, Did, RunFacts, Turn
from rawkomem.model.entries import Draft

SESSION = "s-1"
DONE = "I ran the tests with vitest. All of them pass."


def talk(*said: str | Turn) -> list[Turn]:
    """Turns of a person and an agent by turns, the person first."""
    made = []
    for number, one in enumerate(said):
        made.append(one if isinstance(one, Turn) else Turn(USER if number % 2 == 0 else ASSISTANT, one))
    return made


def answer(said: str, before: str = DONE) -> list[Draft]:
    """The drafts that a person who answers an agent with these words is asked about."""
    return [one for one in every_answer(said, before) if not one.more]


def every_answer(said: str, before: str = DONE) -> list[Draft]:
    """The drafts of a session in which a person answers an agent with these words, also those that are less sure."""
    return choose_drafts(talk("do the first task", before, said), RunFacts("claude-code", session=SESSION))


def ran(command: str, output: str, failed: bool, id: str = "c1") -> list[Turn]:
    """A call of a shell with its result."""
    call = Turn(TOOL, "", tool="Bash", did=Did(id, command))
    return [call, Turn(TOOL, output, tool="Bash", did=Did(id, command, failed=failed))]
