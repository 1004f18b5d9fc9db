"""How rawkomem was installed, so that hints name a command that works when pasted."""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import find_spec

PIPX = "pipx"
UV_TOOL = "uv tool"
PIP = "pip"
# files that these installers create in the environment
PIPX_FILE = "pipx_metadata.json"
UV_FILE = "uv-receipt.toml"


def installer() -> str:
    """Return the program that installed this rawkomem: PIPX, UV_TOOL, or PIP for any other environment."""
    if os.path.exists(os.path.join(sys.prefix, PIPX_FILE)):
        return PIPX
    return UV_TOOL if os.path.exists(os.path.join(sys.prefix, UV_FILE)) else PIP


def how_to_install(*packages: str) -> str:
    """Return the command that adds packages to the environment of this rawkomem."""
    named = " ".join(map(shlex.quote, packages))
    if installer() == PIPX:
        return f"pipx inject rawkomem {named}"
    python = shlex.quote(sys.executable or "python")
    if installer() == UV_TOOL or find_spec("pip") is None:
        return f"uv pip install --python {python} {named}"
    return f"{python} -m pip install {named}"


def how_to_upgrade() -> str:
    """Return the command that upgrades this rawkomem."""
    if installer() == PIP:
        return how_to_install("--upgrade", "rawkomem")
    return f"{installer()} upgrade rawkomem"


def how_to_add(extra: str) -> str:
    """Return the command that installs the packages of a rawkomem extra."""
    return how_to_install(*packages_of(extra))


def packages_of(extra: str) -> list[str]:
    """Return the packages of an extra from the installed metadata; `rawkomem[EXTRA]` if the extra is not there."""
    # slow: it loads e-mail
    from importlib.metadata import PackageNotFoundError, requires

    mark = f'extra == "{extra}"'
    try:
        lines = [
            line.replace("'", '"').partition(";") for line in requires("rawkomem") or ()
        ]
    except PackageNotFoundError:
        lines = []
    return [name.strip() for name, _, condition in lines if mark in condition] or [
        f"rawkomem[{extra}]"
    ]


def how_to_reach() -> str:
    """Return a hint that says how to put `rawkomem` on the PATH, where hosts and git look for it."""
    if installer() == PIPX:
        return "run: pipx ensurepath"
    if installer() == UV_TOOL:
        return "run: uv tool update-shell"
    folder = os.path.join(sys.prefix, "Scripts" if os.name == "nt" else "bin")
    return f"add {folder} to the PATH, or install rawkomem with 'pipx' or 'uv tool'"
