"""Find wikilinks in a body, outside code: [[name]], [[name|label]], [[name#heading]]."""

from __future__ import annotations

import re

from ..text.prose import prose_lines, without_code

# No spaces at the edges, because `[[ -f file ]]` is a shell test. A name is at most as long as an id.
WIKILINK = re.compile(r"\[\[(?=\S)([^\[\]|\n]{1,250})(?:\|[^\[\]\n]{0,250})?(?<=\S)\]\]")


def mentions(body: str) -> tuple[str, ...]:
    """Return the names that a body links to, in order, each once."""
    if "[[" not in body:
        return ()
    found = (name for line in prose_lines(body) if "[[" in line for name in WIKILINK.findall(without_code(line)))
    return tuple(dict.fromkeys(name.strip() for name in found))
