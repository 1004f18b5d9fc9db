"""Clean a question and split it into words and stems, once for all later steps of recall."""

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

MAX_QUESTION_CHARS = 10_000  # the rest of a longer text is ignored
MAX_QUERY_WORDS = 64  # distinct words in a full-text query
THIN_WORDS = 3  # a request with fewer content words says too little by itself
LONG_TASK_WORDS = 40  # in a longer task, shared words do not prove that it names a title


@record
class Question:
    """A question or task, prepared for every step. A plain search fills in only `text` and `query_words`."""

    text: str  # cleaned; compared with memories by words and meaning
    query_words: tuple[str, ...] = ()  # distinct content words of `text`, or all words if it has no content words
    task: str = ""  # cleaned; the task without its plan
    title_stems: frozenset[str] = frozenset()  # stems of the task that may name a title; empty for a long task
    is_long: bool = False
    situation: Situation | None = None  # the text that conditions are matched against
    agent: str = ""
    session: str = ""
    content: tuple[str, ...] = ()  # distinct content words of the request, without numbers
    sentences: tuple[str, ...] = ()  # the whole request, then its sentences; compared by meaning
    said: Situation | None = None  # `situation` without paths: words in a path are not the subject
    pasted: Situation | None = None  # pasted text: names in it may fire conditions
    recent: Situation | None = None  # the last exchange and the touched files, if the request says little
    at: int = 0  # time of the question, in milliseconds since 1970


def cut_note(texts: Iterable[str]) -> str:
    """Return a note if a text is so long that only its beginning is used; else empty."""
    longest = max(map(len, texts), default=0)
    if longest <= MAX_QUESTION_CHARS:
        return ""
    return f"the question has {longest:,} characters: only {MAX_QUESTION_CHARS:,} of them are used"


def question_of(text: str) -> Question:
    """Return the question for a plain search."""
    text = clean(text[:MAX_QUESTION_CHARS])
    return Question(text, query_words(text))


def question_of_task(task: Task, at: int) -> Question:
    """Return the question of a task: the request without pasted text, and the situations for its conditions."""
    from ..text.when import situation_of  # a plain search does not need it

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
    """Return the last exchange and the touched files: a short task like "yes, option A" refers to them."""
    from ..text.when import situation_of

    said = clean(read_prompt(task.lately).ask) if task.lately else ""
    happened = "\n".join((said, *task.touched)).strip()
    return situation_of(happened[:MAX_QUESTION_CHARS]) if happened else None


def without_paths(text: str) -> str:
    """Return a text without URLs and without paths of two or more slashes: their words are not the subject."""
    if "/" not in text:
        return text
    lines = (line.split(" ") for line in text.split("\n"))
    return "\n".join(" ".join(word for word in line if word.count("/") < 2) for line in lines)


def query_words(text: str) -> tuple[str, ...]:
    found = dict.fromkeys(language().content_terms(text)) or dict.fromkeys(language().terms(text))
    return tuple(found)[:MAX_QUERY_WORDS]
