"""Estimate the number of tokens of a text, without a model's tokenizer."""

from __future__ import annotations

LETTERS_PER_TOKEN = 4  # on average
TOKENS_PER_CJK = 1.5  # per character
CJK = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))
LETTER, DIGIT, SYMBOL, WIDE = "a", "0", ".", "w"


def count_tokens(text: str) -> int:
    """Return an estimate: 1 token per 4 letters, per symbol and per run of digits, 1.5 per CJK character."""
    if not text:
        return 0
    shape = text.translate(_shapes)
    numbers = len(shape.replace(LETTER, " ").replace(SYMBOL, " ").replace(WIDE, " ").split())
    letters, wide = shape.count(LETTER) / LETTERS_PER_TOKEN, shape.count(WIDE) * TOKENS_PER_CJK
    return max(1, round(letters + shape.count(SYMBOL) + numbers + wide + 0.499))


class _Shapes(dict[int, str]):
    """A translation table that fills itself with the class of each character; much faster than a loop."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isdigit():
            shape = DIGIT
        elif character.isspace() or character.isalpha():
            shape = WIDE if any(low <= code <= high for low, high in CJK) else LETTER
        else:
            shape = SYMBOL
        self[code] = shape
        return shape


_shapes = _Shapes()
