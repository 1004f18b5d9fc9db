"""Write a plan as the repository's writer does, without git and without records."""

from rawkomem.files.append import Written, write_locked
from rawkomem.files.layout import Layout
from rawkomem.files.private import lock
from rawkomem.model.entries import Plan


def write_plan(layout: Layout, plan: Plan) -> list[Written]:
    with lock(layout, "write"):
        return write_locked(layout, plan, print, lambda entry: False, bool, lambda entries: None, lambda paths: ())
