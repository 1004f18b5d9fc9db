"""Frozen records: the parts of dataclasses that we use. Importing `dataclasses` would slow down every command."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True)
    def record(cls: type[T]) -> type[T]: ...

    def replace(item: T, **changes: Any) -> T: ...

    def unchecked(cls: type[T], **fields: Any) -> T: ...

    def as_dict(item: Any) -> dict[str, Any]: ...

else:
    MISSING = object()
    FEW_RECORDS = 30  # of one class; from this number on, a compiled __init__ is faster

    def record(cls):
        """Turn an annotated class into an immutable value with ==, hash and repr.

        `__check__` maps fields to checks (see model/checked.py) that __init__ and replace() apply.
        """
        names = tuple(cls.__annotations__)
        cls.__check__ = cls.__dict__.get("__check__", {})
        cls.__defaults__ = defaults = {name: getattr(cls, name, MISSING) for name in names}
        cls.__init__ = _init_until_often_used(cls, names, defaults)
        cls.__fields__ = names
        cls.__setattr__ = cls.__delattr__ = _refuse
        cls.__eq__ = _equal
        cls.__hash__ = _hash
        cls.__repr__ = _repr
        cls.__match_args__ = names
        return cls

    def _init_until_often_used(cls, names, defaults):
        """Return an __init__ that compiles itself after FEW_RECORDS calls.

        Compiling takes 0.1 ms, and a command makes few or no records of most classes.
        """
        made, needed = 0, [name for name in names if defaults[name] is MISSING]

        def __init__(self, *given, **named):
            nonlocal made
            made += 1
            if made < FEW_RECORDS and len(given) <= len(names):
                fields = {**defaults, **dict(zip(names, given, strict=False)), **named}
                twice = named.keys() & names[: len(given)]
                if not twice and len(fields) == len(names) and all(fields[name] is not MISSING for name in needed):
                    self.__dict__.update(fields)
                    if cls.__check__:
                        _check(self)
                    return
            _compile()
            cls.__init__(self, *given, **named)

        def _compile():
            args = ", ".join(name if defaults[name] is MISSING else f"{name}=_d[{name!r}]" for name in names)
            body = "; ".join(f"_set({name!r}, {name})" for name in names)
            body += "; _check(self)" if cls.__check__ else ""
            scope: dict = {"_d": defaults, "_check": _check}
            exec(f"def __init__(self, {args}):\n _set = self.__dict__.__setitem__; {body}", scope)
            cls.__init__ = scope["__init__"]
            cls.__init__.__qualname__ = f"{cls.__name__}.__init__"

        return __init__

    def _check(made):
        """Check the fields of a new record, except those that hold the default."""
        cls, fields = type(made), made.__dict__
        for name, check in cls.__check__.items():
            if fields[name] is not cls.__defaults__[name]:
                fields[name] = check(fields[name], f"{cls.__name__}.{name}")

    def replace(item, **changes):
        """Return a copy of a record with some fields changed; check only these fields."""
        cls = type(item)
        if not changes.keys() <= cls.__defaults__.keys():
            unknown = ", ".join(changes.keys() - cls.__defaults__.keys())
            raise TypeError(f"{cls.__name__} has no field {unknown}")
        for name in cls.__check__.keys() & changes.keys():
            changes[name] = cls.__check__[name](changes[name], f"{cls.__name__}.{name}")
        copy = object.__new__(cls)
        copy.__dict__.update(item.__dict__, **changes)
        return copy

    def unchecked(cls, **fields):
        """Return a record without checking its values. A parser that makes thousands of records uses this."""
        made = object.__new__(cls)
        made.__dict__.update(cls.__defaults__, **fields)
        return made

    def as_dict(item):
        """Return a record's fields as a new dictionary."""
        return dict(item.__dict__)

    def _refuse(self, name, *value):
        raise AttributeError(f"{type(self).__name__} is frozen: cannot change {name!r}; use replace()")

    def _equal(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def _hash(self):
        return hash(tuple(_hashable(value) for value in self.__dict__.values()))

    def _hashable(value):
        return repr(value) if isinstance(value, (dict, list)) else value

    def _repr(self):
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"
