"""Reads a line as a model would: entities decoded, lookalike signs and letters folded, backslashes gone."""

from __future__ import annotations

from .lookalikes import LATIN_CAPITALS, LATIN_LETTERS

ENTITIES = {
    "lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "num": "#", "ast": "*", "midast": "*", "lpar": "(",
    "rpar": ")", "comma": ",", "colon": ":", "lsqb": "[", "lbrack": "[", "rsqb": "]", "rbrack": "]", "vert": "|",
    "verbar": "|", "sol": "/", "bsol": "\\", "lowbar": "_", "equals": "=", "grave": "`", "hyphen": "-", "dash": "-",
    "minus": "-", "ndash": "-", "mdash": "-", "nbsp": " ", "tab": " ", "newline": " ", "shy": "",
}  # fmt: skip
MAX_ENTITY_CHARS = 10
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
            return line.lower(), None
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
        end = line.find(";", at + 1, at + MAX_ENTITY_CHARS)
        meant = _entity(line[at + 1 : end]) if end > 0 else None
        if meant is not None:
            return meant, end + 1
    return line[at], at + 1


def _entity(name: str) -> str | None:
    if name.startswith("#"):
        digits, base = (name[2:], 16) if name[1:2] in ("x", "X") else (name[1:], 10)
        try:
            return chr(int(digits, base))
        except (ValueError, OverflowError):
            return None
    return ENTITIES.get(name.lower())


_folded: dict[str, str] = {}


def _fold(character: str) -> str:
    """Return the plain characters that one character passes for, in lower case."""
    if character.isascii():
        return character.lower()
    if character not in _folded:
        from unicodedata import combining, normalize

        sign = character.translate(SIGNS)
        plain = normalize("NFKD", sign).translate(SIGNS).translate(LATIN_CAPITALS).casefold()
        letters = "".join(c for c in plain if not combining(c)).translate(LATIN_LETTERS)
        _folded[character] = " " if letters.isspace() else letters
    return _folded[character]
