"""Make entries from the data of a source: within our limits, with conditions and with different
titles.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any, TypeGuard

from ..format.entries import FORBIDDEN_KEYS, MAX_PATTERNS, MAX_TAGS, read_entries
from ..format.skill_files import CONDITION_LENGTH, in_fence
from ..learn import cues
from ..learn.proposed_conditions import NAMELESS
from ..learn.turns import time_of
from ..model.entries import Entry, Value
from ..model.errors import BadInput
from ..model.ids import hex_hash
from ..model.values import now, replace, text_of, without
from ..redaction.entries import redact_entry
from ..redaction.find import redact
from ..state.plans import TAG_CHARS, TITLE_CHARS, check_by
from ..state.trust import IMPORTED
from ..text.acts import COMMANDS_KEY, PATHS_KEY
from ..text.chunks import fenced_lines
from ..text.clean import clean, one_line, spaced
from ..text.conditions import (
    LANGUAGE,
    condition_problems,
    everyday_hits,
    read_condition,
)
from ..text.language import language, word_set
from ..text.paths import is_file_glob, split_outside_braces
from ..text.prose import (
    SENTENCE_END,
    first_sentence,
    prose_lines,
    subjects_of,
    without_code,
)
from .sources import Source, SourcePage, place_of

# Give the memories of one import different titles, by adding their heading, their file or their
# first sentence.

TITLE_LENGTH = 120  # characters of a title that is generated
TITLE_SENTENCE_LENGTH = 80  # characters of a sentence in a title
# Titles that say too little, even if only one memory has them.
VAGUE_TITLES = word_set(
    """
    about agents background claude context description details do don't gemini general index info intro introduction memory
    misc note notes overview readme skill summary untitled
    """
)
INSTRUCTION_STEMS = ("agents", "claude", "gemini")
# Words of headings that say nothing without the section before them: "Examples", "When to apply".
PART_WORDS = word_set(
    """
    additional apply applies benefit benefits checklist detail details example examples exception exceptions further link
    links look more next note notes overview override overrides purpose quick rationale read reason reasons reference
    references related scope see summary why
    """
)


def is_part_title(title: str) -> bool:
    """Return whether a title names only a part of a rule, such as "Examples"."""
    words = set(language().words(title))
    return bool(words & PART_WORDS) and words <= PART_WORDS | language().stop_words


def with_distinct_titles(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries with different titles; keep a title that is unique and not vague."""
    times = Counter(entry.title.casefold() for entry in entries)
    fine = {
        name for name, count in times.items() if count == 1 and not is_part_title(name)
    } - VAGUE_TITLES
    taken = set(fine)
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
    renamed = []
    for entry in entries:
        if (name := entry.title.casefold()) not in fine:
            entry = replace(entry, title=other_title(entry, taken, numbers[name]))
            taken.add(entry.title.casefold())
        renamed.append(entry)
    return renamed


def other_title(
    entry: Entry, taken: Container[str], numbers: Iterator[int] | None = None
) -> str:
    """Return a more specific title for an entry; `taken` are titles of other entries, case-folded.

    `numbers` go on where the last entry of this title ended.
    """
    names = _possible_titles(entry, numbers or count(2))
    return next(name for name in names if name.casefold() not in taken)


def _possible_titles(entry: Entry, numbers: Iterator[int]) -> Iterator[str]:
    """Yield titles for an entry, best first, then endless numbered ones."""
    path, _, section = place_of(entry.extra).partition("#")
    folder, name = os.path.split(path)
    stem = os.path.splitext(name)[0]
    title = entry.title
    above = section.split(" / ")[-2:-1]
    opening = one_line(first_sentence(entry.body), TITLE_SENTENCE_LENGTH)
    own_name = title.casefold() == stem.casefold()
    if own_name and title.casefold() in INSTRUCTION_STEMS:
        # the name of such a file says nothing; its folder says what it is about
        title = "" if folder.startswith(".") else folder
    sentence = [f"{title}: {opening}" if title else opening] if opening else []
    places = [name for name in above if name.casefold() not in VAGUE_TITLES]
    places += [] if folder.startswith(".") else [folder]
    named = [f"{place}: {title}" for place in places if place]
    if own_name:
        names = [*sentence, *named]
    elif title.casefold() in VAGUE_TITLES:
        names = [*named, *sentence, f"{stem}: {title}"]
    else:
        names = [*named, f"{stem}: {title}", *sentence]
    for name in names:
        yield one_line(name, TITLE_LENGTH)
    for number in numbers:
        yield f"{one_line(entry.title, TITLE_LENGTH - 8)} ({number})"


