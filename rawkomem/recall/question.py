"""Question: what is asked, cleaned and split into words and stems once, for every later step of recall."""

from __future__ import annotations

from ..model.record import record
from ..text.clean import clean
from ..text.language import language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model.task import Task
    from ..text.when import Situation

MAX_QUESTION_CHARS = 10_000  # a task may be a page, not a book
MAX_QUERY_WORDS = 64  # distinct words given to FTS5: the rest of a long task repeats them
LONG_TASK_WORDS = 40  # a longer task holds so many words that it neither names a title nor proves a phrase


@record
class Question:
    """A question or task, ready for every step. A plain search fills in `text` and `query_words` only."""

    text: str  # clean: what words and meaning are compared with
    query_words: tuple[str, ...] = ()  # distinct content words of `text`; all words where it has no content words
    task: str = ""  # clean: the task without its plan
    title_stems: frozenset[str] = frozenset()  # stems of the task that may name a title; empty for a long task
    is_long: bool = False
    situation: Situation | None = None  # what conditions are matched against
    agent: str = ""
    session: str = ""
    at: int = 0  # the moment it is asked at, in milliseconds since 1970


def cut_note(texts: Iterable[str]) -> str:
    """Return a remark on texts of which only the beginning counts; empty if there is none."""
    longest = max(map(len, texts), default=0)
    if longest <= MAX_QUESTION_CHARS:
        return ""
    return f"{longest:,} characters are too many for a question: the first {MAX_QUESTION_CHARS:,} count"


def question_of(text: str) -> Question:
    """Return the question that a text asks of the store."""
    text = clean(text[:MAX_QUESTION_CHARS])
    return Question(text, _query_words(text))


def question_of_task(task: Task, at: int) -> Question:
    """Return the question of a task: with its plan, its situation, and the agent and session that it belongs to."""
    from ..text.when import situation_of  # a search needs no conditions

    asked = question_of(task.asked)
    said = clean(task.text[:MAX_QUESTION_CHARS]) if task.plan else asked.text
    is_long = len(said.split()) > LONG_TASK_WORDS
    situation = situation_of(clean(task.matched[:MAX_QUESTION_CHARS]) if task.agent or task.plan else said)
    stems = frozenset() if is_long else frozenset(language().stems(said))
    return Question(asked.text, asked.query_words, said, stems, is_long, situation, task.agent, task.session, at)


def _query_words(text: str) -> tuple[str, ...]:
    found = dict.fromkeys(language().content_terms(text)) or dict.fromkeys(language().terms(text))
    return tuple(found)[:MAX_QUERY_WORDS]
