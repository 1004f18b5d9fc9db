"""Loads apsw without `collections`, which saves a sixth of the start-up time.

apsw needs only `collections.abc`, whose classes are those of `_collections_abc`, which every Python has loaded. That
module replaces both modules while apsw is loaded, unless they are loaded already.
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
