"""Detect look-alikes: words that mix scripts, keys that imitate a known key, and signs that imitate other signs."""

from __future__ import annotations

from .unseen import DROP, JOIN, STYLE, TAG, ranges, what, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LATIN = ranges(
    (0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x250, 0x2AF), (0x1E00, 0x1EFF), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A)
)  # fmt: skip
OTHER_SCRIPTS = (
    ("Cyrillic", ranges((0x400, 0x52F), (0x1C80, 0x1C8F), (0x2DE0, 0x2DFF), (0xA640, 0xA69F))),
    ("Greek", ranges((0x370, 0x3FF), (0x1F00, 0x1FFF))),
)
MAX_LATIN_BESIDE_GREEK = 2  # kΩ, Δt and μSv are legitimate; a disguised word has more Latin letters

# Letters and digits that look like a Latin letter: capitals, then lower case.
LATIN_CAPITALS = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX")
LATIN_LETTERS = str.maketrans("авсԁеһіјкӏмнорԛѕтуѵԝхьαεηικνορτυχγϲϳı01", "abcdehijklmhopqstyvwxbaenikvoptuxycjiol")

ENTITIES = {
    "lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "num": "#", "ast": "*", "midast": "*", "lpar": "(",
    "rpar": ")", "comma": ",", "colon": ":", "lsqb": "[", "lbrack": "[", "rsqb": "]", "rbrack": "]", "vert": "|",
    "verbar": "|", "sol": "/", "bsol": "\\", "lowbar": "_", "equals": "=", "grave": "`", "hyphen": "-", "dash": "-",
    "minus": "-", "ndash": "-", "mdash": "-", "nbsp": " ", "tab": " ", "newline": "\n", "shy": "",
}  # fmt: skip
MAX_ENTITY_CHARS, MAX_CODE = 10, 0x10FFFF
WITHOUT_END = ("lt", "gt", "amp", "quot", "nbsp", "shy")
HEXADECIMAL = "0123456789abcdef"
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # inside a line, only an entity can encode one
SIGNS = str.maketrans({
    **dict.fromkeys("‐‑‒–—―−⁃﹘﹣－─━╌╍┄┅➖⸺⸻ー〜", "-"),
    **dict.fromkeys("∗⁎✱✲✳＊٭", "*"),
    **dict.fromkeys("꞉∶ː：﹕︰ː᛬", ":"),
    **dict.fromkeys("∣│┃¦ǀ｜❘⏐", "|"),
    **dict.fromkeys("（❨⟮⦅﹙⁽₍", "("),
    **dict.fromkeys("［【〔⟦❲﹇", "["),
    **dict.fromkeys("］】〕⟧❳﹈", "]"),
    **dict.fromkeys("＜‹〈⟨❮❰ᐸ﹤〈˂", "<"),
    **dict.fromkeys("＞›〉⟩❯❱ᐳ﹥〉˃", ">"),
    **dict.fromkeys("＃♯﹟", "#"),
    **dict.fromkeys("，‚、﹐", ","),
    **dict.fromkeys("／⁄∕⧸", "/"),
    **dict.fromkeys("＝═﹦", "="),
})  # fmt: skip


def mixed_script(text: str) -> str:
    """Return the scripts that one word mixes, such as "Latin + Cyrillic"; empty if no word mixes scripts."""
    if text.isascii():
        return ""
    for word in "".join(c if c.isalpha() else " " for c in text).split():
        mix = _mix(word)
        if mix:
            return mix
    return ""


def confusable_with(key: str, known: Iterable[str]) -> str:
    """Return the known key that a key imitates by look-alike letters or by case; empty if there is none."""
    names = list(known)
    if key in names:
        return ""
    folded = _fold(key)
    return next((name for name in names if _folded(name) == folded), "")


_folded_names: dict[str, str] = {}  # cache: known key → folded key


def _folded(name: str) -> str:
    if name not in _folded_names:
        _folded_names[name] = _fold(name)
    return _folded_names[name]


def _mix(word: str) -> str:
    latin = sum(within(c, LATIN) for c in word)
    others = [name for name, edges in OTHER_SCRIPTS if any(within(c, edges) for c in word)]
    if not latin or not others:
        return ""
    if others == ["Greek"] and latin <= MAX_LATIN_BESIDE_GREEK and not _disguised(word):
        return ""
    return " + ".join(["Latin", *others])


def _disguised(word: str) -> bool:
    """Return whether a short mixed word looks entirely like Latin letters."""
    return len(word) > 2 and _fold(word).isascii()


def _fold(key: str) -> str:
    from unicodedata import combining, normalize

    seen = "".join(c for c in key if what(c) not in (DROP, JOIN, STYLE, TAG))
    plain = normalize("NFKD", seen).translate(LATIN_CAPITALS).casefold().strip()
    return "".join(c for c in plain if not combining(c)).translate(LATIN_LETTERS)


def read_as(line: str) -> tuple[str, list[int] | None]:
    """Return a line in lower case as a reader sees it, and the old index of each character (None: unchanged)."""
    if "&" not in line and "\\" not in line and all(len(_read_character(character)) == 1 for character in set(line)):
        return "".join(map(_read_character, line)), None
    seen: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(line):
        character, end = _character(line, at)
        for one in "" if character == "\\" else _read_character(character):
            seen.append(one)
            places.append(at)
        at = end
    return "".join(seen), [*places, len(line)]


def _character(line: str, at: int) -> tuple[str, int]:
    """Return the character at an index, or the one that an entity encodes, and the index of the next one."""
    meant, length = _entity(line[at + 1 : at + MAX_ENTITY_CHARS].lower()) if line[at] == "&" else ("", 0)
    if length:
        end = at + 1 + length
        return meant, end + (line[end : end + 1] == ";")
    return line[at], at + 1


def _entity(rest: str) -> tuple[str, int]:
    """Return the character of an entity and the length of its name. Numbers and some names need no semicolon."""
    if rest.startswith("#"):
        start, digits = (2, HEXADECIMAL) if rest[1:2] == "x" else (1, HEXADECIMAL[:10])
        number = rest[start : len(rest) - len(rest[start:].lstrip(digits))]
        code = int(number, len(digits)) if number else 0
        return (chr(code), start + len(number)) if 0 < code <= MAX_CODE else ("", 0)
    name = rest.partition(";")[0] if ";" in rest else ""
    if name not in ENTITIES:
        name = next((one for one in WITHOUT_END if rest.startswith(one)), "")
    return ENTITIES.get(name, ""), len(name)


_read: dict[str, str] = {}


def _read_character(character: str) -> str:
    """Return the plain characters, in lower case, that one character looks like."""
    if character in BREAKS:
        return "\n"
    if character == "\t":
        return " "
    if character.isascii():
        return character.lower()
    if character not in _read:
        from unicodedata import combining, normalize

        sign = character.translate(SIGNS)
        plain = normalize("NFKD", sign).translate(SIGNS).translate(LATIN_CAPITALS).casefold()
        letters = "".join(c for c in plain if not combining(c))
        letters = letters if letters.isascii() else letters.translate(LATIN_LETTERS)
        _read[character] = " " if letters.isspace() else letters
    return _read[character]