# Find rules that their author emphasizes: NEVER, **Important**, ⚠️.

EMPHASIS_WORDS = "critical|important|never|always|must|do not|don't|mandatory|forbidden"
EMPHASIS = re.compile(
    rf"\b(?:HARD RULE|{EMPHASIS_WORDS.upper()})\b|\*\*(?i:{EMPHASIS_WORDS}|warning)\b(?!-)[^*\n]*\*\*|[⚠🚨❗⛔]"
    r"|^#* ?(?i:critical|important)(?:(?i: rules?| notes?)\b|:)"
)
# A mark that says nothing else: "CRITICAL:", "⚠️", "(important)".
MARK = "critical|important|mandatory|warning|hard rule"
EMPHASIS_LABEL = re.compile(
    rf"^\W{{0,5}}(?:{MARK})\W{{0,5}}[:!–—-]\W{{0,5}}(?=\w)|\s?[(\[](?:{MARK})!?[)\]]|[⚠🚨❗⛔]\ufe0f?\s?",
    re.IGNORECASE,
)
# "2.", "2.1." and, before a word, "2.1"; but 2.0 is a version and "2.5 GB" an amount
HEADING_NUMBER = re.compile(
    r"^\d{1,2}(?:(?:\.\d{1,2})*[.)]|(?:\.[1-9]\d?)+(?=\s+[A-Z][a-z]))\s+"
)
BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
EMPHATIC = word_set(EMPHASIS_WORDS.replace("|", " "))
INTRODUCING = EMPHATIC | {"add", "avoid", "how", "new", "run", "use"}


def is_emphasized(text: str) -> bool:
    """Return whether a text emphasizes that it must be followed, outside of code."""
    return any(EMPHASIS.search(without_code(line)) for line in prose_lines(text))


def plain_title(heading: str) -> str:
    """Return a heading without its number, without bold marks and marks that only say that it is important.

    The name of a file of instructions stays without its ending, because it says nothing.
    """
    text = HEADING_NUMBER.sub("", BOLD.sub(r"\1", heading))
    text = EMPHASIS_LABEL.sub("", text).strip() or text
    stem = text.removesuffix(".md")
    return stem if stem.casefold() in INSTRUCTION_STEMS else text


# Propose whenToUse conditions for an imported memory: from its description, else from its
# headings, and from its opening clause, or the commands and file types that it names.

