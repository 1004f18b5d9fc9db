"""Choose what is shown of a memory: its best passages in whole sentences under their headings, and its
labels.
"""

from __future__ import annotations

from ..files.layout import PERSONAL
from ..model.values import TYPE_CHECKING, record
from ..text.chunks import cut_chunks, fence_after, heading_level
from ..text.clean import clean, late_regex, one_line
from ..text.language import identity, language

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


# Choose the part of a memory that a prompt shows: the whole text, or whole units of it.

MAX_WHOLE_CHARS = 1_500  # a body of at most this length is shown whole …
# … and of a longer one, whole units that fit the task; the rest is in its file
MAX_SHOWN_CHARS = 2_500
# of a longer body, only the text around the passage is looked at
MAX_READ_CHARS = 40_000
# a sentence without an end is cut between words, or anywhere
LONG_SENTENCE_CHARS = 220
MAX_SENTENCE_CHARS = 280
# a stem has at least 4 letters; an ending has at most 3
MIN_STEM_CHARS = 4
ENDING_CHARS = 3
# a longer line above `===` or `---` is a paragraph, not a heading
MAX_HEADING_CHARS = 100
CUT = "…"
STEP = " › "
MARKS = (".", "!", "?", "…")  # ends of sentences, before white space
WIDE_MARKS = "。！？"  # … of scripts without spaces
CLOSING = "\"')]”’*_`"  # may follow a mark
MAX_ABBREVIATION_CHARS = 12
MAX_SPACES = 8
AROUND_TITLE = " \t*_#`\"'.:!?"
RULES = "=-*_+> \t"  # a line of only these is empty: a rule, an empty item or quote
UNDERLINES = {"=": 1, "-": 2}  # of headings
BULLETS = ("- ", "* ", "+ ")
TABLE = "|"
CODE_INDENT = "    "
# HTML tags for layout only
PLAIN_TAGS = (
    "p div span center br hr b i em strong u s small sub sup kbd picture source figure figcaption font details summary "
    "h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table thead tbody tr td th blockquote section article nav img video"
)
LAYOUT_TAG = late_regex(
    rf"(?i)</? ?(?:{PLAIN_TAGS.replace(' ', '|')})(?:[\s/][^<>]{{0,2000}})?>"
)
EMPTY_LINKS = late_regex(r"(?i)(?:\s|</?a(?: [^<>]{0,2000})?>)*")
IMAGE_TARGET = r"\](?:\([^)]{0,2000}\)|\[[^\]]{0,2000}\])"
IMAGE = late_regex(rf"\[?!\[[^\]]{{0,2000}}{IMAGE_TARGET}(?:{IMAGE_TARGET})?")
BADGE_TARGET = late_regex(r"\[.*\]: .*(?:\.svg|badge|shields\.io)")


@record
class Unit:
    """A paragraph, a list item with what is below it, a table or a code block, and the headings above it."""

    text: str  # empty: headings without a text below them
    before: str  # white space between it and the unit before
    path: tuple[str, ...]
    at: int  # its offset in the body
    # units above that are shown with it: what introduces a list, the head of a long table
    leads: tuple[int, ...] = ()


