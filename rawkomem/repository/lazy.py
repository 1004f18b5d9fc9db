"""Load parts of the library on first use, so that a search does not import them."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import Repository


def lazy(module: str, doc: str = "") -> Any:
    """Return an attribute that, when first read, imports a module and makes an instance of its class.

    The class has the attribute's name, capitalized.
    """
    return _Lazy(f"{__package__}.{module}", doc)


class Wing:
    """Base class: a part of the library for one repository, loaded on first use."""

    def __init__(self, repository: Repository):
        self._repo = repository
        self._core = repository.core


class _Lazy:
    def __init__(self, module: str, doc: str):
        self._module = module
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: object, kind: type) -> object:
        if owner is None:
            return self
        __import__(self._module)
        made = getattr(sys.modules[self._module], self._name.lstrip("_").capitalize())(owner)
        owner.__dict__[self._name] = made  # later reads find it here
        return made
