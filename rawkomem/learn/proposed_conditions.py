"""Propose the `whenToUse` conditions that a text suggests."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from ..model.entries import Entry
from ..model.values import replace
from ..text.acts import COMMANDS_KEY, PATHS_KEY
from ..text.commands import fits_command
from ..text.conditions import (
    LANGUAGE,
    everyday_hits,
    match_condition,
    read_condition,
    specific_stems,
)
from ..text.language import language, word_set
from ..text.prose import sentences, subjects_of
from . import cues

# Propose `whenToUse` conditions from a memory's text: the names in it, and its subject if that is
# a few words.

MAX_NAMES = 5  # per condition: with more, it would fire on unrelated tasks
# memories of one import or session with the same condition; a more common one is useless
MAX_SHARED_CONDITION = 3
# of a request that becomes the condition of its correction
MIN_ASK_WORDS = 3
MAX_ASK_WORDS = 14
# specific words of a text that make a condition; a text with more has no clear subject
MAX_SUBJECT_WORDS = 4
CONTRACTION = re.compile(r"\b\w+['’]\w+\b")
CODE_SPAN = re.compile(r"`([^`]{2,40})`")
# people say this in words; a rule that speaks of "with lease" may allow that option
FORCED_PUSH = re.compile(r"force(?:[- ]| an? | any )push(?:es|ing)?\b", re.IGNORECASE)
COMMAND_IN_CODE = re.compile(r"`([^`\s][^`\n]{1,200})`")
PATH_RUN = re.compile(r"[\w@./-]+")  # characters that a path consists of
MAX_RUN_CHARS = 200  # longer runs are not searched for paths: quadratic time
PATH = re.compile(r"\b[\w@.-]+/[\w@./-]*\w")
REDACTED_TAG = re.compile(r" ?\[REDACTED_[^\]\n]*\]")
# Addresses, and words in capitals that somebody shouts: they hold no names.
NAMELESS_RUN = re.compile(r"https?://\S+|\b[A-Z]{2,}(?: [A-Z']{2,}){1,9}\b", re.ASCII)
# CamelCase, snake_case, ALLCAPS, dotted or dashed names, capitals inside a sentence: never ordinary words.
WRITTEN_NAME = re.compile(
    r"\b[A-Za-z]+[a-z0-9][A-Z]\w*|\b[A-Za-z]\w*_\w+|\b[A-Z]{2,}[0-9]*\b|\b[A-Za-z]+[0-9]\w*"
    r"|(?<=[a-z,;:] )[A-Z][a-z]+\w*",
    re.ASCII,
)
# Names that occur in very many tasks, so they select nothing.
COMMON_NAMES = word_set(
    """
    api apis app apps http https json yaml xml html css sql url urls cli ci cd git id ids ui ux db pr prs todo ok utc mb
    gb kb ms test tests null none true false ascii utf readme github index main init mod lib util utils server
    src standard american british chinese dutch english french german italian japanese spanish monday tuesday wednesday
    thursday friday saturday sunday january february april june july august september october november december
    """
)
# Words of headings that very many pages have.
HEADING_WORDS = word_set(
    """
    about agent agents architecture background basics changelog claude command commands concept concepts consideration
    considerations contributing convention conventions development docs documentation features folder folders getting
    guide guideline guidelines install installation instruction instructions introduction key layout license notes
    overview pitfall pitfalls practice practices principle principles quick quickstart reference repository rule rules
    setup standards started strategy structure style summary testing tips usage workflow
    """
)
NAMELESS = COMMON_NAMES | HEADING_WORDS


def propose_conditions(text: str) -> tuple[str, ...]:
    """Return the conditions under which to recall a memory with this text; none if its words are too common."""
    text = NAMELESS_RUN.sub(" ", REDACTED_TAG.sub("", text))
    text = CONTRACTION.sub(" ", text)
    names = list(_names_in(text))[:MAX_NAMES]
    vague = NAMELESS | cues.ANNOUNCING
    about = list(dict.fromkeys(word for word in subjects_of(text) if word not in vague))
    more = 1 < len(about) <= MAX_SUBJECT_WORDS and not set(about) <= set(
        " ".join(names).split()
    )
    if len(names) > 1:
        names = [", ".join(names[:-1]), names[-1]]
    conditions = (
        f"{cues.WORKING_WITH} {f' {language().alternative} '.join(names)}"
        if names
        else "",
        f"{cues.WORKING_ON} {' '.join(about)}" if more else "",
    )
    return tuple(
        condition for condition in conditions if condition and _is_usable(condition)
    )


# Propose patterns for a short rule: the things that it names, and the words with which people ask for
# the work that it is about. The kinds of work are data: `named` and `tools` match rules; `asked` and
# the tools that a rule names are written into the memory. A pattern that fires hands the text over, so
# each is a verb with its object, or a word that means nothing else.

MAX_RULE_WORDS = 20  # a longer text says more than one rule about one kind of work
MAX_KINDS = 2  # of work; a rule about more has no clear subject
MAX_OBJECT_WORDS = 2


@cache
def kinds_of_work() -> dict[str, Any]:
    """Return kind of work → `named` and `tools`, the words of rules about it, and `asked`, the words of requests for it."""
    path = os.path.join(os.path.dirname(__file__), "kinds_of_work.json")
    with open(path, encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def propose_patterns(rule: str) -> tuple[str, ...]:
    """Return patterns for what a short rule forbids and asks for, and for its kind of work; none if that is unclear.

    "Never run bare pytest, use make suite" applies to requests for pytest, for make suite and for any tests. The reason
    of a rule does not say when to use it.
    """
    rule = cues.without_reasons(REDACTED_TAG.sub("", rule))
    if (
        len(rule.split()) > MAX_RULE_WORDS
        or len(kinds := _kinds_named(rule)) > MAX_KINDS
    ):
        return ()
    asked = [kind["asked"] for kind in kinds]
    things = chain(
        cues.COMMANDS.findall(rule),
        cues.FILES.findall(rule),
        *(_words_of(kind, "tools", rule) for kind in kinds),
        _names_in(rule),
        _objects_in(rule),
    )
    new: list[str] = []
    for thing in map(str.lower, things):
        words = thing.replace("*", " ")
        known = "|".join((*asked, *new))
        if words not in known and not (known and match_condition(known, words)):
            new.append(thing)
    return tuple(filter(None, ("|".join(new[:MAX_NAMES]), *asked)))


def _kinds_named(rule: str) -> list[dict[str, str]]:
    """Return the kind of work that a rule names first, and that of its occasion: "run the linter before each commit".

    Another kind is a means: "never run the tests like that, use the docker database". If a rule names more than MAX_KINDS,
    return them all.
    """
    occasion = cues.OCCASION.search(rule)
    named = []
    for kind in kinds_of_work().values():
        words = _words_of(kind, "named", rule) + _words_of(kind, "tools", rule)
        if words:
            at = min(rule.lower().find(word[:-1]) % len(rule) for word in words)
            named.append((at, kind))
    named.sort(key=lambda one: one[0])
    from_, to = occasion.span() if occasion else (0, 0)
    chosen = named[:1] + [one for one in named[1:] if from_ < one[0] < to]
    return [kind for _, kind in (named if len(named) > MAX_KINDS else chosen)]


def _words_of(kind: Mapping[str, str], key: str, rule: str) -> list[str]:
    """Return the words of a kind of work that a rule contains."""
    words = kind.get(key, "")
    if not words or not match_condition(words, rule):
        return []
    return [word for word in words.split("|") if match_condition(word, rule)]


def _objects_in(rule: str) -> Iterator[str]:
    """Yield a pattern for each thing that a rule forbids or asks for: what to use, two words, or a verb with its object.

    "Don't put business logic in controllers": `business logic`. "Stop adding comments": `add*comment`.
    """
    orders = cues.ORDER.finditer(rule) if cues.language_of(rule) == "en" else ()
    for order in orders:
        thing: list[str] = []
        for word in order[2].lower().split():
            bare = word.strip("`\"'.")
            if bare in cues.PLAIN and not thing:
                continue
            is_end = language().is_stop(bare) or "/" in bare or "." in bare
            if is_end or len(thing) == MAX_OBJECT_WORDS:
                break
            thing.append(bare)
        named = specific_stems(" ".join(thing))
        if named and (len(thing) > 1 or cues.USES.match(order[1])):
            yield " ".join(thing)
        elif named and not language().is_stop(order[1].lower()):
            verb = re.sub("ing$", "", order[1].lower())  # "adding": `add*comment`
            gap = " *" if verb == order[1].lower() else "*"
            yield verb + gap + re.sub("(?<=[^s])s$", "", thing[0])


def propose_acts(rule: str) -> tuple[str, ...]:
    """Return the acts of an agent that a rule is about, each as key=pattern; none unless it names them.

    "Never run bare pytest" and "never force push" name a command, "do not edit db/seeds" a folder, "if you change
    `schema.sql`, run make" a file, "never use classes" nothing. "Never run bare pytest, use `uv run pytest`" names none: a pattern for the one
    fits the other.
    """
    asked = [*cues.COMMANDS.findall(rule), *COMMAND_IN_CODE.findall(rule)]
    found: list[str] = []
    for sentence in sentences(REDACTED_TAG.sub("", rule)):
        words = cues.guard_words(cues.language_of(sentence) or "en")
        if not words:
            continue
        files: list[str] = []
        for lead in words.forbids.finditer(sentence):
            found += [
                f"{COMMANDS_KEY}={one}"
                for one in _command_at(sentence, lead, words)
                if not any(_is_wrapped(one, command) for command in asked)
            ]
            if FORCED_PUSH.match(sentence, lead.end()):
                forced = "git push --force" if "lease" in rule else "git push*--force*"
                found.append(f"{COMMANDS_KEY}={forced}")
            files += _changed_at(sentence, lead.end(), words)
        for changed in cues.WHEN_CHANGED.finditer(sentence):
            files += words.file.findall(changed[1])
        if cues.TOGETHER.search(sentence):
            files += words.file.findall(sentence)
        found += [f"{PATHS_KEY}={_glob(one)}" for one in files]
    return tuple(dict.fromkeys(found))


def _is_wrapped(pattern: str, command: str) -> bool:
    """Return whether a command runs, through another program, what a pattern fits."""
    program = pattern.split()[0].rstrip("*")
    return command.split()[0] != program and fits_command(pattern, command)


def _command_at(
    sentence: str, lead: re.Match[str], words: cues.GuardWords
) -> Iterator[str]:
    """Yield the command that a sentence names after some words. Only after "run", any program in backquotes counts."""
    span = cues.COMMAND_SPAN.match(sentence, lead.end())
    if span and not (lead[1] or cues.STARTS_PROGRAM.match(span[1])):
        return
    if named := span or words.command.match(sentence, lead.end()):
        command = named[1].strip()
        yield command if " " in command else f"{command}*"


def _changed_at(sentence: str, at: int, words: cues.GuardWords) -> Iterator[str]:
    """Yield the files that a sentence names one after another behind a verb of change."""
    step = words.changes.match(sentence, at)
    while step and (file := words.file.match(sentence, step.end())):
        yield file[1]
        step = cues.AND_FILE.match(sentence, file.end())


def _glob(path: str) -> str:
    """Return a pattern of a file, or of all files in a folder."""
    is_file = "." in path.rpartition("/")[2] or path.endswith("*")
    return path if is_file else f"{path.rstrip('/')}/**"


def with_condition(entry: Entry) -> Entry:
    """Return a new memory with a condition: its own, or usable ones from the names, the subject and the work of its title.

    "Run the tests with pnpm" is wanted by who is asked to run the tests.
    """
    if entry.when or not entry.title:
        return entry
    work = cues.WORK.match(entry.title)
    asked = propose_asked_condition(work[1].lower()) if work else ()
    usable = filter(_is_usable, conditions_of_title(entry.title))
    return replace(entry, when=tuple(dict.fromkeys((*usable, *asked))))


def conditions_of_title(title: str, text: str = "") -> tuple[str, ...]:
    """Return the conditions that the names or the subject of a title suggest, or else those of the text after it."""
    title = REDACTED_TAG.sub("", title).strip()
    words = subjects_of(CONTRACTION.sub(" ", title))
    about = [word for word in words if word not in NAMELESS | cues.ANNOUNCING]
    subject = " ".join(dict.fromkeys(about[:MAX_SUBJECT_WORDS]))
    lead = cues.WORKING_ON if len(about) > 1 else cues.WORKING_WITH
    named = propose_conditions(title) or ((f"{lead} {subject}",) if about else ())
    named = named or propose_conditions(text)
    return named or ((f"{cues.ASKED} {title}",) if title else ())


def propose_asked_condition(ask: str) -> tuple[str, ...]:
    """Return a condition that fires when somebody repeats the request that was corrected; none for a long request.

    It may fire on everyday tasks such as "run the tests": the correction says how this project does them.
    """
    words = REDACTED_TAG.sub("", ask).split()
    condition = f"{cues.ASKED} {' '.join(words).rstrip('.!?')}"
    short = MIN_ASK_WORDS <= len(words) <= MAX_ASK_WORDS and "\n" not in ask.strip()
    read = read_condition(condition) if short else None
    if read and read.form == LANGUAGE and specific_stems(ask):
        return (condition,)
    return ()


def without_shared_conditions(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries without the plain-language conditions that more than MAX_SHARED texts have."""
    times = Counter(
        condition
        for _, condition in {
            (entry.body, one) for entry in entries for one in entry.when
        }
    )
    common = {
        condition
        for condition, count in times.items()
        if count > MAX_SHARED_CONDITION and read_condition(condition).form == LANGUAGE
    }
    return [
        replace(entry, when=tuple(one for one in entry.when if one not in common))
        for entry in entries
    ]


