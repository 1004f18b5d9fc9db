"""Types of settings: each converts a value of a YAML file, where every scalar is text, or raises ValueError."""

from __future__ import annotations

from ...model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

MAX_TEXT_CHARS = 2_000  # characters
MAX_NAME_CHARS = 64  # characters of a name that the user chooses, such as an agent's
MAX_ITEMS = 200
YES, NO = ("on", "true", "yes"), ("off", "false", "no")


@record
class Type:
    """A type: a description of the allowed values, and the function that converts a value."""

    allowed: str
    read: Callable[[Any], Any]
    inner: Mapping[str, Type] | None = None  # for a mapping: the types of its keys; empty: any key with any text
    names: bool = False  # whether a level of user-chosen names comes before these keys
    skip: str = ""  # an optional level between a name and a key

    def below(self, path: tuple[str, ...]) -> tuple[tuple[str, ...], Type] | None:
        """Return the path and the type of a value below this setting; None for an unknown key."""
        if self.inner is None:
            return None if path else ((), self)
        if self.names and len(path) == 3 and path[1] == self.skip:
            path = (path[0], path[2])
        if len(path) != 1 + self.names or not all(map(is_name, path)):
            return None
        type = self.inner.get(path[-1]) if self.inner else TEXT
        return (path, type) if type else None


def is_name(text: str) -> bool:
    """Return whether a text may be part of a key: letters, digits, - _ . and single spaces."""
    plain = all(character.isalnum() or character in "-_. " for character in text)
    return plain and 0 < len(text) <= MAX_NAME_CHARS and " ".join(text.split()) == text


def _text(value: Any) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else None
    if text is None or len(text) > MAX_TEXT_CHARS or not text.isprintable():
        raise ValueError
    return text


def _texts(value: Any) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or len(parts) > MAX_ITEMS:
        raise ValueError
    return tuple(text for part in parts if (text := _text(part)))


def _number(value: Any, low: float, high: float) -> float:
    read = float(_text(value))
    if not low <= read <= high:  # also true for NaN
        raise ValueError
    return read


def _whole(value: Any, low: int, high: int) -> int:
    read = _number(value, low, high)
    if read != int(read):
        raise ValueError
    return int(read)


def _yes_no(value: Any) -> bool:
    return _word(value, (*YES, *NO)) in YES


def _word(value: Any, words: Iterable[str]) -> str:
    word = _text(value).lower()
    if word not in words:
        raise ValueError
    return word


def _listed(words: Iterable[str]) -> str:
    return "one of " + ", ".join(words)


TEXT = Type("a text on one line", _text)
TEXTS = Type("a list of texts", _texts)
YES_NO = Type("on or off", _yes_no)


def number(low: float, high: float) -> Type:
    """Return the type of a number in a range."""
    return Type(f"a number from {low:g} to {high:g}", lambda value: _number(value, low, high))


def whole(low: int, high: int) -> Type:
    """Return the type of a whole number in a range."""
    return Type(f"a whole number from {low} to {high}", lambda value: _whole(value, low, high))


def choice(*words: str) -> Type:
    """Return a type that allows one of these words. `true` and `false` mean `on` and `off`, if those are allowed."""

    def read(value: Any) -> str:
        said = _text(value).lower()
        said = "on" if said in YES and "on" in words else "off" if said in NO and "off" in words else said
        return _word(said, words)

    return Type(_listed(words), read)


def some_of(*words: str) -> Type:
    """Return a type that allows a list of these words."""

    def read(value: Any) -> tuple[str, ...]:
        parts = value.replace(",", " ").split() if isinstance(value, str) else value
        return tuple(_word(part, words) for part in _texts(parts))

    return Type("a list of " + ", ".join(words), read)


def text_like(allowed: str, words: Iterable[str], fits: Callable[[str], bool]) -> Type:
    """Return a type that allows one of these words, or a text for which `fits` returns True."""

    def read(value: Any) -> str:
        text = _text(value)
        return text if fits(text) else _word(text, words)

    return Type(f"{allowed} ({', '.join(words)})", read)


def texts_or(word: str) -> Type:
    """Return a type that allows a list of texts, or this word instead."""
    return Type(f"a list of texts, or {word}", lambda value: word if value == word else _texts(value))


def group(types: Mapping[str, Type]) -> Type:
    """Return the type of a mapping with these keys."""
    return Type("; ".join(f"{key}: {type.allowed}" for key, type in types.items()), _text, types)


def named(types: Mapping[str, Type], skip: str = "") -> Type:
    """Return the type of a mapping from names to mappings with these keys; between them, a level `skip` is allowed."""
    return Type(f"NAME: {{{group(types).allowed or 'key: text'}}}", _text, types, names=True, skip=skip)
