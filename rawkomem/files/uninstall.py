"""List and remove the files that rawkomem wrote, except the memories."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from ..model.errors import Unwritable
from ..model.record import record
from .contents import read_bytes
from .layout import Layout, user_cache, user_config
from .page import PAGE, is_generated
from .start import plan_start
from .whole import leads_out

COMMAND_NAMES = (b"rawkomem", b"rawko ")  # our commands, as settings contain them
# Files of git and other programs in a project that may call our commands.
PROJECT_FILES = (
    ".git/hooks", ".git/config", ".husky", "lefthook.yml", ".pre-commit-config.yaml", ".gitattributes", "AGENTS.md",
)  # fmt: skip


@record
class Leaving:
    """Paths to remove, paths that stay, and files of other programs that mention our commands."""

    gone: tuple[tuple[str, str], ...]  # (path, what it is)
    stays: tuple[tuple[str, str], ...]
    mentions: tuple[str, ...]  # files of other programs: `rawkomem connect --remove` removes our lines


def plan_uninstall(layout: Layout, of_hosts: Sequence[str] = ()) -> Leaving:
    """Return what `uninstall` would do; `of_hosts` are files of agent hosts that may mention our commands."""
    gone = [(layout.local, "index, usage counts, ledger, locks of this machine"), (user_cache(), "caches")]
    stays = [(os.path.dirname(user_config()), "your own settings and keys, for all projects")]
    for step in plan_start(layout.project):
        inside = step.exists and not leads_out(os.path.dirname(step.path), layout.root)
        ours = inside and _bytes(step.path) == step.text.encode()
        (gone if ours else stays).append((step.path, "as init wrote it" if ours else "changed by you"))
    page = layout.path(PAGE)
    if is_generated(_bytes(page).decode(errors="replace")):
        gone.append((page, "generated"))
    mentions = _mentions([*(os.path.join(layout.project, *name.split("/")) for name in PROJECT_FILES), *of_hosts])
    present = [tuple(item for item in items if os.path.lexists(item[0])) for items in (gone, stays)]
    return Leaving(present[0], present[1], tuple(dict.fromkeys(mentions)))


def uninstall(leaving: Leaving) -> None:
    """Remove the planned paths without following links; raise Unwritable if one cannot be removed."""
    for path, _ in leaving.gone:
        try:
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        except FileNotFoundError:
            continue
        except OSError as failure:
            raise Unwritable(f"cannot remove {path}: {failure.strerror}", "remove it by hand") from None


def _mentions(paths: Sequence[str]) -> list[str]:
    """Return the files among these paths, or directly in these folders, that name one of our commands."""
    found = []
    for path in paths:
        files = [os.path.join(path, inner) for inner in sorted(os.listdir(path))] if os.path.isdir(path) else [path]
        found += [file for file in files if any(ours in _bytes(file) for ours in COMMAND_NAMES)]
    return found


def _bytes(file: str) -> bytes:
    try:
        return read_bytes(file)
    except OSError:
        return b""
