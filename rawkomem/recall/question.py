"""Question: what is asked, cleaned and split into words and stems once, for every later step of recall."""

from __future__ import annotations

from ..model.record import record
from ..text.clean import clean
from ..text.language import language
from ..text.spoken.prompt import read_prompt, sentences_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model.task import Task
    from ..text.when import Situation

MAX_QUESTION_CHARS = 10_000  # a task may be a page, not a book
MAX_QUERY_WORDS = 64  # distinct words given to FTS5: the rest of a long task repeats them
THIN_WORDS = 3  # content words below which an ask says too little by itself
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
    content: tuple[str, ...] = ()  # distinct content words of the ask, numbers left out
    sentences: tuple[str, ...] = ()  # the ask as a whole, then its sentences: what meaning is compared with
    said: Situation | None = None  # the same without paths: words in a path are not what is asked about
    pasted: Situation | None = None  # what the person pasted: names in it may fire conditions
    recent: Situation | None = None  # the last exchange and the files touched, where the ask alone says little
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
    return Question(text, query_words(text))


def question_of_task(task: Task, at: int) -> Question:
    """Return the question of a task: what is asked, apart from what is pasted, and in which situation."""
    from ..text.when import situation_of  # a search needs no conditions

    read = read_prompt(task.text)
    said = clean(read.ask)
    plan = clean(task.plan[:MAX_QUESTION_CHARS]) if task.plan else ""
    text = " ".join(part for part in (without_paths(said), plan) if part)
    is_long = len(said.split()) > LONG_TASK_WORDS
    matched = " ".join(part for part in (said, task.agent, plan) if part)
    situation = situation_of(matched[:MAX_QUESTION_CHARS])
    spoken = situation_of(without_paths(matched)[:MAX_QUESTION_CHARS], situation.engine)
    pasted = situation_of(clean(read.paste)) if read.paste else None
    stems = frozenset() if is_long else frozenset(language().stems(said))
    content = tuple(word for word in dict.fromkeys(language().content_terms(text)) if not word.isdecimal())
    recent = _recent(task) if len(content) < THIN_WORDS and read.ask else None
    parts = tuple(dict.fromkeys((text, *sentences_of(text)))) if text.strip() else ()
    return Question(
        text, query_words(text), said, stems, is_long, situation, task.agent, task.session,
        content, parts, spoken, pasted, recent, at,
    )  # fmt: skip


def _recent(task: Task) -> Situation | None:
    """Return what happened just before: a task of one or two words ("yes, option A") answers it."""
    from ..text.when import situation_of

    said = clean(read_prompt(task.lately).ask) if task.lately else ""
    happened = "\n".join((said, *task.touched)).strip()
    return situation_of(happened[:MAX_QUESTION_CHARS]) if happened else None


def without_paths(text: str) -> str:
    """Return a text without addresses and paths of two folders or more: their words are not what is asked about."""
    if "/" not in text:
        return text
    lines = (line.split(" ") for line in text.split("\n"))
    return "\n".join(" ".join(word for word in line if word.count("/") < 2) for line in lines)


def query_words(text: str) -> tuple[str, ...]:
    found = dict.fromkeys(language().content_terms(text)) or dict.fromkeys(language().terms(text))
    return tuple(found)[:MAX_QUERY_WORDS]
