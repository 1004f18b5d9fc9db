"""Choose what is shown of a memory: its best passages in whole sentences under their headings, and its
labels.
"""

from __future__ import annotations

from ..files.layout import PERSONAL
from ..model.values import TYPE_CHECKING, record, replace
from ..text.chunks import cut_chunks, fence_after
from ..text.clean import clean, late_regex, one_line
from ..text.language import identity, language

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


Path = tuple[str, ...]


# Choose the part of a memory that a prompt shows: its best passages in whole sentences, under
# their headings.

MAX_WHOLE_CHARS = 400  # a body of at most this length is shown whole …
MAX_SHOWN_CHARS = 280  # … and of a longer one this much; the whole text is in its file
MAX_UNIT_CHARS = 280  # longer sentences and code blocks are split
MIN_EXTRA_WORDS = 2  # of the question that a sentence outside the best passage must contain
MIN_EXTRA_SHARE = 0.5  # … and its minimum weight, as a share of the best sentence's weight
MIN_STEM_CHARS, ENDING_CHARS = 4, 3  # a stem has at least 4 letters; an ending has at most 3
MAX_HEADING_CHARS = 100  # a longer line above `===` or `---` is a paragraph, not a heading
CUT, STEP = "…", " › "
MARKS, WIDE_MARKS = (
    ".!?…",
    "。！？",
)  # ends of sentences; scripts without spaces need none after them
CLOSING = "\"')]”’*_`"  # may follow a mark
MAX_SPACES = 7  # between two sentences
AROUND_TITLE = " \t*_#`\"'.:!?"
RULES = "=-*_+> \t"  # a line of only these is empty: a rule, an empty item or quote
BULLETS = ("- ", "* ", "+ ", "|", ">")
PLAIN_TAGS = (
    "p div span center br hr b i em strong u s small sub sup kbd picture source figure figcaption font details summary "
    "h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table thead tbody tr td th blockquote section article nav img video"
)  # HTML tags for layout only
LAYOUT_TAG = late_regex(rf"(?i)</? ?(?:{PLAIN_TAGS.replace(' ', '|')})(?:[\s/][^<>]{{0,2000}})?>")
ANCHOR = late_regex(r"(?i)</?a[ >]")
TAG = late_regex(r"<[^>]*>?")


@record
class Unit:
    """A sentence, a list item, a table row or a piece of code. `at` is its offset in the body."""

    text: str
    before: str  # white space between it and the unit before
    path: Path
    at: int
    fence: str = ""  # the opening line of its code block, if that block is split


def excerpt(
    title: str,
    body: str,
    words: Sequence[str] = (),
    passage: int | None = None,
    most: int = MAX_SHOWN_CHARS,
) -> str:
    """Return a short body whole; of a longer one, its passage and other sentences that contain the words.

    Empty if not even one sentence fits into `most` characters.
    """
    body = clean(body)
    units = [*_without_title(_units(body), title)]
    every = _joined_units(units, range(len(units)))
    if len(every) <= most:
        return every
    weights = _unit_weights(units, words)
    core = _core_units(body, units, weights, passage)
    return _joined_units(units, sorted(_chosen_units(units, core, weights, most)))


def _core_units(
    body: str, units: Sequence[Unit], weights: Sequence[tuple[int, float]], passage: int | None
) -> range:
    """Return the units of the passage. If it is unknown or contains no words, return the passage with most words."""
    groups = _passage_units(body, units)
    by_words = max(filter(len, groups), key=lambda group: sum(weights[at][1] for at in group))
    known = groups[passage] if passage is not None and passage < len(groups) else range(0)
    is_off = not any(weights[at][0] for at in known)
    return (
        by_words
        if is_off and max(weights[at][0] for at in by_words) >= MIN_EXTRA_WORDS
        else known or by_words
    )


def _passage_units(body: str, units: Sequence[Unit]) -> list[range]:
    """Return the units of each passage of the index."""
    ends, at = [], 0
    for part in cut_chunks(body):
        at = body.find(part.text, at) + len(part.text)
        ends.append(at)
    groups, begun = [], 0
    for end in ends:
        stop = begun
        while stop < len(units) and units[stop].at < end:
            stop += 1
        groups.append(range(begun, stop))
        begun = stop
    return groups


