"""No text costs more than linear time: 16 times the text takes about 16 times the time, in every reader of text.

Each function of FUNCTIONS gets each text of TEXTS in two sizes. The redaction rules have a test of their own.
"""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rawkomem.embed.static import StaticEmbedder
from rawkomem.exchange.formats import read_format
from rawkomem.exchange.instructions import cut_sections as cut_headings
from rawkomem.exchange.notes import MAX_NOTE_WORDS
from rawkomem.exchange.sources import Source
from rawkomem.faces.lsp.documents import conditions_in, fronts, lines_of, names_in
from rawkomem.files.reading import read_data
from rawkomem.format.blocks import (
    append_holds,
    cut_pieces,
    list_items,
    read_citation,
    sections_of,
    split_blocks,
    wikilinks_in,
)
from rawkomem.format.entries import first_heading, read_log
from rawkomem.format.frontmatter import emit_fields, read_frontmatter
from rawkomem.format.mesh_fields import read_wire
from rawkomem.format.skill_files import read_skill
from rawkomem.format.yamo import read_yamo_blocks
from rawkomem.git.citations import TooLong, mentions_symbol, symbol_text
from rawkomem.git.connection import cut_block, put_block
from rawkomem.git.merge import merge_entries
from rawkomem.hosts.connect import parsed as parse_jsonc
from rawkomem.hosts.hook_acts import acts_of
from rawkomem.hosts.known_hosts import read_call
from rawkomem.index.ingest import condition_text, searchable_title
from rawkomem.learn import cues
from rawkomem.learn.drafts import choose_drafts, drafts_of_exchanges
from rawkomem.learn.exchanges import exchanges, typed_in
from rawkomem.learn.proposed_conditions import propose_conditions
from rawkomem.learn.transcripts import Transcript, turns_of_history, without_injected, without_scaffolding
from rawkomem.learn.turns import USER, RunFacts, Turn
from rawkomem.llm import BRACE, MAX_BRACES
from rawkomem.model.entries import Task, Unreadable
from rawkomem.model.errors import RawkoError
from rawkomem.recall.excerpt import excerpt
from rawkomem.recall.signals import question_of, question_of_task
from rawkomem.state.strength import parse_expression
from rawkomem.text.chunks import count_tokens, cut_chunks
from rawkomem.text.clean import clean, hidden_characters, one_line, visible_text, without_escapes
from rawkomem.text.commands import fits_command
from rawkomem.text.conditions import condition_body as phrase_of
from rawkomem.text.conditions import (
    condition_clauses,
    is_sentence,
    match_condition,
    read_condition,
    situation_of,
    specific_stems,
    subject_text,
)
from rawkomem.text.difference import risks_in
from rawkomem.text.json_values import json_values
from rawkomem.text.language import is_copy, is_identical, language, numbers_and_negations, statement_of
from rawkomem.text.paths import fits_glob, fits_wildcards, is_file_glob, paths_in, spell_out_glob
from rawkomem.text.prompts import without_markup
from rawkomem.text.prose import (
    entities_in,
    normalize_currency,
    prose_lines,
    scan_for_injection,
    sentences,
    subjects_of,
    summarize,
    topic_slug,
    without_code,
)
from rawkomem.text.safe import safe_body, safe_title
from rawkomem.text.scripts import mixed_script

from tests.cpu import cpu_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.time

SIZES = (12_500, 200_000)  # characters
MAX_RATIO = 40  # of the time for 16 times the text; 16 is linear, 256 is quadratic
MAX_NEXT_RATIO = 3  # of the time for twice the text; 2 is linear, 4 is quadratic
MIN_SECONDS = 0.06  # what takes less at the large size is not told from noise
FIRST = 4  # a first look takes a quarter of both sizes: a quarter of the time of the lane
MAX_FIRST_RATIO = 20  # where a linear and a quadratic part reach 40 at the full sizes, they reach 22 at a quarter
FAILURES = (RawkoError, Unreadable, TooLong, ValueError, RecursionError)  # refusing a text is an answer

