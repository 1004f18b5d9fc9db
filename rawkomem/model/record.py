"""Frozen records: the parts of dataclasses that we use. Importing `dataclasses` would slow down every command."""

from __future__ import annotations

from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
MISSING = object()


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Turn an annotated class into an immutable value with ==, hash and repr.

    `__check__` maps fields to checks (see model/checked.py) that __init__ and replace() apply.
    """
    made: Any = cls
    names = tuple(cls.__annotations__)
    made.__check__ = cls.__dict__.get("__check__", {})
    made.__defaults__ = {name: getattr(cls, name, MISSING) for name in names}
    made.__fields__ = names
    made.__match_args__ = names  # type: ignore[misc]
    made.__init__ = _fill
    made.__setattr__ = made.__delattr__ = _refuse
    made.__eq__ = _equal
    made.__hash__ = _hash
    made.__repr__ = _repr
    return cls


def _fill(self: Any, *given: Any, **named: Any) -> None:
    """Set the fields of a new record; the `__init__` of every record class."""
    cls, fields = type(self), self.__dict__
    names = cls.__fields__
    fields.update(cls.__defaults__)
    fields.update(zip(names, given, strict=False))
    fields.update(named)
    if (
        len(fields) != len(names)
        or len(given) > len(names)
        or MISSING in fields.values()
        or not named.keys().isdisjoint(names[: len(given)])
    ):
        raise TypeError(_wrong_arguments(cls, given, named))
    for name, check in cls.__check__.items():
        if fields[name] is not cls.__defaults__[name]:
            fields[name] = check(fields[name], f"{cls.__name__}.{name}")


def _wrong_arguments(cls: Any, given: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Return which arguments of a record are too many, unknown, given twice or missing."""
    names = cls.__fields__
    if len(given) > len(names):
        return f"{cls.__name__} takes {len(names)} arguments, not {len(given)}"
    if unknown := named.keys() - set(names):
        return f"{cls.__name__} has no field {', '.join(sorted(unknown))}"
    if twice := named.keys() & set(names[: len(given)]):
        return f"{cls.__name__} got {', '.join(sorted(twice))} twice"
    filled = {*names[: len(given)], *named}
    missing = (name for name in names if name not in filled and cls.__defaults__[name] is MISSING)
    return f"{cls.__name__} needs {', '.join(missing)}"


def replace(item: T, **changes: Any) -> T:
    """Return a copy of a record with some fields changed; check only these fields."""
    cls: Any = type(item)
    if unknown := changes.keys() - cls.__defaults__.keys():
        raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(unknown))}")
    for name in cls.__check__.keys() & changes.keys():
        changes[name] = cls.__check__[name](changes[name], f"{cls.__name__}.{name}")
    copy: T = object.__new__(cls)
    copy.__dict__.update(item.__dict__, **changes)
    return copy


def unchecked(cls: type[T], **fields: Any) -> T:
    """Return a record without checking its values. A parser that makes thousands of records uses this."""
    made = object.__new__(cls)
    made.__dict__.update(cls.__defaults__, **fields)  # type: ignore[attr-defined]
    return made


def as_dict(item: Any) -> dict[str, Any]:
    """Return a record's fields as a new dictionary."""
    return dict(item.__dict__)


def _refuse(self: Any, name: str, *value: Any) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: cannot change {name!r}; use replace()")


def _equal(self: Any, other: object) -> bool:
    return type(self) is type(other) and self.__dict__ == other.__dict__


def _hash(self: Any) -> int:
    return hash(tuple(repr(value) if isinstance(value, (dict, list)) else value for value in self.__dict__.values()))


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
    return f"{type(self).__name__}({fields})"