def _chosen_units(
    units: Sequence[Unit], core: range, weights: Sequence[tuple[int, float]], most: int
) -> set[int]:
    """Return the units to show while they fit: those of the core, from its best one on, then others with the words."""
    best = max(core, key=lambda at: weights[at][1])
    start = core[0] if sum(_unit_size(units, at) for at in core) <= most else best
    room = most - _unit_size(units, start)
    if room < 0:
        return set()
    chosen, low, high = {start}, start, start
    grows = True
    while grows:
        grows = False
        for at in (high + 1, low - 1):
            if at in core and at not in chosen and _unit_size(units, at) <= room:
                room, grows = room - _unit_size(units, at), True
                chosen.add(at)
                low, high = min(low, at), max(high, at)
    floor = MIN_EXTRA_SHARE * max(weight for _, weight in weights)
    others = [
        at
        for at, (count, weight) in enumerate(weights)
        if count >= MIN_EXTRA_WORDS and weight >= floor
    ]
    for at in sorted(others, key=lambda at: -weights[at][1]):
        if at not in chosen and _unit_size(units, at) + len(CUT) <= room:
            room -= _unit_size(units, at) + len(CUT)
            chosen.add(at)
    return chosen


def _unit_size(units: Sequence[Unit], at: int) -> int:
    unit = units[at]
    new = not at or units[at - 1].path != unit.path
    return len(unit.text) + len(unit.before) + (len(STEP.join(unit.path)) + 2 if new else 0)


def _unit_weights(units: Sequence[Unit], words: Sequence[str]) -> list[tuple[int, float]]:
    """Return for each unit how many of the words it contains, and their weight; rarer words weigh more."""
    texts = [f"{unit.text} {' '.join(unit.path)}".lower() for unit in units]
    counts, sums = [0] * len(units), [0.0] * len(units)
    for stem in stems_of(words):
        holders = [at for at, text in enumerate(texts) if stem in text]
        for at in holders:
            counts[at] += 1
            sums[at] += 1 / len(holders)
    return [*zip(counts, sums, strict=True)]


def stems_of(words: Sequence[str]) -> set[str]:
    """Return words without possible endings, to find their other forms in a text."""
    return {word[: max(MIN_STEM_CHARS, len(word) - ENDING_CHARS)] for word in words}


def _joined_units(units: Sequence[Unit], chosen: Sequence[int]) -> str:
    """Return units as text: with new headings, with an ellipsis at each cut, and with code blocks closed."""
    out: list[str] = []
    last, fence = -1, ""
    path: Path = ()
    for at in chosen:
        unit = units[at]
        gap = at != last + 1
        if fence and (gap or unit.fence != fence):
            out.append(f"\n{_closing_fence(fence)}")
            fence = ""
        if gap and out:
            out.append(f"\n{CUT}")
        lead = f"{CUT} " if gap and not out and units[at - 1].path == unit.path else ""
        heading = _heading_line(unit.path, () if gap else path)
        before = unit.before if out and not gap else "\n" if out else ""
        if unit.path != path or (gap and heading):
            out += [("\n\n" if out else ""), heading]
            before = "\n" if unit.text and heading else ""
        if unit.fence and not fence:
            out += ["\n" if out else "", unit.fence]
            fence, before = unit.fence, "\n"
        out += [before, lead, unit.text]
        last, path = at, unit.path
    if fence:
        out.append(f"\n{_closing_fence(fence)}")
    if chosen and last < len(units) - 1:
        out.append(f"\n{CUT}" if fence or "\n" in units[last + 1].before else f" {CUT}")
    return "".join(out)


def _heading_line(path: Path, before: Path) -> str:
    """Return the new headings of a path as one line."""
    same = 0
    while same < min(len(path), len(before)) and path[same] == before[same]:
        same += 1
    new = path[same:] or path[-1:]
    return f"{STEP.join(new).rstrip(':')}:" if new else ""


def _closing_fence(opening: str) -> str:
    mark = opening.strip()
    return mark[: len(mark) - len(mark.lstrip(mark[0]))]


def _without_title(units: Iterable[Unit], title: str) -> Iterator[Unit]:
    """Yield units without a heading or first sentence that repeats the title."""
    said = _bare_title(title)
    titles: dict[str, bool] = {}  # heading → whether it is the title
    first = True
    for unit in units:
        head = unit.path[0] if unit.path else ""
        if head not in titles:
            titles[head] = _bare_title(head) == said
        path = unit.path[1:] if unit.path and titles[head] else unit.path
        if unit.text and not (first and _bare_title(unit.text) == said):
            yield unit if path is unit.path else replace(unit, path=path)
        elif not unit.text and path:
            yield Unit("", unit.before, path, unit.at)
        first = False