MAX_WORDS_BEFORE = 5  # words before "when", as in "Use this skill when …"
MAX_PHRASE_WORDS = 6  # of a heading that is a condition
MAX_NAMED = 2  # commands or file types; a text that names more is about none of them
NAME = re.compile(r"\w_\w|[a-z][A-Z]|[A-Z]{2}|\d")
CAPITALIZED = re.compile(r"\b[A-Z][a-z]+\b")
MAX_RULE_SENTENCES = 3  # a longer text says more than what its first clause is about
PHRASE_END = re.compile(r"[(\[:;|]| [-–—] ")
NAMED_COMMAND = re.compile(
    r"\b(?i:run|running|execute) (?:bare |plain )?`([a-z][\w.:/-]*(?: [a-z][\w:-]*){0,2})[^`\n]*`"
)
NAMED_GLOB = re.compile(r"`(\*\*?[./][^`\s]{1,60})`")
# a command in a line of a code fence, or in the first code span of a list item or a row of a table
RUNNERS = (
    r"(?:make|just|task|npm|npx|pnpm|yarn|bun|deno|cargo|go|uv|poetry|pip|python3?|pytest|tox|nox|hatch|ruff|mypy|mvn|gradle"
    r"|bundle|rake|rails|mix|composer|php|dotnet|swift|flutter|dart|docker|bazel|cmake|nx|turbo|tsc|eslint|prettier|biome"
    r"|vitest|jest|pre-commit|\.{0,2}/?(?:[\w.-]+/)+[\w.-]+|\./[\w.-]+)"
)
FENCED_COMMAND = re.compile(rf"\s*(?:\$ )?({RUNNERS}(?: [^#\n]*|$))")
LISTED_COMMAND = re.compile(rf"\s*[-*+|][^`\n]{{0,60}}`({RUNNERS} [^`\n]+)`")
# what people ask for → the commands that do it
COMMANDS_FOR = {
    "run the tests": r"\btest|\b(?:pytest|jest|vitest|rspec|tox)\b",
    "lint the code": r"\blint|\b(?:ruff|eslint|clippy|golangci-lint)\b",
    "format the code": r"\bformat|\bfmt\b|\bprettier\b",
    "check the types": r"\btype-?check|\b(?:tsc|mypy|pyright)\b",
    "build the project": r"\bbuild|\bcompile",
    "start the dev server": r"\b(?:dev|serve|start|runserver)\b",
    "apply the database migrations": r"\bmigrat",
    "install the dependencies": r"\binstall\b",
    "deploy a release": r"\b(?:deploy|release|publish)\b",
}
# the first clause of a rule, in which commas may stand in code and in brackets
OPENING_CLAUSE = re.compile(r"(?:`[^`\n]*`|\([^()\n]*\)|[^`(,:;.?!\n])+(?=,)")


def conditions_from_description(description: str) -> list[str]:
    """Return conditions from a description: its "when …" sentences, else all of it, else its first sentence."""
    text = spaced(description)
    sentences = [part.strip() for part in SENTENCE_END.split(text) if part.strip()]
    conditions = [when for sentence in sentences if (when := _from_opener(sentence))]
    for candidates in (conditions, [text], sentences[:1]):
        if fit := [condition for condition in candidates if _is_specific(condition)]:
            return fit
    return []


def conditions_from_headings(*headings: str, body: str = "") -> tuple[str, ...]:
    """Return a condition from the innermost heading that names a subject, and from what the text names."""
    phrases = (f"{cues.WORKING_ON} {_subject_phrase(one)}" for one in headings[::-1])
    subject = next(filter(_is_telling, phrases), "")
    return *((subject,) if subject else ()), *_named_in(body), *_asked_for(body)


def _asked_for(body: str) -> list[str]:
    """Return conditions with the words in which people ask for the work that the commands of a list do.

    "make test" is wanted by who is asked to run the tests. A text with one command is a rule about this command.
    """
    lines = [
        (FENCED_COMMAND if is_code else LISTED_COMMAND).match(line)
        for line, is_code in fenced_lines(body)
    ]
    commands = [found[1] for found in lines if found]
    work = [
        f"{cues.ASKED} {asked}"
        for asked, named in COMMANDS_FOR.items()
        if any(re.search(named, command) for command in commands)
    ]
    return work if len(commands) > 1 else []


def names_subject(heading: str) -> bool:
    """Return whether a heading names what the rules below it are about."""
    return _is_specific(f"{cues.WORKING_ON} {_subject_phrase(heading)}")


def _named_in(body: str) -> list[str]:
    """Return the condition with which a short rule opens, or conditions for the commands and file types that it names.

    "If you change the schema, run `make types`" is about the schema. A text that names many is about none of them.
    """
    text = redact("\n".join(prose_lines(body)))
    clause = OPENING_CLAUSE.match(text.lstrip("-*+ \n"))
    opening = _from_opener(re.sub("[`*]", "", clause[0])) if clause else ""
    if _is_telling(opening) and len(SENTENCE_END.findall(text)) < MAX_RULE_SENTENCES:
        return [opening]
    commands = dict.fromkeys(NAMED_COMMAND.findall(text))
    globs = dict.fromkeys(filter(is_file_glob, NAMED_GLOB.findall(text)))
    running = [f"When running {command}" for command in commands]
    few = [found for found in (running, [*globs]) if len(found) <= MAX_NAMED]
    return [
        one
        for found in few
        for one in usable_conditions(found)
        if one in globs or _is_specific(one)
    ]