def _names_in(text: str) -> Iterator[str]:
    """Yield each name in a text once, as words; of a path, the file name."""
    seen: set[str] = set()
    for found in _written_names(text):
        name = " ".join(language().words(found))
        known = set(specific_stems(name))
        if (
            known
            and not seen & known
            and name not in NAMELESS
            and not language().is_stop(name)
            and not name.isdecimal()
        ):
            seen |= known
            yield name


def _written_names(text: str) -> Iterator[str]:
    """Yield names as they are written: pairs like "pnpm, not npm", then code spans, other names, and paths."""
    plain = PATH_RUN.sub(
        lambda run: PATH.sub(" ", run[0]) if _may_be_path(run[0]) else run[0], text
    )
    for pair in cues.PAIR.finditer(plain):
        if not language().stop_words.intersection(map(str.lower, pair.groups())):
            yield from pair.groups()
    for span in CODE_SPAN.findall(text):
        if " " not in span and "/" not in span:
            yield span
    yield from WRITTEN_NAME.findall(plain)
    for run in filter(_may_be_path, PATH_RUN.findall(text)):
        for path in PATH.findall(run):
            yield path.rstrip("/").rpartition("/")[2].partition(".")[0]


def _may_be_path(run: str) -> bool:
    return "/" in run and len(run) <= MAX_RUN_CHARS


def _is_usable(condition: str) -> bool:
    read = read_condition(condition)
    return read.form == LANGUAGE and not everyday_hits(read)