def _bare_title(text: str) -> str:
    return identity(text).strip(AROUND_TITLE)


def _units(body: str) -> Iterator[Unit]:
    """Yield the units of a body in order. Headings become paths; images, comments, rules, layout tags are dropped."""
    reader = _UnitReader()
    fence, code, opened = "", list[str](), 0
    at, comment, last_comment = 0, False, body.rfind("-->")
    for line in body.split("\n"):
        begun, at = at, at + len(line) + 1
        before, fence = fence, "" if comment else fence_after(fence, line)
        if not before and fence.startswith("`") and "`" in line.strip().lstrip("`"):
            fence = ""  # a code span in a line of prose
        if before or fence:
            if not before:
                yield from reader.paragraph()
                code, opened = [], begun
            code.append(line)
            if not fence:
                yield from reader.code(code, opened)
            continue
        if not comment and line.lstrip().startswith("<!--") and begun < last_comment:
            comment = True
        if comment:
            comment = "-->" not in line
            line = line.partition("-->")[2] if not comment else ""
        yield from reader.line(without_layout(line), begun)
    if fence:
        yield from reader.code(code, opened)
    yield from reader.paragraph()
    yield from reader.headless()


class _UnitReader:
    """The state of reading: the open paragraph, and the headings above it."""

    def __init__(self) -> None:
        self.trail: list[tuple[int, str]] = []
        self.lines: list[str] = []
        self.at = 0
        self.blank = False
        self.bare = False  # the last heading has no text below it yet

    def line(self, line: str, at: int) -> Iterator[Unit]:
        text = line.strip()
        lead = line.lstrip(" >")
        level = _heading_level(lead) if len(line) - len(line.lstrip()) < 4 else 0
        if level:
            yield from self.paragraph()
            yield from self._open(
                level, one_line(lead[level:].strip(" #\t"), MAX_HEADING_CHARS), at
            )
        elif (
            set(text) in ({"="}, {"-"})
            and len(self.lines) == 1
            and len(self.lines[0]) <= MAX_HEADING_CHARS
        ):
            heading, self.lines = self.lines[0].strip(), []
            yield from self._open(1 if text[0] == "=" else 2, heading, at)
        elif not text.strip(RULES):
            yield from self.paragraph()
            self.blank = True
        else:
            if _begins_item(line, text):
                yield from self.paragraph()
            if not self.lines:
                self.at = at
            self.lines.append(line.rstrip())

    def _open(self, level: int, heading: str, at: int) -> Iterator[Unit]:
        if self.trail and level <= self.trail[-1][0]:
            yield from self.headless()
        self.trail = [
            *((above, said) for above, said in self.trail if above < level),
            (level, heading),
        ]
        self.bare, self.blank, self.at = bool(heading), True, at

    def headless(self) -> Iterator[Unit]:
        """Yield a heading without text below it as its own unit."""
        if self.bare:
            yield self._unit("", self.at)

    def paragraph(self) -> Iterator[Unit]:
        """Yield the sentences of the open paragraph, and close it."""
        text, self.lines = "\n".join(self.lines), []
        for start, end, before in _sentence_spans(text):
            yield self._unit(text[start:end], self.at + start, before)

    def code(self, lines: list[str], at: int) -> Iterator[Unit]:
        if sum(map(len, lines)) <= MAX_UNIT_CHARS:
            yield self._unit("\n".join(lines), at)
            return
        closed = len(lines) > 1 and not fence_after(fence_after("", lines[0]), lines[-1])
        for line in lines[1 : len(lines) - closed]:
            at += len(line) + 1
            for start in range(0, len(line) or 1, MAX_UNIT_CHARS):
                yield self._unit(
                    line[start : start + MAX_UNIT_CHARS], at, "" if start else None, lines[0]
                )

    def _unit(self, text: str, at: int, before: str | None = None, fence: str = "") -> Unit:
        gap = ("\n\n" if self.blank else "\n") if before is None else before
        self.blank = self.bare = False
        return Unit(text, gap, tuple(heading for _, heading in self.trail if heading), at, fence)


def _heading_level(line: str) -> int:
    level = len(line) - len(line.lstrip("#"))
    return level if 0 < level <= 6 and line[level : level + 1] in (" ", "\t", "") else 0


