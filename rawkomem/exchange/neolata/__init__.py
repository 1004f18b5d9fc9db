"""Import and export neolata-mem: its JSON folder, and dumps of its Supabase tables. `fields.py` maps the fields."""

from __future__ import annotations

from .read import read_neolata
from .store import is_neolata
from .write import neolata_files

__all__ = ["is_neolata", "neolata_files", "read_neolata"]