def _subject_phrase(heading: str) -> str:
    """Return the part of a heading that names its subject, as it is written; empty if there is none or it is long.

    A single word must end the heading: in "Core commands", "core" is not the subject.
    """
    text = PHRASE_END.split(redact(plain_title(heading)))[0].replace("`", "")
    words = CAPITALIZED.sub(lambda word: word[0].lower(), text).split()
    vague = NAMELESS | cues.ANNOUNCING | INTRODUCING
    named = [bool({*subjects_of(word)}.difference(vague)) for word in words]
    if True not in named:
        return ""
    opening = takewhile(
        lambda pair: not pair[1] and _introduces(pair[0]),
        zip(words, named, strict=True),
    )
    last = len(words) - named[::-1].index(True)
    phrase = words[len([*opening]) : last]
    is_last = last == len(words) or not phrase[-1].isalpha()
    is_short = len(phrase) <= MAX_PHRASE_WORDS and (len(phrase) > 1 or is_last)
    subject = " ".join(phrase).strip(".,!?'\"*_/")
    return subject if is_short and "," not in subject else ""


def _introduces(word: str) -> bool:
    """Return whether a word only leads to the subject of a heading: "adding", "a", "new"."""
    word = word.lower()
    return word.endswith("ing") or language().is_stop(word) or word in INTRODUCING


def _from_opener(sentence: str) -> str:
    """Return a sentence starting at its "when"; empty if there is none near its start."""
    words = sentence.split()
    for at, word in enumerate(words[: MAX_WORDS_BEFORE + 1]):
        if word.lower().strip(",:") in language().openers:
            rest = words[at + 1 :]
            return " ".join([word.capitalize(), *rest]) if rest else ""
    return ""


def _is_specific(condition: str) -> bool:
    """Return whether a condition is short, written in plain language, and has words that are not in every task."""
    if len(condition) > CONDITION_LENGTH:
        return False
    read = read_condition(condition)
    return bool(read.parts) and read.form == LANGUAGE and not everyday_hits(read)


def _is_telling(condition: str) -> bool:
    """Return whether a condition is specific and says more than one noun, unless that is a name such as `max_batch`."""
    words = {*language().content_terms(condition)} - {"working"}
    return _is_specific(condition) and bool(len(words) > 1 or NAME.search(condition))


# Propose the acts of an agent that an imported rule is about: the moments that its text states, and
# the kinds of files that its heading names.

