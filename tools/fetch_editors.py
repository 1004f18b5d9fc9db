"""Fetch Neovim and Helix from Debian's packages into .editors/, with the libraries that they need, without root.

Debian's stable release has an older Neovim than docs/editors.md supports, so the packages come from a newer suite. Each
package is checked against the SHA-256 in the suite's index. The programs use the C library of that suite.
"""

from __future__ import annotations

import hashlib
import lzma
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

MIRROR = "https://deb.debian.org/debian"
SUITE = "forky"
EDITORS = ("neovim", "hx")
PROGRAMS = {
    "nvim": '--cmd "set runtimepath+=$here/unpacked/usr/lib/nvim" ',
    "hx": "",
}  # program → the options that it needs
# no editor loads files from these
SKIPPED = {"gcc-16-base", "libc-gconv-modules-extra"}
TIMEOUT_S = 120
WRAPPER = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")/..
export VIMRUNTIME="$here/unpacked/usr/share/nvim/runtime" HELIX_RUNTIME="$here/unpacked/usr/lib/hx/runtime"
libraries=$(find "$here/unpacked/usr/lib" -maxdepth 1 -type d -name '*-linux-gnu')
loader=$(find "$here/unpacked/usr/lib" -name 'ld-linux-*.so.*' | head -n 1)
exec "$loader" --library-path "$libraries" "$here/unpacked/usr/bin/{program}" {options}"$@"
"""


def fetch(path: str) -> bytes:
    """Return a file of the mirror."""
    with urllib.request.urlopen(f"{MIRROR}/{path}", timeout=TIMEOUT_S) as answer:
        return bytes(answer.read())


def packages() -> dict[str, dict[str, str]]:
    """Return the fields of every package of the suite for this machine's architecture."""
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], check=True, capture_output=True, text=True
    ).stdout
    index = fetch(f"dists/{SUITE}/main/binary-{architecture.strip()}/Packages.xz")
    found = {}
    for block in lzma.decompress(index).decode().split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", block, re.MULTILINE))
        found[fields.get("Package", "")] = fields
    return found


def needed(names: tuple[str, ...], known: dict[str, dict[str, str]]) -> list[str]:
    """Return packages with all their dependencies; of alternatives, the first."""
    wanted, found = [*names], []
    while wanted:
        name = wanted.pop()
        if name in found or name in SKIPPED or name not in known:
            continue
        found.append(name)
        depends = known[name].get("Depends", "")
        wanted += [
            re.split(r"[ (:|]", part.strip())[0]
            for part in depends.split(",")
            if part.strip()
        ]
    return found


def unpack(package: dict[str, str], folder: Path) -> None:
    """Download a package, check it and unpack it below a folder; exit if its checksum is wrong."""
    data = fetch(package["Filename"])
    if hashlib.sha256(data).hexdigest() != package["SHA256"]:
        sys.exit(
            f"{package['Filename']}: the SHA-256 differs from the index; try again"
        )
    file = folder / "package.deb"
    file.write_bytes(data)
    subprocess.run(["dpkg-deb", "-x", str(file), str(folder / "unpacked")], check=True)
    file.unlink()


def main() -> None:
    """Fetch both editors and write a start script for each. Keeps .editors/vscode, where `make vsix` builds."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".editors")
    for old in ("bin", "unpacked"):
        shutil.rmtree(folder / old, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    known = packages()
    for name in needed(EDITORS, known):
        print(name, known[name]["Version"], flush=True)
        unpack(known[name], folder)
    for program, options in PROGRAMS.items():
        script = folder / "bin" / program
        script.write_text(
            WRAPPER.replace("{program}", program).replace("{options}", options)
        )
        script.chmod(0o755)


if __name__ == "__main__":
    main()