def excerpt(
    title: str,
    body: str,
    words: Sequence[str] = (),
    passage: int | None = None,
    most: int = MAX_SHOWN_CHARS,
) -> str:
    """Return a short body whole; of a longer one, whole units: those of its passage and others with the words.

    Only a unit of more than `most` characters is divided, into sentences or rows. Empty if nothing fits.
    """
    body = clean(body)
    start, end = _span_of(body, passage)
    if len(body) > MAX_READ_CHARS:
        first = max(0, start - MAX_READ_CHARS // 2)
        body = body[first:][:MAX_READ_CHARS]
        start = start - first
        end = end - first
    units = _UnitReader(title, most).units(body)
    if units and not any(unit.path or unit.text != CUT for unit in units):
        return _first_lines(body, most)  # nothing but code that is too long
    every = _joined_units(units, range(len(units)))
    if len(every) <= min(most, MAX_WHOLE_CHARS):
        return every
    weights = _unit_weights(units, words)
    core = _core_units(title, units, words, weights, start, end)
    chosen = _chosen_units(units, core, weights, most)
    while len(shown := _joined_units(units, sorted(chosen))) > most and len(chosen) > 1:
        chosen.pop()  # headings and marks of cuts took more room
    # most of it fits the task: the rest may be what matters
    return every if len(shown) < len(every) <= min(most, 2 * len(shown)) else shown


def _first_lines(body: str, most: int) -> str:
    """Return the lines at the start of a body that fit, with the fence closed."""
    shown = body[:most].rpartition("\n")[0] or body[:most]
    fence = ""
    for line in shown.split("\n"):
        fence = fence_after(fence, line)
    return "\n".join((shown, CUT, fence)).rstrip()


def is_whole(title: str, body: str, shown: str) -> bool:
    """Return whether an excerpt of a body is all of it."""
    if len(body) > MAX_READ_CHARS:
        return False
    units = _UnitReader(title, len(body)).units(clean(body))
    return shown == _joined_units(units, range(len(units)))


def _span_of(body: str, passage: int | None) -> tuple[int, int]:
    """Return where a passage of a body starts and ends; twice 0 if it is unknown."""
    start = end = 0
    for part in cut_chunks(body)[: passage + 1] if passage is not None else ():
        start = end
        end = body.find(part.text, end) + len(part.text)
    return start, end


def _core_units(
    title: str,
    units: Sequence[Unit],
    words: Sequence[str],
    weights: Sequence[float],
    start: int,
    end: int,
) -> Sequence[int]:
    """Return the units of the passage; all units, if it is unknown or if only others or the title contain the words."""
    core = [at for at, unit in enumerate(units) if start <= unit.at < end]
    fits = any(weights[at] for at in core)
    if not fits and not any(weights):
        named = {*language().stems(title)}
        fits = not named or not named <= {*language().stems(" ".join(words))}
    return core if core and fits else range(len(units))


def _chosen_units(
    units: Sequence[Unit], core: Sequence[int], weights: Sequence[float], most: int
) -> list[int]:
    """Return the units to show while they fit, the best first: the core, or its best one with its section, others with the words, then the rest of their sections."""
    chosen: list[int] = []
    taken: set[int] = set()
    room = most

    def takes(at: int) -> bool:
        nonlocal room
        new = [one for one in (*units[at].leads, at) if one not in taken]
        size = sum(_size_of(units, one) for one in new)
        if size <= room:
            room -= size
            chosen.extend(new)
            taken.update(new)
        return at in taken

    if not all(map(takes, core)):
        chosen.clear()
        taken.clear()
        room = most
        best = max(core, key=lambda at: weights[at])
        section = [at for at in core if units[at].path == units[best].path]
        after, above = [
            [at for at in section if at >= best],
            [at for at in section[::-1] if at < best],
        ]
        if all(map(takes, after)):
            all(map(takes, above))
    for at in sorted(range(len(units)), key=lambda at: -weights[at]):
        if weights[at]:
            takes(at)
    sections = {units[at].path for at in chosen}
    for at, unit in enumerate(units):
        if unit.path in sections:
            takes(at)
    return chosen


def _size_of(units: Sequence[Unit], at: int) -> int:
    """Return the characters that a unit adds, with its headings if they are new there."""
    unit = units[at]
    is_headed = not at or units[at - 1].path != unit.path
    return len(unit.before + unit.text) + is_headed * len(STEP.join(unit.path))


def _unit_weights(units: Sequence[Unit], words: Sequence[str]) -> list[float]:
    """Return for each unit the weight of the words that it contains; rarer words weigh more."""
    texts = [f"{unit.text} {' '.join(unit.path)}".lower() for unit in units]
    weights = [0.0] * len(units)
    for stem in stems_of(words):
        holders = [at for at, text in enumerate(texts) if stem in text]
        for at in holders:
            weights[at] += 1 / len(holders)
    return weights


def stems_of(words: Sequence[str]) -> set[str]:
    """Return words without possible endings, to find their other forms in a text."""
    return {word[: max(MIN_STEM_CHARS, len(word) - ENDING_CHARS)] for word in words}


def _joined_units(units: Sequence[Unit], chosen: Sequence[int]) -> str:
    """Return units as text, with new headings and with an ellipsis at each cut."""
    out = ""
    last = -1
    path: tuple[str, ...] = ()
    for at in chosen:
        unit = units[at]
        is_cut = at != last + 1
        if is_cut and out:
            out += f"\n{CUT}"
        if unit.path and unit.path != path:
            same = 0
            while (
                not is_cut
                and unit.path[: same + 1] == path[: same + 1]
                and same < len(path)
            ):
                same += 1
            heading = STEP.join(unit.path[same:] or unit.path[-1:])
            out += ("\n\n" if out else "") + heading.rstrip(":") + ":"
            out += "\n" if unit.text else ""
        elif out:
            out += "\n" if is_cut else unit.before
        if is_cut and last < 0 and units[at - 1].path == unit.path:
            out += f"{CUT}\n" if "\n" in unit.before else f"{CUT} "
        out += unit.text
        last = at
        path = unit.path
    if 0 <= last < len(units) - 1:
        out += f"\n{CUT}" if "\n" in units[last + 1].before else f" {CUT}"
    return out


class _UnitReader:
    """Reads the units of a body. Headings become paths; images, comments, rules, layout tags are dropped."""

    def __init__(self, title: str, most: int) -> None:
        self.found: list[Unit] = []
        self.title = _bare_title(title)
        self.most = most  # characters of a unit; a longer one is divided
        self.trail: list[tuple[int, str]] = []  # levels and headings
        self.lines: list[str] = []  # of the open unit
        self.item = -1  # indentation of the open list item
        self.at = 0  # the offset of the open unit or heading
        self.blank = False  # whether an empty line came before
        self.bare = False  # whether the last heading has no text below it yet
        self.lead: tuple[int, ...] = ()  # of the open list

    def units(self, body: str) -> list[Unit]:
        """Return the units of a body in order."""
        fence = ""
        at = 0
        is_comment = False
        last_comment = body.rfind("-->")
        for line in body.split("\n"):
            start = at
            at = at + len(line) + 1
            opens = line.lstrip().startswith("<!--") and start < last_comment
            if is_comment or (opens and not fence):
                is_comment = "-->" not in line
                line = line.partition("-->")[2]
            before = fence
            fence = fence_after(fence, line)
            in_item = self.item >= 0 and line[:1] in (" ", "\t")
            if fence and not before and not in_item:
                self._close()
            if before or fence:
                self._keep(line, start)
            else:
                self._line(_without_layout(line), start)
            if before and not fence and self.item < 0:
                self._close(is_code=True)
        if fence:
            self._keep(fence, at)
            self._close(is_code=self.item < 0)
        self._close()
        self._add_bare_heading()
        return self.found

    def _keep(self, line: str, start: int) -> None:
        """Add a line to the open unit, or open one."""
        if not self.lines:
            self.at = start
        self.lines.append(line)

    def _line(self, line: str, start: int) -> None:
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        is_below = self.item >= 0 and indent > self.item
        is_code = line.startswith(CODE_INDENT) and not is_below
        level = 0 if is_code or is_below else heading_level(line.lstrip(" >"))
        is_line = len(self.lines) == 1 and text != "" and not text.strip(text[0])
        if (
            is_line
            and self.item < 0
            and len(self.lines[0]) <= MAX_HEADING_CHARS
            and text[0] in UNDERLINES
        ):
            level = UNDERLINES[text[0]]
            line = self.lines.pop()
        if level:
            self._close()
            self._open(level, one_line(line.strip(" >#\t"), MAX_HEADING_CHARS))
            self.at = start
        elif not text:
            if self.item < 0:
                self._close()
            elif self.lines:
                self.lines.append("")
            self.blank = self.blank or not self.lines
        elif not text.strip(RULES):
            self._close()
            self.blank = True
        else:
            self._text(line.rstrip(), text, indent, is_below, start)

    def _text(
        self, line: str, text: str, indent: int, is_below: bool, start: int
    ) -> None:
        """Add a line of text to the open unit, or begin another: a list item, a table, a paragraph."""
        number = text.lstrip("0123456789")
        is_item = text.startswith(BULLETS) or (
            number != text and number[:2] in (". ", ") ")
        )
        was_table = bool(self.lines) and self.lines[0].lstrip().startswith(TABLE)
        is_table = text.startswith(TABLE)
        after_blank = bool(self.lines) and not self.lines[-1]
        if not is_below and (is_item or is_table != was_table or after_blank):
            self._close()
            if is_item:
                self.item = indent
        self._keep(line, start)

    def _open(self, level: int, heading: str) -> None:
        if self.trail and level <= self.trail[-1][0]:
            self._add_bare_heading()
        self.trail = [above for above in self.trail if above[0] < level]
        is_title = (
            not any(above for _, above in self.trail)
            and _bare_title(heading) == self.title
        )
        self.trail.append((level, "" if is_title else heading))
        self.bare = self.blank = True

    def _add_bare_heading(self) -> None:
        if self.bare:
            self._add("", "\n", self.at)

    def _close(self, is_code: bool = False) -> None:
        """Add the open unit, and close it. A unit that is too long is divided, but code is left out."""
        lines = self.lines
        is_item = self.item >= 0
        self.lines = []
        self.item = -1
        ends_blank = bool(lines) and not lines[-1]
        text = "\n".join(lines).rstrip()
        if not text:
            return
        before = "\n\n" if self.blank else "\n"
        if not is_item:
            self.lead = ()
        elif not self.lead and self._introduces():
            self.lead = (len(self.found) - 1,)
        if len(text) <= self.most:
            self._add(text, before, self.at)
        elif text.startswith(TABLE):
            self._rows(lines)
        elif is_code:
            self._add(CUT, before, self.at)
        else:
            self._sentences(text, before)
        self.blank = ends_blank

    def _introduces(self) -> bool:
        """Return whether the last unit introduces what follows: it is a text of this section without an end."""
        last = self.found[-1] if self.found and not self.bare else None
        return bool(
            last and last.text.rstrip(CLOSING)[-1:] not in (*MARKS, *WIDE_MARKS, "")
        )

    def _rows(self, lines: Sequence[str]) -> None:
        """Add the rows of a table that is too long; its head goes with each."""
        at = self.at
        self._add("\n".join(lines[:2]), "\n", at)
        self.lead = (len(self.found) - 1,)
        for line in lines[2:]:
            at += len(line) + 1
            self._add(line, "\n", at)
        self.lead = ()

    def _sentences(self, text: str, before: str) -> None:
        """Add the sentences of a paragraph or a list item that is too long."""
        for start, end in _sentence_spans(text):
            sentence = text[start:end].lstrip()
            gap = text[start : end - len(sentence)]
            self._add(
                sentence,
                ("\n" if "\n" in gap else gap[:1]) if start else before,
                self.at + start,
            )

    def _add(self, text: str, before: str, at: int) -> None:
        path = tuple(heading for _, heading in self.trail if heading)
        is_title = not self.found and _bare_title(text) == self.title
        if (text or path) and not is_title:
            before = "\n\n" if self.blank else before
            self.found.append(Unit(text, before, path, at, self.lead))
        self.bare = self.blank = False


def _bare_title(text: str) -> str:
    return identity(text).strip(AROUND_TITLE)


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence of a paragraph, and of each part of a long one."""
    start = 0
    for at, sign in enumerate(text):
        length = at - start
        if sign.isalnum() and length < MAX_SENTENCE_CHARS:
            continue  # inside a word
        is_end = sign.isspace() and (
            length > LONG_SENTENCE_CHARS or _is_end(text, start, at)
        )
        if sign in WIDE_MARKS:
            at += 1
        elif not is_end and length < MAX_SENTENCE_CHARS:
            continue
        yield start, at
        start = at
    if text[start:].strip():
        yield start, len(text)


def _is_end(text: str, start: int, at: int) -> bool:
    """Return whether a sentence ends before the white space at `at`: with a mark that is not part of a short form."""
    said = text[max(start, at - MAX_ABBREVIATION_CHARS) : at].rstrip(CLOSING)
    if not said.endswith(MARKS):
        return False
    following = text[at : at + MAX_SPACES].lstrip()[:1]
    if following in ".,;:!?" or following.islower():
        return False
    word = said.split()[-1].lower().lstrip("([\"'")
    is_letter_or_number = word[:-1].isdigit() or (len(word) == 2 and word[0].isalpha())
    return not is_letter_or_number and word not in language().abbreviations


def _without_layout(line: str) -> str:
    """Return a line without badges, images and HTML tags for layout; empty if links without text are left."""
    if "`" in line:
        return line
    if "![" in line:
        line = IMAGE.sub("", line)
    if "<" in line:
        line = LAYOUT_TAG.sub("", line)
        line = "" if EMPTY_LINKS.fullmatch(line) else line
    return "" if line.startswith("[") and BADGE_TARGET.match(line) else line


# Labels of an item: its layer, and (see render.py) whether a person vouches for it.

Labels = tuple[str, ...]


def layer_label(layer: str) -> Labels:
    """Return the label of a layer; none for the project's memories."""
    return () if not layer else (layer,) if layer == PERSONAL else (f"from {layer}",)


def in_brackets(labels: Labels) -> str:
    """Return labels in brackets for the start of a line; empty if there are none."""
    return f"[{', '.join(labels)}] " if labels else ""