MIN_NOUN_CHARS = 4
MAX_MOMENTS = 8  # paths of one text; a text with more is about none of them
WHEN_DOING = r"(?:before|after|when|whenever|while|if|every|each|on)"
DO = r"(?:before|after|when|whenever|every|each|always|never|must|not|don['’]?t)"
MOMENTS = {  # pattern of a text → the command that an agent runs then
    rf"\b{DO} (?:[\w-]+ ){{0,2}}commit(?:s|ting)?\b|\bcommit messages?\b": "git commit*",
    r"\b(?:before|when|never|not|don['’]?t|must) (?:[\w-]+ ){0,2}push(?:ing)?\b": "git push*",
    rf"\b(?:{DO}|open|opening|create|creating|submit|submitting) (?:[\w-]+ ){{0,2}}(?:PRs?|pull requests?)\b"
    r"|\b(?:PR|pull request) (?:title|description|bod)": "gh pr create*",
}
# words of a heading or of the object of "when you edit …" → the files
TESTING = word_set("test tests testing")
KINDS_OF_FILES = {
    "test tests testing": "**/test*/** **/__tests__/** test_* *_test.* *.test.* *.spec.*",
    "migration migrations": "**/migration*/**",
    "docs documentation readme": "docs/** *.md",
    "workflow workflows ci": ".github/workflows/**",
    "dependency dependencies": "package.json pyproject.toml requirements*.txt Cargo.toml go.mod Gemfile",
    "python": "*.py",
    "typescript": "*.ts *.tsx",
    "javascript": "*.js *.jsx *.mjs",
    "css scss": "*.css *.scss",
    "sql": "*.sql",
    "rust": "*.rs",
    "kotlin": "*.kt",
    "swift": "*.swift",
    "ruby": "*.rb",
    "svelte": "*.svelte",
    "vue": "*.vue",
    "graphql": "*.graphql",
    "protobuf proto": "*.proto",
    "terraform": "*.tf",
    "dockerfile dockerfiles docker": "Dockerfile*",
    "makefile": "Makefile",
}
FILES_OF = {
    word: tuple(globs.split())
    for words, globs in KINDS_OF_FILES.items()
    for word in words.split()
}
# the object of a change: "when you edit migrations", "before adding a new API endpoint to the server"
NOUN = r"(?!(?:in|to|for|from|with|that|on|of|or|and|which|by|at|as|is|are|it|run)\b)[\w-]+"
CHANGED = cues.caseless(
    rf"\b{WHEN_DOING} (?:you(?:['’]re| are)? )?(?:add|chang|creat|edit|modif|touch|updat|writ|renam|remov)"
    rf"(?:e|ing|y|ying)?(?: (?:or|and) \w+)? ({NOUN}(?: {NOUN}){{0,4}})"
)
# "when running `cargo test`"
RUNNING = cues.caseless(
    rf"\b{WHEN_DOING} (?:you )?(?:run|running|use|using|call|calling) `([a-z][^`\n]{{1,40}})`"
)
# "All Python files", "in TypeScript code"
FILES_NAMED = cues.caseless(r"\b([\w]+) (?:files?|code|modules?|sources?)\b")
# "Migrations are in `db/migrations/`", "**Location**: `db/migrations/`"
PLACED = cues.caseless(
    r"(?:\b(?:are|is|lives?|belongs?|goe?s?|placed?|put|kept|stored) (?:[\w-]+ ){0,3}(?:in|under|inside|at)|\blocations?\W{1,5})"
    r" ?`((?:[\w@.*-]+/)+[\w@.*-]+/?)`"
)
FOLDER_NAMED = re.compile(
    r"`((?:[\w@.-]+/)+[\w@.-]*)`|(?<![\w/.])((?:[\w@.-]+/)+)(?!\w)"
)


def acts_of_moment(heading: str, body: str, named: Sequence[str] = ()) -> list[str]:
    """Return the acts, each as key=pattern, that a rule is about: those `named`, and those of the moments that it states.

    "Before each commit" is a command, "when you edit migrations" names folders, "Python files" a file type. The heading says
    the kind of files of a long text, and of a short one that names no act.
    """
    text = redact("\n".join(prose_lines(body)))
    is_short = max(text.count("\n"), len(SENTENCE_END.findall(text))) < MAX_RULE_SENTENCES  # fmt: skip
    commands = [f"{one}*" for one in RUNNING.findall(text)]
    for pattern, command in MOMENTS.items():
        if re.search(pattern, f"{heading}\n{text}", re.IGNORECASE):
            commands.append(command)
    paths = [*map("".join, FOLDER_NAMED.findall(heading))]
    places = {*PLACED.findall(text)}
    paths += sorted(places) if len(places) <= MAX_NAMED else []
    # a path without a wildcard fits a file, and a folder with its files
    paths = [f"{one}**" if one.endswith("/") else one for one in paths]
    for kind in FILES_NAMED.findall(text) if is_short else ():
        paths += _files_of(kind)
    for phrase in CHANGED.findall(text):
        paths += _files_of_object(phrase)
    if not (is_short and (commands or paths or named)):
        paths += _files_of_heading(heading)
    paths = [*dict.fromkeys(paths)]
    acts = [*named, *(f"{COMMANDS_KEY}={one}" for one in commands)]
    acts += [f"{PATHS_KEY}={one}" for one in paths if len(paths) <= MAX_MOMENTS]
    return [*dict.fromkeys(acts)]


