"""Split a Markdown body into sections by its headings, and a list into its items."""

from __future__ import annotations

BULLETS = "-*+"
NOT_RECORDED = "None were recorded."  # a learning writes these texts below a heading without items …
NOT_SEEN = "None were seen."
NOTHING_WORKED = "No execution has succeeded yet: there is nothing to recommend."
NOTHING_SAID = "The executions do not say how they went about it."
PLACEHOLDERS = (NOT_RECORDED, NOT_SEEN, NOTHING_WORKED, NOTHING_SAID)  # … and readers skip


def sections(body: str) -> dict[str, str]:
    """Return lower-case heading → text below it; the text before the first heading is under ''."""
    found: dict[str, list[str]] = {}
    title, fence = "", False
    for line in body.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fence = not fence
        if line.startswith("#") and not fence:
            title = line.lstrip("#").strip().lower()
        else:
            found.setdefault(title, []).append(line)
    return {title: "\n".join(lines).strip() for title, lines in found.items()}


def items(text: str) -> list[str]:
    """Return the items of a list, each on one line without its bullet or number; following lines belong to the item.

    In a text without bullets, each paragraph is one item.
    """
    found: list[list[str]] = []
    apart = True
    for line in text.split("\n"):
        said = _item(line)
        if said is not None:
            found.append([said])
        elif not line.strip():
            apart = True
            continue
        elif found and not apart:
            found[-1].append(line)
        else:
            found.append([line])
        apart = False
    return [item for lines in found if (item := " ".join(" ".join(lines).split()))]


def _item(line: str) -> str | None:
    """Return the text after `- `, `3. ` or `3) `; None if the line does not start an item."""
    bare = line.lstrip()
    if bare[:1] in BULLETS and bare[1:2] == " ":
        return bare[2:].strip()
    digits = len(bare) - len(bare.lstrip("0123456789"))
    if 0 < digits < 5 and bare[digits : digits + 1] in (".", ")") and bare[digits + 1 : digits + 2] == " ":
        return bare[digits + 2 :].strip()
    return None
