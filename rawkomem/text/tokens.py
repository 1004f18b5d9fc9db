"""How many tokens a text costs a model, estimated without its tokenizer."""

from __future__ import annotations

LETTERS_PER_TOKEN = 4  # on average
TOKENS_PER_CJK = 1.5  # tokens a character
CJK = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))


def count_tokens(text: str) -> int:
    """Letters by fours, each symbol one, each run of digits one, CJK characters one and a half each."""
    if not text:
        return 0
    if text.isascii():
        return _count_ascii(text)
    letters = symbols = 0
    wide = 0.0
    digits = False
    for char in text:
        if char.isdigit():
            symbols += not digits
            digits = True
            continue
        digits = False
        if char.isspace() or char.isalpha():
            if not char.isascii() and _is_wide(char):
                wide += TOKENS_PER_CJK
            else:
                letters += 1
        else:
            symbols += 1
    return max(1, round(letters / LETTERS_PER_TOKEN + symbols + wide + 0.499))


_ASCII = {
    code: " " if chr(code).isspace() or chr(code).isalpha() else "0" if chr(code).isdigit() else "."
    for code in range(128)
}


def _count_ascii(text: str) -> int:
    """Return the same, thirty times as fast: every hook call counts the tokens of what it injects."""
    shape = text.translate(_ASCII)
    runs = len(shape.replace(".", " ").split())  # of digits
    return max(1, round(shape.count(" ") / LETTERS_PER_TOKEN + shape.count(".") + runs + 0.499))


def _is_wide(char: str) -> bool:
    return any(low <= ord(char) <= high for low, high in CJK)
