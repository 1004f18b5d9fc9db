"""Find and fill templates for new memories: the project's own in .rawko/templates/, else the shipped ones."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..format.field import Unreadable
from ..model.errors import BadInput
from .given_text import read_text_file
from .whole import leads_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..model.entry import Value
    from .layout import Layout

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHIPPED = (os.path.join(PACKAGE, "templates"), os.path.join(os.path.dirname(PACKAGE), "templates"))  # wheel, checkout


def fill_template(layout: Layout, kind: str, values: Mapping[str, Value]) -> str:
    """Return the template of a kind with these frontmatter values, ready for an editor."""
    import frontmatter  # slow to import, and only editors need it

    from ..format.handler import RawkoHandler

    file = find_template(layout, kind)
    handler = RawkoHandler()
    try:
        post = frontmatter.loads(read_text_file(file), handler=handler)
    except Unreadable as failure:
        raise BadInput(f"template {file}: {failure.problem.message}", failure.problem.hint) from None
    post.metadata.update({key: value for key, value in values.items() if value})
    return str(frontmatter.dumps(post, handler=handler)) + "\n"


def find_template(layout: Layout, kind: str) -> str:
    """Return the file of a kind's template; raise BadInput if there is none."""
    for _, file in _templates(layout, kind):
        return file
    raise BadInput(f"no template for kind {kind!r}", f"put {kind}.md into {layout.templates}")


def read_templates(layout: Layout, kind: str) -> Iterator[tuple[bool, str]]:
    """Yield (is shipped, text) for each template of a kind; skip templates that cannot be read."""
    for is_shipped, file in _templates(layout, kind):
        try:
            yield is_shipped, read_text_file(file)
        except BadInput:
            continue


def _templates(layout: Layout, kind: str) -> Iterator[tuple[bool, str]]:
    for folder in (layout.templates, *SHIPPED):
        file = os.path.join(folder, f"{kind}.md")
        if os.path.isfile(file) and not leads_out(file, layout.root):
            yield folder != layout.templates, file