# a quarter of the text is enough
SLOW = (
    "import markdown",
    "import instructions",
    "summarize",
    "fits_command",
    "acts_of",
    "embed",
    "choose",
    "every draft",
    "cues",
)

FRONT = "---\ntitle: T\nid: t\n---\n"
# name → one piece of a text; a text repeats it, or is what the function makes for a size
PIECES = {
    "words": "deploy the host again, then wait. ",
    "different words": "",
    "one word": "a",
    "capitals": "A",
    "words in capitals": "AN OLD ",
    "digits": "1",
    "lines": "x\n",
    "blank lines": "\n",
    "spaces": " ",
    "tabs": "\t",
    "line ends": "\r\n",
    "rules": "---\n",
    "rules and keys": "---\ntitle: T\n",
    "entries": "---\ntitle: T\n---\nx\n",
    "commas in brackets": "[,",
    "open brackets": "[",
    "open braces": "{",
    "open links": "[[",
    "links": "[a](b) [[c|d]] ",
    "half links": "](",
    "bangs": "![",
    "parentheses": "(",
    "backticks": "`",
    "different backticks": "",
    "fences": "```\n",
    "different fences": "",
    "tildes": "~~~ x\n",
    "stars": "*",
    "stars and words": "*a **b ",
    "underscores": "_a",
    "quotes": '"',
    "apostrophes": "'a ",
    "backslashes": "\\",
    "escapes": "\x1b[",
    "open comments": "<!--",
    "comment lines": "<!--\n",
    "open front": "---\ntitle: T\nx\n",
    "comments": "<!-- x -->",
    "tags": "<a ",
    "closing": "</system-reminder>",
    "scaffolding": "<system-reminder>x",
    "quoted lines": "> ",
    "headings": "# a\n",
    "deeper headings": "###### a b\n",
    "list": "- a\n",
    "nested list": "",
    "table": "|a|b|\n|-|-|\n",
    "pipes": "|",
    "colons": "a: ",
    "dots": "...",
    "at signs": "a@b.",
    "addresses": "https://a.b/c?d=e ",
    "paths": "a/b.c ",
    "slashes": "/",
    "hyphens": "a-",
    "numbers": "1,234.5 ",
    "money": "$1.50 ",
    "hidden": "a\u200b",
    "accents": "e\u0301",
    "ideographs": "漢字",
    "astral": "😀",
    "json strings": '{"a": "',
    "json lists": '{"a": [1, ',
    "turns": "**User**: no, use that instead.\n",
    "logbook": "### exp_1 | 2026-01-01 | T\n- a: b\n",
    "yamo": "agent: a; intent: b;\ncontext:\n  x;y;\n",
    "definitions": "def f(a):\n    return f\n",
    "injected": "<memory>",
    "camel": "aB",
    "globs": "*a?",
    "conflicts": "<<<<<<< a\n=======\n",
    "writes in folders": "cd a;>b;",
}


