"""Normalize sums of money: `$1,250.50`, `1250.5 USD` and `dollar1250.50` all become `USD 1250.5`."""

from __future__ import annotations

import re
from decimal import Decimal

# Names of currencies in lower case → code. Dollars of other countries come first: `c$` is not `$`.
SIGNS = {
    "us$": "USD", "ca$": "CAD", "c$": "CAD", "au$": "AUD", "a$": "AUD", "nz$": "NZD", "hk$": "HKD", "s$": "SGD",
    "r$": "BRL", "mx$": "MXN", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB",
    "₺": "TRY", "₪": "ILS", "dollar": "USD", "dollars": "USD", "buck": "USD", "bucks": "USD", "euro": "EUR",
    "euros": "EUR", "pound": "GBP", "pounds": "GBP", "yen": "JPY", "rupee": "INR", "rupees": "INR",
}  # fmt: skip
CODES = (
    "USD", "EUR", "GBP", "JPY", "CNY", "INR", "CAD", "AUD", "NZD", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF",
    "RUB", "TRY", "BRL", "MXN", "ZAR", "KRW", "SGD", "HKD", "ILS", "THB", "AED",
)  # fmt: skip
SCALES = {"k": 1_000, "m": 1_000_000, "bn": 1_000_000_000}
NAMES = {**SIGNS, **{code.lower(): code for code in CODES}}
NAME_PATTERN = "|".join(re.escape(name) for name in sorted(NAMES, key=len, reverse=True))
SUM = re.compile(
    rf"(?P<minus>-)?\s*(?P<before>{NAME_PATTERN})?\s*(?P<sign>-)?\s*"
    rf"(?P<number>\d[\d.,]*)\s*(?P<scale>bn|k|m)?\s*(?P<after>{NAME_PATTERN})?",
    re.IGNORECASE,
)
GROUPED = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}")  # 1,250 and the Indian form 1,00,000


def normalize_currency(text: str) -> str:
    """Return one sum in one currency as `CODE number`; any other text, also a range, unchanged."""
    found = SUM.fullmatch(text.strip())
    if not found:
        return text
    names = {NAMES[name.lower()] for name in (found["before"], found["after"]) if name}
    number = _number(found["number"])
    if len(names) != 1 or number is None:
        return text
    number *= SCALES.get((found["scale"] or "").lower(), 1)
    minus = "-" if found["minus"] or found["sign"] else ""
    return f"{names.pop()} {minus}{_plain(number)}"


def _number(text: str) -> Decimal | None:
    """Return the value of digits with separators. If both `,` and `.` occur, the last one is the decimal point."""
    plain = text
    if "," in text and "." in text:
        last = max(text.rfind(","), text.rfind("."))
        plain = f"{text[:last].replace(',', '').replace('.', '')}.{text[last + 1 :]}"
    elif "," in text:
        plain = text.replace(",", "") if GROUPED.fullmatch(text) else text.replace(",", ".")
    return Decimal(plain) if re.fullmatch(r"\d+(?:\.\d+)?", plain) else None


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
