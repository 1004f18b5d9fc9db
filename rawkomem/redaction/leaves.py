"""Splits fields into leaves, `key: text`, and recognizes leaves without secrets before any rule is loaded."""

from __future__ import annotations

from ..model.kinds import CHANGES, CREATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..model.entry import Value

    Leaf = tuple[str, str]  # key, text; an item of a list has the key of the list

MIN_SECRET_KEY_LENGTH = 12  # characters of a key that may itself be a secret or an address
NAMING_KEYS = ("predicate", "name", "key", "variable")  # siblings of a `value` that name it
GENERIC_NAMES = ("is", "equals", "value", "set to", "has value")  # predicates with which the subject names the value
# Keys with texts that no rule can match: an empty text, one word, an id that starts with a kind of entry, or a time.
EMPTY_KEYS = ("", "title", "discoveredIn", "source")
WORD_KEYS, ID_KEYS, TIME_KEYS = ("by", "discoveredBy", "kind", "signal"), ("id", "about"), ("at", "discoveredAt")
MAX_WORD_CHARS = 16
ID_STARTS = frozenset([*(kind.prefix for kind in CREATES.values()), *CHANGES])
ID_DIGITS, ID_HEX_DIGITS = 13, 6  # of an id that rawkomem made
AS_ZEROS = str.maketrans("123456789", "000000000")
TIMES = ("0000-00-00T00:00:00Z", "0000-00-00T00:00:00.000Z")  # with all digits as zeros


def are_bare(leaves: Iterable[Leaf]) -> bool:
    """Tell whether no field can hold a secret, as in a vote without a reason."""
    return all(_is_bare(key, text) for key, text in leaves)


def _is_bare(key: str, text: str) -> bool:
    if key in ID_KEYS:
        return _is_own_id(text)
    if key in TIME_KEYS:
        return text.translate(AS_ZEROS) in TIMES
    return (not text and key in EMPTY_KEYS) or (key in WORD_KEYS and _is_word(text))


def _is_own_id(text: str) -> bool:
    start, _, rest = text.partition("_")
    digits, _, hex_digits = rest.partition("_")
    made = len(digits) == ID_DIGITS and digits.isdecimal() and len(hex_digits) == ID_HEX_DIGITS
    return start in ID_STARTS and text.isascii() and (_is_word(rest) or (made and hex_digits.isalnum()))


def _is_word(text: str) -> bool:
    return text.isascii() and text.isalpha() and text.islower() and len(text) <= MAX_WORD_CHARS


def leaves_of(visit: Callable[[Callable[[str, str], str]], object]) -> list[Leaf]:
    """Call `visit` with a function; return each (key, text) that it passes to this function, in order."""
    leaves: list[Leaf] = []

    def note(key: str, text: str) -> str:
        leaves.append((key, text))
        return text

    visit(note)
    return leaves


def map_value(key: str, value: Value, change: Callable[[str, str], str]) -> Value:
    """Return the value with `change(path of keys, text)` for each of its texts."""
    if isinstance(value, str):
        return change(key, value)
    if isinstance(value, dict):
        return map_mapping(f"{key}.", value, change)
    return [map_value(key, item, change) for item in value]


def map_mapping(prefix: str, mapping: Mapping[str, Value], change: Callable[[str, str], str]) -> dict[str, Value]:
    """Return the mapping with each text changed, and each key that is long enough to be a secret itself."""
    changed: dict[str, Value] = {}
    for key, value in mapping.items():
        kept = change("", key) if len(key) >= MIN_SECRET_KEY_LENGTH else key
        kept = f"{kept}_{len(changed)}" if kept in changed else kept
        changed[kept] = map_value(f"{prefix}{_name_of(key, mapping)}", value, change)
    return changed


def _name_of(key: str, mapping: Mapping[str, Value]) -> str:
    """Return the name of a value: its key, or the name in a sibling, as in `name: DB_PASS, value: …`."""
    if key != "value":
        return key
    names = [str(mapping[name]).strip() for name in NAMING_KEYS if isinstance(mapping.get(name), str)]
    if names and names[0].lower() in GENERIC_NAMES:
        names = [str(mapping.get("subject", key))]
    return names[0] if names else key
