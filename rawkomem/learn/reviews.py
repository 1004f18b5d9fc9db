"""Review comments of GitHub and GitLab as drafts: requests of a reviewer that a change followed."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import IO, Any

from ..model.entries import RULE, Draft
from ..model.errors import BadInput
from ..model.values import record, replace, text_of
from ..redaction.find import redact
from ..text.acts import MAX_PATTERN_CHARS, PATHS_KEY
from ..text.clean import one_line
from ..text.json_values import (
    MAX_DOCUMENT_BYTES,
    json_documents,
    objects_in,
    within,
)
from ..text.language import ContentWords, statement_of
from ..text.paths import path_below
from .cues import any_of, caseless
from .drafts import (
    FILED,
    MAX_SAID_CHARS,
    drafts_of_exchanges,
    sentences_of_turn,
)
from .exchanges import Exchange, typed_in
from .repetitions import means_same
from .turns import RunFacts, time_of

Record = dict[str, Any]
# the words of a request, and the drafts with it
Groups = list[tuple[ContentWords, list[Draft]]]

# Read the threads of a review from the JSON of an API.

GITHUB = "github review"
GITLAB = "gitlab review"
READ_HINT = (
    "pass the output of 'gh api repos/OWNER/NAME/pulls/NUMBER/comments', or of GitLab's"
    " '/merge_requests/NUMBER/discussions'; see 'rawkomem docs learning'"
)
AUTHOR_KEYS = {"user", "author"}
PULL_REQUEST = re.compile(r"([\w.-]{1,100}/[\w.-]{1,100})/pulls?/(\d{1,12})")
BOT_NAME = caseless(r"\[bot\]$|[-_]bot\b|[-_]bot_|\brobot$|^bot[-_]")
CHANGED_LINE = re.compile(r"changed this (?:line|file) in")  # a note of GitLab itself
# not shown on the service's page; code, where it is, is left out anyway
HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
SUGGESTION = "```suggestion"  # starts code that is to replace the line
MAX_THREADS = 2_000  # each request is compared with all others
MAX_COMMENTS = 100  # of one thread
MAX_COMMENT_CHARS = 65_536  # as on GitHub


@record
class Comment:
    """A comment of a thread."""

    author: str
    said: str  # without quotes and code
    at: int
    is_bot: bool
    has_suggestion: bool  # code that is to replace the line


@record
class Thread:
    """A thread of a review: a comment on a line, and the answers to it."""

    host: str
    review: str  # the pull request or merge request
    path: str  # of the file; empty: the comment is about the whole change
    comments: tuple[Comment, ...]  # oldest first
    change: str  # how the service shows that a change followed; empty: it does not


def read_threads(streams: Sequence[IO[bytes]]) -> list[Thread]:
    """Return the threads in the JSON of an API, oldest first: in each stream one list, or lists after one another.

    Raise BadInput if a stream is no JSON, or if there are no review comments.
    """
    grouped: dict[str, dict[str, Record]] = {}  # thread → id → comment
    for number, one in enumerate(chain.from_iterable(map(_objects_in, streams))):
        for key, note in _notes_in(one, number):
            if isinstance(note.get("body"), str) and AUTHOR_KEYS & note.keys():
                thread = grouped.setdefault(key, {})
                thread.setdefault(str(note.get("id", len(thread))), note)
    names = ", ".join(map(_name, streams))
    if len(grouped) > MAX_THREADS:
        found = f"{names} holds more than {MAX_THREADS} threads"
        raise BadInput(found, "pass fewer pages")
    read = (_thread_of([*notes.values()]) for notes in grouped.values())
    threads = [thread for thread in read if thread]
    if not threads:
        raise BadInput(f"{names} holds no review comments", READ_HINT)
    return sorted(threads, key=lambda thread: thread.comments[0].at)


def _name(stream: IO[bytes]) -> str:
    name = str(getattr(stream, "name", ""))
    return name if os.path.exists(name) else "standard input"


def _objects_in(stream: IO[bytes]) -> Iterator[Record]:
    """Yield the objects of JSON documents after one another; of lists, also of lists in lists, their objects."""
    data = stream.read(MAX_DOCUMENT_BYTES + 1)
    for value in json_documents(data, _name(stream), READ_HINT):
        for page in value if isinstance(value, list) else [value]:
            yield from objects_in(page if isinstance(page, list) else [page])


def _notes_in(one: Record, number: int) -> Iterator[tuple[str, Record]]:
    """Yield the comments in an object of an API, each with a name of its thread."""
    if "data" in one:  # an answer of GitHub's GraphQL
        threads = within(
            one, "data", "repository", "pullRequest", "reviewThreads", "nodes"
        )
        for place, thread in enumerate(objects_in(threads)):
            for note in objects_in(within(thread, "comments", "nodes")):
                yield f"{number}-{place}", {**thread, **note}
    elif "notes" in one:  # a discussion of GitLab
        for note in objects_in(one["notes"]):
            yield f"{one.get('id') or number}", note
    elif "noteable_type" in one:  # a note of GitLab; answers are at the same place
        yield str(one.get("position") or f"note-{one.get('id')}"), one
    else:
        yield str(one.get("in_reply_to_id") or one.get("id")), one


def _thread_of(notes: list[Record]) -> Thread | None:
    """Return the thread of some comments; None if only the service wrote them. Its notes tell whether the line changed."""
    written = [note for note in notes if not note.get("system")][:MAX_COMMENTS]
    if not written:
        return None
    first = written[0]
    path = first.get("path") or within(first, "position", "new_path")
    host = GITHUB
    named = PULL_REQUEST.search(str(first.get("html_url") or first.get("url")))
    review = f"{named[1]}#{named[2]}" if named else ""
    if "noteable_type" in first:
        host = GITLAB
        review = f"{first.get('project_id')}!{first.get('noteable_iid')}"
    return Thread(
        host,
        one_line(redact(review), 100),
        text_of(path),
        tuple(sorted(map(_comment_of, written), key=lambda comment: comment.at)),
        _change_in(notes),
    )


def _comment_of(note: Record) -> Comment:
    by = note.get("user") or note.get("author")  # null: a deleted account
    name = one_line(str(within(by, "login") or within(by, "username") or ""), 100)
    is_bot = "Bot" in (within(by, "type"), within(by, "__typename"))
    at = time_of(note.get("created_at") or note.get("createdAt"))
    text = note["body"][:MAX_COMMENT_CHARS]
    is_bot = is_bot or bool(BOT_NAME.search(name))
    said = HIDDEN.sub(" ", typed_in(text))
    return Comment(name, said, at, is_bot, SUGGESTION in text)


def _change_in(notes: Sequence[Record]) -> str:
    """Return how the service shows that a change followed these comments; empty if it does not."""
    if any(True in (note.get("resolved"), note.get("isResolved")) for note in notes):
        return "the thread was resolved"
    return "the line changed afterwards" if any(map(_is_outdated, notes)) else ""


def _is_outdated(note: Record) -> bool:
    """Return whether a comment is on a line that is no longer in the change, or the service says that it changed."""
    if note.get("system"):
        return bool(CHANGED_LINE.search(note["body"]))
    lost = [
        key
        for key in ("line", "position")
        if note.get(key, "") is None and note.get(f"original_{key}") is not None
    ]
    is_file = note.get("subject_type") == "file"
    return note.get("isOutdated") is True or (bool(lost) and not is_file)


# Choose requests that a change followed.

FOLLOWED_SCORE = 1.0  # a request that a change followed; cues of a rule add to it
ONE_CASE_SCORE = -0.5  # without such cues, a request about the lines of this change
REPEATED_SCORE = 3.0  # each further thread with the same request
MIN_REVIEW_SCORE = 1.0  # that a request needs to become a draft
MAX_REVIEW_DRAFTS = 5  # of one review: those with the highest scores
MAX_PATHS = 8  # of one draft
REVIEW_TAG = "review"
# what became of a thread: "3 without a request"
NO_REQUEST = "without a request"
NOT_FOLLOWED = "without a change"
FOLLOWED = "with a request and a change"
OF_BOTS = "of bots"
TOO_WEAK = "with a request left out: about one case, or weaker than five others of the same review"
DONE_VERBS = (
    "done|fixed|addressed|updated|changed|renamed|removed|added|moved|replaced|applied|reverted|restored|corrected|adjusted"
    "|resolved|dropped|switched|refactored|reworded|split|extracted|simplified"
)
DONE = caseless(
    rf"\A(?![^.!\n]*(?:\bnot\b|n't\b|\bnever\b|\?))[^.!\n]{{0,80}}\b(?:{DONE_VERBS})\b"
)
DECLINES = any_of(
    r"\b(?:disagree|won'?t|rather not|intentional(?:ly)?|on purpose|by design|out of scope)\b",
    r"\b(?:i'?d|i would|we'?d) (?:rather|prefer)\b|\b(?:prefer|like|want) to keep\b",
    r"\bnot (?:needed|necessary|related|possible|required)\b|\bno need\b",
    r"\b(?:separate|follow-?up|another|different|later|next) (?:pr|pull request|mr|merge request|issue|ticket|commit|patch)\b",
)
NIT = caseless(r"^\W*(?:(?:super |tiny |small |minor )?nit(?:pick)?s?|minor|style|optional|suggestion)\b ?(?:\([^)]*\))?\s*[:,–—-]*\s*")  # fmt: skip
POLITE = caseless(
    r"^(?:and |also,? |but |maybe |perhaps )*(?:can|could|would|will|should|shall) (?:you|we)(?: all| also| just| maybe| perhaps| please)*"
    r" (?!(?:explain|clarify|elaborate|tell|confirm|check|verify|look|see|have|take|give|restore|revert|undo|rebase|squash)\b)(?=[a-z])|^(?:and |also,? )*(?:i'?d|i would)(?: just| rather)? (?=(?:use|add|drop|remove|rename|move|keep|make|put|avoid|call|return|write)\b)"
)
ASKS_FOR = any_of(
    r"\b(?:please|pls|should(?:n't)?|must|needs? to|ha(?:s|ve) to|ought to|prefer|instead|rather than|avoid|never|always|let's|consider"
    r"|suggest|recommend|(?:i|we)(?:'d| would)? (?:want|like)|(?:nice|nicer|better|good) (?:to|if)|don't (?!think|know|see|understand|mind|have)|do not (?!think|know|see)|(?:could|can|might) be)\b",
    r"\bwe (?:use|don't|do not|only|usually|generally|normally|typically)\b",
    r"^(?:also,? |and |then |just |maybe |perhaps |here,? |you (?:can|could|may) )*(?:use|add|remove|rename|move|drop|delete|replace|change|make|put|keep"
    r"|extract|inline|split|merge|combine|return|raise|throw|pass|call|import|declare|define|document|mention|describe|test|assert|mock"
    r"|patch|sort|wrap|format|indent|spell|update|set|reuse|simplify|follow|convert|cast|log|handle|catch|close|write|name"
    r"|limit|store|cache|annotate|mark|skip|chop|omit|swap|capitali[sz]e|no (?!longer|problem|need|worries|idea)\w+ \w+)\b",
)
ONE_CASE = any_of(
    r"\b(?:this|that|these|those|here|pr|patch|commit|typos?)\b",
    r"^(?:please,? |pls |just |also |maybe )*(?:add|fix|revert|restore|update|rebase|move|rename|remove|delete|drop|adjust|split|put|chop|mention)\b",
)
SAME_AGAIN = caseless(r"^\W*(?:same|ditto|likewise|as above|see above|here,? too|and here|again)\b[^.!?\n]{0,40}\W*$")  # fmt: skip


def drafts_of_reviews(threads: Iterable[Thread]) -> tuple[list[Draft], dict[str, int]]:
    """Return a draft for each request that a change followed, best first, and what became of the threads, counted.

    The same request in several threads is one draft.
    """
    groups: Groups = []
    last: dict[str, list[Draft]] = {}  # the last request of each person
    counts: Counter[str] = Counter()
    for thread in threads:
        if thread.comments[0].is_bot:
            counts[OF_BOTS] += 1
            continue
        reviewer = thread.comments[0].author
        asked = False
        found: list[Draft] = []
        for number, comment in enumerate(thread.comments):
            if comment.author != reviewer:
                continue
            request = _request_in(comment)
            is_again = SAME_AGAIN.match(comment.said)
            again = last.get(reviewer, []) if is_again else []
            asked = asked or bool(request or again)
            why = _change_after(thread, number)
            if why and again:
                found += [
                    replace(one, session=thread.review, applies=_paths(thread))
                    for one in again
                ]
            elif why and request:
                found += _drafts_of(thread, comment, request, why)
            if len(found) >= MAX_REVIEW_DRAFTS:  # each is compared with all others
                break
        if found:
            last[reviewer] = found
        for draft in found:
            _group(groups, draft)
        counts[FOLLOWED if found else NOT_FOLLOWED if asked else NO_REQUEST] += 1
    joined = [_joined(group) for _, group in groups]
    best: list[Draft] = []
    kept: Counter[str] = Counter()  # of each review
    for draft in sorted(joined, key=lambda one: -one.score):
        if draft.score >= MIN_REVIEW_SCORE and kept[draft.session] < MAX_REVIEW_DRAFTS:
            best.append(draft)
            kept[draft.session] += 1
        else:
            counts[TOO_WEAK] += 1
    return best, dict(counts)


def _request_in(comment: Comment) -> str:
    """Return the sentences of a comment without questions, thanks and polite forms; empty if it requests nothing."""
    told: list[str] = []
    asks = comment.has_suggestion
    for sentence in sentences_of_turn(comment.said):
        bare = POLITE.sub("", NIT.sub("", sentence))
        if bare != sentence:
            asks = True
            bare = bare[:1].upper() + bare[1:].replace("?", ".")
        if not bare.endswith("?"):
            asks = asks or bool(ASKS_FOR.search(bare))
            told.append(bare)
    return " ".join(told) if asks else ""


def _change_after(thread: Thread, number: int) -> str:
    """Return how a thread shows that a change followed one of its comments; empty if it does not."""
    asked = thread.comments[number]
    answers = [
        one.said
        for one in thread.comments[number + 1 :]
        if one.author != asked.author and not one.is_bot
    ]
    done = next((one for one in answers if DONE.match(one)), "")
    if done:
        return f"answered “{one_line(redact(done), 40)}”"
    if any(DECLINES.search(one) for one in answers):
        return ""
    return thread.change


def _drafts_of(
    thread: Thread, comment: Comment, request: str, why: str
) -> Iterator[Draft]:
    """Yield a draft for each statement of a request."""
    run = RunFacts(thread.host, session=thread.review)
    for draft in drafts_of_exchanges([Exchange(1, request, at=comment.at)], run):
        cues = max(0.0, draft.score)
        score = cues or (ONE_CASE_SCORE if ONE_CASE.search(draft.text) else 0.0)
        yield replace(
            draft,
            kind=RULE,
            tags=(FILED[RULE].tag, REVIEW_TAG),
            said=redact(comment.said)[:MAX_SAID_CHARS],
            applies=_paths(thread),
            score=round(FOLLOWED_SCORE + score, 2),
            why=f"a reviewer asked for it, {why}",
        )


def _paths(thread: Thread) -> tuple[str, ...]:
    """Return the file of a thread as an act to which a draft applies; signs of globs in its name fit any sign."""
    path = path_below(re.sub(r"[\[\]{}|*!,]", "?", thread.path), "")
    usable = path.strip("?/. ") and len(path) <= MAX_PATTERN_CHARS
    return (f"{PATHS_KEY}={redact(path)}",) if usable else ()


def _group(groups: Groups, draft: Draft) -> None:
    """Put a draft to those with the same request, or into a new group."""
    request = statement_of(draft.text)
    for said, group in groups:
        both = len(said.subject & request.subject)
        # a short request is not a part of a long one
        is_as_long = 2 * both >= max(len(said.subject), len(request.subject))
        if said == request or (is_as_long and means_same(group[0], draft)):
            group.append(draft)
            return
    groups.append((request, [draft]))


def _joined(group: list[Draft]) -> Draft:
    """Return one draft for the same request in several threads: the best, with all files and a higher score."""
    best = max(group, key=lambda draft: (draft.score, len(draft.text)))
    paths = dict.fromkeys(path for draft in group for path in draft.applies)
    others = dict.fromkeys(draft.session for draft in group)
    times = len(group) - 1
    return replace(
        best,
        applies=tuple(paths)[:MAX_PATHS],
        score=round(best.score + REPEATED_SCORE * times, 2),
        why=f"{best.why}, in {times + 1} threads" if times else best.why,
        again=tuple(one for one in others if one != best.session),
    )