def _files_of(word: str) -> Sequence[str]:
    return FILES_OF.get(word.lower(), ())


def _files_of_heading(heading: str) -> list[str]:
    """Return globs of the kinds of files that a heading names: for "Python tests", the tests in Python."""
    words = language().words(heading)
    found = [glob for word in words if word not in TESTING for glob in _files_of(word)]
    if TESTING.isdisjoint(words):
        return found
    endings = [glob.removeprefix("*") for glob in found if glob.startswith("*.")]
    tests = [
        glob for one in endings for glob in (f"*test*{one}", f"**/test*/**/*{one}")
    ]
    return tests or [*_files_of("tests"), *found]


def _files_of_object(phrase: str) -> Sequence[str]:
    """Return globs of the files that the last word of a phrase names: known kinds, else folders and files of its name."""
    words = phrase.lower().split()
    known = next(filter(None, map(_files_of, words[::-1])), ())
    if known:
        return known
    noun = words[-1]
    base = noun.removesuffix("s")
    if len(base) < MIN_NOUN_CHARS or noun not in subjects_of(noun):
        return ()
    return (f"**/{base}*/**", f"{base}.*")


def entry_from(
    page: SourcePage,
    title: str,
    body: str,
    section: str = "",
    when: Iterable[str] = (),
    tags: Iterable[str] = (),
    importance: str = "medium",
    kind: str = "memory",
    at: int = 0,
    by: str = "",
    extra: Mapping[str, Value] | None = None,
    headings: tuple[str, ...] = (),
) -> Entry:
    """Return the redacted memory of a page or a section; without a condition in words, propose one."""
    place = f"{page.place}#{section}" if section else page.place
    entry = redact_entry(
        Entry(
            kind=kind,
            title=title,
            when=usable_conditions(when),
            tags=valid_tags(tags),
            importance=importance,
            at=at or page.at,
            by=valid_name(by),
            body=as_one_body(body),
            extra={IMPORTED: one_line(place, 200), **(extra or {})},
        )
    )
    first = entry.body.partition("\n")[0].lstrip("#*-> ")
    return replace(
        entry,
        title=one_line(entry.title, TITLE_LENGTH) or one_line(first, TITLE_LENGTH),
        when=_with_proposed(entry.when, headings or (title,), entry.body),
    )


def _with_proposed(
    when: tuple[str, ...], headings: tuple[str, ...], body: str
) -> tuple[str, ...]:
    """Return the conditions; without a sentence among them, add those from the headings and, for no globs, from the text."""
    if any(read_condition(condition).form == LANGUAGE for condition in when):
        return when
    return (*when, *conditions_from_headings(*headings, body="" if when else body))[
        :MAX_PATTERNS
    ]


def as_one_body(text: str) -> str:
    """Return a text as a body; if it would read back as several entries, put it into a code fence."""
    text = clean(text.replace("\r\n", "\n")).strip("\n").rstrip()
    entries, _ = read_entries(f"---\ntitle: x\n---\n\n{text}\n", advice=False)
    return text if len(entries) == 1 else in_fence(text, "markdown")


def usable_conditions(conditions: Iterable[str]) -> tuple[str, ...]:
    """Return the conditions that can match a task and that do not match every task."""
    lines = dict.fromkeys(spaced(condition) for condition in conditions)
    short = [line for line in lines if 0 < len(line) <= CONDITION_LENGTH]
    sound = [line for line in short if not condition_problems([line])]
    return tuple(sound[:MAX_PATTERNS])


def valid_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags within our limits, without the `#` of some tools."""
    cleaned = dict.fromkeys(
        one_line(tag, TAG_CHARS).lstrip("#").strip() for tag in tags
    )
    return tuple(tag for tag in cleaned if tag)[:MAX_TAGS]


def valid_name(by: str) -> str:
    """Return an author's name if it is valid in our files; else an empty text."""
    try:
        check_by(by)
    except BadInput:
        return ""
    return by


