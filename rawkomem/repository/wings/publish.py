"""Publish a repository for programs that read the tables of RFC-0011."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...index.open_store import plugin, plugin_names
from ...model.errors import BadInput, NotFound
from ..tables import has_tables, publish_all

if TYPE_CHECKING:
    from .. import Repository
    from ..tables import Published


def publish(repository: Repository) -> Published:
    """Fill the tables completely; raise BadInput for a store without these tables."""
    core = repository.core
    if not has_tables(core):
        name, other = core.settings.store.name, names_with_tables()[0]
        raise BadInput(f"the {name} store does not have the tables of RFC-0011", f"run 'rawkomem store use {other}'")
    return publish_all(core)


def names_with_tables() -> list[str]:
    """Return the stores that have the tables of RFC-0011; raise NotFound if no installed package provides one."""
    names = [name for name in plugin_names() if plugin(name).rfc_tables]
    if not names:
        raise NotFound("no installed store has the tables of RFC-0011", "install a package that provides one")
    return names