def text_of(name: str, chars: int) -> str:
    """Return a text of about this size."""
    if name == "different words":
        return " ".join(f"word{number}" for number in range(chars // 9))
    if name == "different backticks":
        return " ".join("`" * length for length in range(int((2 * chars) ** 0.5)))
    if name == "different fences":
        return "\n".join("`" * length + "x" for length in range(3, int((2 * chars) ** 0.5)))
    if name == "nested list":
        return "".join(" " * (2 * depth) + "- a\n" for depth in range(int(chars**0.5)))
    piece = PIECES[name]
    return (piece * (chars // len(piece) + 1))[:chars]


# A short page is imported as one memory; both sizes are cut into sections.
LONG_NOTE = "word " * (MAX_NOTE_WORDS + 1) + "\n\n"


def _imported(form: str, ending: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"given{ending}"
            file.write_text(LONG_NOTE + text, encoding="utf-8", newline="")
            return read_format(form, Source(str(file)))

    return read


def _turns(text: str) -> object:
    record = json.dumps({"type": "user", "message": {"role": "user", "content": text}})
    return [[*Transcript(io.BytesIO(said.encode())).turns()] for said in (text, record)]


def _talk(text: str) -> list[Turn]:
    return [Turn("assistant", text), Turn(USER, text), Turn(USER, text[::-1])]


def _merged(text: str) -> object:
    base = FRONT + text
    return merge_entries(base.encode(), f"{base}\nours\n".encode(), f"{base}\ntheirs\n".encode(), "memories/t.md")


def _acts(command: str) -> object:
    call = {"tool_input": {"command": f"cd /x; {command}"}, "cwd": "/x"}
    return [*acts_of(read_call("claude", "before-tool", json.dumps(call).encode()), "/x")]


def _cues(text: str) -> object:
    """Search a sentence, which has one line, for the cues of every language."""
    sentence = " ".join(text.split())
    return [cue.pattern.search(sentence) for code in cues.languages() for cue in cues._cues_of(code)]


_embedder = StaticEmbedder()
FUNCTIONS: dict[str, Callable[[str], object]] = {
    "chunk": cut_chunks,
    "clean": clean,
    "hidden": hidden_characters,
    "one_line": one_line,
    "visible": visible_text,
    "read_condition": read_condition,
    "normalize_currency": normalize_currency,
    "entities_in": entities_in,
    "without_sequences": without_escapes,
    "parse_expression": lambda text: parse_expression(text, ("a",)),
    "scan_for_injection": scan_for_injection,
    "words": lambda text: language().words(text),
    "stems": lambda text: language().stems(text),
    "mixed_script": mixed_script,
    "risks_in": risks_in,
    "put_block": lambda text: put_block(text.encode(), "x", text),
    "cut_block": lambda text: cut_block(put_block(text.encode(), "x", text), "x"),
    "clauses": condition_clauses,
    "is_language": is_sentence,
    "specific": specific_stems,
    "subject": subject_text,
    "phrase_of": phrase_of,
    "fits_command": lambda text: fits_command("git push*--force*", text),
    "acts_of": _acts,
    "is_file_glob": is_file_glob,
    "spell_out": spell_out_glob,
    "mentioned": paths_in,
    "fits": lambda text: fits_glob("**/a/*.py", text),
    "fits_wildcards": lambda text: fits_wildcards("*a*b*c", text),
    "prose_lines": lambda text: [*prose_lines(text)],
    "sentences": sentences,
    "without_code": without_code,
    "safe_body": safe_body,
    "safe_title": safe_title,
    "facts_in": numbers_and_negations,
    "said_in": statement_of,
    "is_copy": lambda text: is_copy(text, text + "b"),
    "is_identical": lambda text: is_identical(text, text + " "),
    "summarize": lambda text: summarize([(text, 1.0), (text[::-1], 0.5)], 100),
    "count_tokens": count_tokens,
    "subjects": subjects_of,
    "topic": topic_slug,
    "match": lambda text: [
        match_condition(pattern, text) for pattern in ("deploy|host", "a*b", r"a+\d", "when you deploy", "**/a.b")
    ],
    "situation_of": situation_of,
    "question_of": question_of,
    "question_of_task": lambda text: question_of_task(Task(text, plan=text), 0),
    "excerpt": lambda text: excerpt("a", text, ("deploy", "b"), 1),
    "condition_text": condition_text,
    "searchable_title": searchable_title,
    "embed": lambda text: _embedder.embed([text]),
    "read_citation": read_citation,
    "heading": first_heading,
    "emit_fields": lambda text: emit_fields({"a": text, "b": [text]}),
    "read_frontmatter": read_frontmatter,
    "read_frontmatter in a list": lambda text: read_frontmatter(f"a: [{text}]"),
    "read_log": read_log,
    "mentions": wikilinks_in,
    "cut_pieces": lambda text: cut_pieces(FRONT + text, [1]),
    "items": list_items,
    "sections": sections_of,
    "split": split_blocks,
    "split a body": lambda text: split_blocks(FRONT + text),
    "append_holds": lambda text: append_holds(FRONT + text, FRONT),
    "read_data": lambda text: read_data((FRONT + text).encode(), "memories/t.md"),
    "read_blocks": read_yamo_blocks,
    "merge": _merged,
    "symbol_text": lambda text: symbol_text(text, "f", "a.py"),
    "mentions_symbol": lambda text: mentions_symbol(text, "f", "a.py"),
    "parse_jsonc": parse_jsonc,
    "read_wire": read_wire,
    "objects": lambda text: [*json_values(text, BRACE, MAX_BRACES)],
    "without_injected": without_injected,
    "without_scaffolding": without_scaffolding,
    "choose": lambda text: choose_drafts(_talk(text), RunFacts()),
    "every draft": lambda text: [*drafts_of_exchanges(exchanges(_talk(text)), RunFacts())],
    "typed_in": typed_in,
    "cues": _cues,
    "propose": propose_conditions,
    "transcript": _turns,
    "history": lambda text: [*turns_of_history(f"_**User**_\n{text}".split("\n"))],
    "without_markup": without_markup,
    "read_skill": read_skill,
    "cut_headings": cut_headings,
    "fronts": lambda text: fronts(lines_of(text)),
    "names_in": lambda text: names_in(lines_of(text)),
    "conditions_in": lambda text: conditions_in(lines_of(text)),
    "import markdown": _imported("markdown", ".md"),
    "import instructions": _imported("instructions", ".md"),
}


def seconds(function: Callable[[str], object], text: str) -> float:
    """Return the processor time of a call; refusing the text is an answer, too."""

    def call() -> None:
        try:
            function(text)
        except FAILURES:
            pass

    return cpu_seconds(call)


def looks_linear(function: Callable[[str], object], kind: str, small: int, large: int) -> bool:
    """Return whether a first look at smaller texts leaves no doubt. The time of a call without text does not count."""
    long = seconds(function, text_of(kind, large))
    if long < MIN_SECONDS / FIRST**2:  # quadratic time from there stays below MIN_SECONDS
        return True
    empty = min(seconds(function, "") for _ in range(2))
    short = min(seconds(function, text_of(kind, small)) for _ in range(3))
    return long - empty <= max(MIN_SECONDS / FIRST**2, MAX_FIRST_RATIO * (short - empty))


def too_slow(name: str, kind: str, small: int, large: int) -> str:
    """Return what is wrong when a function takes more than linear time for a kind of text; empty if it does not.

    A step between the two sizes, where a text outgrows a cache of the processor, is not growth: a text twice as long as
    the large one tells. (One of four times its length would outgrow our cache of words.)
    """
    function = FUNCTIONS[name]
    if name in SLOW:
        small, large = small // 4, large // 4
    if looks_linear(function, kind, small // FIRST, large // FIRST):
        return ""
    long, ratio = seconds(function, text_of(kind, large)), 0.0
    for _ in range(3):
        if long < MIN_SECONDS:
            return ""
        ratio = long / min(seconds(function, text_of(kind, small)) for _ in range(3))
        if ratio <= MAX_RATIO:
            return ""
        long = min(long, seconds(function, text_of(kind, large)))
    if min(seconds(function, text_of(kind, 2 * large)) for _ in range(2)) / long <= MAX_NEXT_RATIO:
        return ""
    return f"{name} of {kind}: {large / small:.0f} times the text takes {ratio:.1f} times the time ({long:.2f} s)"


def superlinear(name: str, sizes: tuple[int, int]) -> list[str]:
    """Return what is wrong with a function for all kinds of text."""
    return [wrong for kind in PIECES if (wrong := too_slow(name, kind, *sizes))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_reader_of_text_takes_linear_time(name: str) -> None:
    assert superlinear(name, SIZES) == []


def test_the_test_finds_quadratic_time(monkeypatch) -> None:
    def quadratic(text: str) -> int:
        """Count pairs: nothing is copied, so that caches of the processor do not change the ratio."""
        return sum(1 for _ in text[::40] for _ in text[::40])

    monkeypatch.setitem(FUNCTIONS, "quadratic", quadratic)
    assert "quadratic of words" in too_slow("quadratic", "words", 10_000, 160_000)
