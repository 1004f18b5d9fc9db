"""Reads a line as a model would: entities decoded, lookalike signs and letters folded, backslashes gone."""

from __future__ import annotations

from .lookalikes import LATIN_CAPITALS, LATIN_LETTERS

ENTITIES = {
    "lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "num": "#", "ast": "*", "midast": "*", "lpar": "(",
    "rpar": ")", "comma": ",", "colon": ":", "lsqb": "[", "lbrack": "[", "rsqb": "]", "rbrack": "]", "vert": "|",
    "verbar": "|", "sol": "/", "bsol": "\\", "lowbar": "_", "equals": "=", "grave": "`", "hyphen": "-", "dash": "-",
    "minus": "-", "ndash": "-", "mdash": "-", "nbsp": " ", "tab": " ", "newline": "\n", "shy": "",
}  # fmt: skip
MAX_ENTITY_CHARS = 10
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # in a line, only an entity can stand for one
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


def read_as(line: str) -> tuple[str, list[int] | None]:
    """Return a line in lower case as a reader takes it, and where each character stood (None: nothing moved)."""
    if "&" not in line and "\\" not in line:
        if line.isascii():
            return line.lower().replace("\t", " "), None
        if all(len(_fold(character)) == 1 for character in set(line)):
            return "".join(map(_fold, line)), None
    seen: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(line):
        character, end = _character(line, at)
        for one in "" if character == "\\" else _fold(character):
            seen.append(one)
            places.append(at)
        at = end
    return "".join(seen), [*places, len(line)]


def _character(line: str, at: int) -> tuple[str, int]:
    """Return the character at a place, an entity decoded, and where the next one begins."""
    if line[at] == "&":
        end = at + 1
        while end < len(line) and end - at < MAX_ENTITY_CHARS and (line[end].isalnum() or line[end] == "#"):
            end += 1
        meant = _entity(line[at + 1 : end])
        if meant is not None:
            return meant, end + (line[end : end + 1] == ";")  # readers decode one without its end, too
    return line[at], at + 1


def _entity(name: str) -> str | None:
    if not name.startswith("#"):
        return ENTITIES.get(name.lower())
    digits, base = (name[2:], 16) if name[1:2] in ("x", "X") else (name[1:], 10)
    try:
        return chr(int(digits, base))
    except (ValueError, OverflowError):
        return None


_folded: dict[str, str] = {}


def _fold(character: str) -> str:
    """Return the plain characters that one character passes for, in lower case."""
    if character in BREAKS:
        return "\n"
    if character == "\t":
        return " "
    if character.isascii():
        return character.lower()
    if character not in _folded:
        from unicodedata import combining, normalize

        sign = character.translate(SIGNS)
        plain = normalize("NFKD", sign).translate(SIGNS).translate(LATIN_CAPITALS).casefold()
        letters = "".join(c for c in plain if not combining(c)).translate(LATIN_LETTERS)
        _folded[character] = " " if letters.isspace() else letters
    return _folded[character]