def _begins_item(line: str, text: str) -> bool:
    """Tell whether a line begins a list item, a table row, a quote or indented code."""
    number = text.lstrip("0123456789")
    return (
        text.startswith(BULLETS)
        or line.startswith(("    ", "\t"))
        or (number != text and number[:2] in (". ", ") "))
    )


def _sentence_spans(text: str) -> Iterator[tuple[int, int, str | None]]:
    """Yield start and end of each sentence, and the white space before it (None for the first of the paragraph)."""
    begun, before = 0, None
    while begun < len(text):
        end = _end_of_sentence(text, begun)
        while end - begun > MAX_UNIT_CHARS:
            most = begun + MAX_UNIT_CHARS
            cut = max(text.rfind(" ", begun + 1, most), text.rfind("\n", begun + 1, most))
            cut = cut if cut > begun else most
            yield begun, cut, before
            begun = cut + text[cut : cut + 1].isspace()
            before = text[cut:begun]
        if begun < end:
            yield begun, end, before
        after = _skip(text, end, str.isspace)
        before, begun = "\n" if "\n" in text[end:after] else text[end:after][:1], after


def _end_of_sentence(text: str, begun: int) -> int:
    """Return the end of the sentence that starts at `begun`: a mark, then white space, then no small letter."""
    for at in range(begun, len(text)):
        if text[at] in WIDE_MARKS:
            return at + 1
        if text[at] in MARKS:
            end = _skip(text, at + 1, CLOSING.__contains__)
            following = _skip(text, end, str.isspace)
            next_begins = (
                0 < following - end <= MAX_SPACES
                and following < len(text)
                and text[following] not in ".,;:!?"
                and not text[following].islower()
            )
            if end == len(text) or (next_begins and not _abbreviates(text, at)):
                return end
    return len(text)


def _skip(text: str, at: int, skipped: Callable[[str], bool]) -> int:
    """Return the position of the first character from `at` that is not skipped."""
    while at < len(text) and skipped(text[at]):
        at += 1
    return at


def _abbreviates(text: str, at: int) -> bool:
    if text[at] != ".":
        return False
    word = text[max(0, at - 12) : at + 1].split()[-1].lower().lstrip("([\"'")
    return (
        word in language().abbreviations
        or word[:-1].isdigit()
        or (len(word) == 2 and word[0].isalpha())
    )


def without_layout(line: str) -> str:
    """Return a line without badges, images and HTML tags for layout."""
    if "![" in line and "`" not in line:
        line = _without_images(line)
    if "<" in line and "`" not in line:
        line = _without_tags(line)
    if (
        line.startswith("[")
        and "]: " in line
        and (".svg" in line or "badge" in line or "shields.io" in line)
    ):
        return ""
    return line


def _without_images(line: str) -> str:
    """Return a line without images: `![…](…)`, `[![…](…)](…)` and their reference forms."""
    kept, at = [], 0
    while (found := line.find("![", at)) >= 0:
        end = _target_end(line, line.find("]", found))
        if end < 0:
            break
        linked = found > at and line[found - 1] == "[" and line[end : end + 1] == "]"
        kept.append(line[at : found - linked])
        at = max(end, _target_end(line, end)) if linked else end
    return "".join([*kept, line[at:]]) if at else line


def _target_end(line: str, bracket: int) -> int:
    """Return the end of the link target after a closing bracket; -1 if there is none."""
    close = {"(": ")", "[": "]"}.get(line[bracket + 1 : bracket + 2], "") if bracket >= 0 else ""
    return line.find(close, bracket + 2) + 1 or -1 if close else -1


def _without_tags(line: str) -> str:
    """Return a line without tags for layout; empty if links without text are left."""
    bare = LAYOUT_TAG.sub("", line)
    return "" if ANCHOR.search(line) and not TAG.sub("", bare).strip() else bare


# Labels of an item: its layer, and (see render.py) whether a person vouches for it.

Labels = tuple[str, ...]


def layer_label(layer: str) -> Labels:
    """Return the label of a layer; none for the project's memories."""
    return () if not layer else (layer,) if layer == PERSONAL else (f"from {layer}",)


def in_brackets(labels: Labels) -> str:
    """Return labels in brackets for the start of a line; empty if there are none."""
    return f"[{', '.join(labels)}] " if labels else ""
