"""Load apsw without `collections`, of which it takes nothing but `collections.abc`: that saves a sixth of a start.

The classes of `collections.abc` are those of `_collections_abc`, which every Python has loaded. It stands in for both
modules while apsw is loaded, and only where nothing has loaded them before.
"""

from __future__ import annotations

import sys

STANDING_IN = () if "collections" in sys.modules else ("collections", "collections.abc")

sys.modules.update(dict.fromkeys(STANDING_IN, sys.modules["_collections_abc"]))
try:
    import apsw as apsw
finally:
    for name in STANDING_IN:
        del sys.modules[name]