def line_of(value: object, limit: int = TITLE_CHARS) -> str:
    """Return a text as one clean line; an empty one for anything else."""
    return one_line(text_of(value), limit)


def list_of(value: object) -> list[Any]:
    """Return a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def texts_in(value: Value | None) -> list[str]:
    """Return the texts of a value that is a list of texts or one text with commas."""
    if isinstance(value, list):
        return [str(item).strip() for item in value if isinstance(item, str)]
    parts = [part.strip() for part in split_outside_braces(text_of(value))]
    return [part for part in parts if part]


def past_time(value: object) -> int:
    """Parse a time as other tools write it; return milliseconds since 1970, or 0 if it is invalid or in the future."""
    at = time_of(value)
    return at if at <= now() else 0


# Ids and fields of another program.

MAX_DEPTH = 6  # levels of a value; a frontmatter may have eight in all
MAX_KEY_CHARS = 100
IMPORT_ID_DIGITS = 12  # of an id made from the content or from another id


class TooMuch(Exception):
    """Raised if the values of a file exceed a limit."""


def as_values(value: Any, depth: int = 0, left: Iterator[int] | None = None) -> Value:
    """Return a value as texts, lists and mappings with clean names; null and values that are too deep become empty.

    `left` has an item for each value that is allowed; then more values, or deeper ones, raise TooMuch.
    """
    is_deep = depth > MAX_DEPTH
    if left is not None and (is_deep or next(left, None) is None):
        raise TooMuch
    if isinstance(value, dict) and not is_deep:
        names = {
            key: " ".join(clean(str(key)).split())[:MAX_KEY_CHARS] for key in value
        }
        return {
            names[key]: as_values(item, depth + 1, left)
            for key, item in value.items()
            if names[key] and names[key] not in FORBIDDEN_KEYS
        }
    if isinstance(value, (list, tuple)) and not is_deep:
        return [as_values(item, depth + 1, left) for item in value]
    if value is None or isinstance(value, (dict, list, tuple)):
        return ""
    return str(value).lower() if isinstance(value, bool) else clean(str(value))


OWN_ID = re.compile(
    r"(?:mem|lesson|skill|learning|reflection|exp|ep)_[A-Za-z0-9_-]{6,80}|trace-[a-z0-9-]{6,80}"
)


def id_here(id: str, program: str = "") -> str:
    """Return an id of ours as it is; for an id of another program, return one made from its hash."""
    if OWN_ID.fullmatch(id):
        return id
    return f"mem_{hex_hash(program + id, IMPORT_ID_DIGITS)}"


def split_by_size(
    fields: Mapping[str, Any], max_chars: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that fit into this many characters of JSON, the small ones first, and all others."""
    chars = {key: len(json.dumps(value)) for key, value in fields.items()}
    large: dict[str, Any] = {}
    total = 0
    for key in sorted(chars, key=lambda key: chars[key]):
        total += chars[key]
        if total > max_chars:
            large[key] = fields[key]
    return without(fields, *large), large


def fitting_values(
    source: Source, id: str, fields: Mapping[str, Any], max_chars: int
) -> dict[str, Any]:
    """Return the fields that fit into a frontmatter; the others are reported as skipped."""
    fitting, large = split_by_size(fields, max_chars)
    for key in large:
        source.skip(f"{id} {key}", "too large for a frontmatter")
    return fitting


# Word for an importance → the least number from 0 to 1 that it stands for.
IMPORTANCE_SHARES = {"critical": 0.9, "high": 0.7, "medium": 0.4, "low": 0.0}


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number; True and False are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def importance_of(value: object) -> str:
    """Return our word for an importance: one of our words, a number from 0 to 1, or from 1 to 10; else medium."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in IMPORTANCE_SHARES:
            return word
        if word.replace(".", "", 1).isdecimal() and len(word) < 8:
            value = float(word)
        else:
            value = None
    if not is_number(value):
        return "medium"
    share = value / 10 if value > 1 else value
    return next(
        word for word, least in IMPORTANCE_SHARES.items() if share >= least or not least
    )
