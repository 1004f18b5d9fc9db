"""Paths in texts, and file globs such as `src/**/*.py`. No regex engine is used."""

from __future__ import annotations

from ..model.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# stripped from both ends of a path; a full stop only from its end
PATH_QUOTES = "\"'`,;:!?()[]{}<>*"
MAX_PATH_LENGTH = 512  # characters; longer words are not paths
MAX_FOLDERS = 24  # deeper paths and globs are not compared, to limit the time
MAX_PATHS = 64  # of one task that are matched
MAX_SPELLED_PATTERNS = 32  # into which the braces of one pattern are expanded

# stands for the path of a write that cannot be compared; no path has this character
ANY_FILE = "\0"

GLOB_SIGNS = (
    # besides letters and digits; with other characters, a pattern is a regex
    "-_./*?{},@~+# |"
)


def path_below(path: str, project: str) -> str:
    """Return a path relative to a project, with forward slashes; empty if it is outside or not printable."""
    path = path.replace("\\", "/")
    project = project.replace("\\", "/").rstrip("/")
    if project and path.startswith(f"{project}/"):
        path = path[len(project) + 1 :]
    path = path.removeprefix("./")
    outside = path.startswith(("/", "~", "../")) or path[1:3] == ":/"
    return "" if outside or not path.isprintable() else path


def is_file_glob(text: str) -> bool:
    """Return whether a pattern is a file glob: it has a star, and a slash or a leading `*.`, and no sign of a regex."""
    if "*" not in text or " " in text.strip() or ".*" in text.replace("*.*", ""):
        return False
    pathlike = "/" in text or any(
        part.strip().startswith("*.") for part in text.replace(",", "|").split("|")
    )
    return pathlike and all(c.isalnum() or c in GLOB_SIGNS for c in text)


def spell_out_glob(text: str) -> list[str]:
    """Return the alternatives of a file glob in lower case: `*.{ts,tsx}|*.js` has three."""
    pending = [
        piece.strip()
        for piece in split_outside_braces(text.lower(), "|")
        if piece.strip()
    ]
    done: list[str] = []
    while pending and len(done) < MAX_SPELLED_PATTERNS:
        pattern = pending.pop(0)
        start = pattern.find("{")
        end = pattern.find("}")
        if 0 <= start < end and len(pending) < MAX_SPELLED_PATTERNS:
            options = pattern[start + 1 : end].split(",")
            pending += [
                pattern[:start] + option + pattern[end + 1 :] for option in options
            ]
        elif pattern.strip("*/ "):
            done.append(pattern)
    return done


def split_outside_braces(text: str, anywhere: str = "") -> list[str]:
    """Split a text at commas outside braces, and at the characters of `anywhere`: `*.{ts,tsx}` stays together."""
    cuts = [-1]
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if sign in anywhere or (sign == "," and depth <= 0):
            cuts.append(at)
    return [
        text[start + 1 : end]
        for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)
    ]


def paths_in(task: str) -> list[str]:
    """Return the words of a lower-case task that could be paths or file names."""
    words = (
        word.lstrip(PATH_QUOTES).rstrip(PATH_QUOTES + ".")
        for word in task.split()
        if "." in word or "/" in word
    )
    fine = (
        path
        for path in words
        if path and len(path) <= MAX_PATH_LENGTH and path.count("/") < MAX_FOLDERS
    )
    return list(dict.fromkeys(fine))[:MAX_PATHS]


def fits_glob(pattern: str, path: str, anchored: bool = False) -> bool:
    """Return whether a path matches a glob, from any folder on or, if `anchored`, from its start.

    `**` matches any number of folders.
    """
    wanted = pattern.removeprefix("./").strip("/").split("/")
    parts = path.removeprefix("./").strip("/").split("/")
    if len(wanted) > MAX_FOLDERS:
        return False
    # reach[n]: whether the segments so far match the first n parts of the path
    reach = [True] + [False] * len(parts)
    for segment in wanted if anchored else ("**", *wanted):
        if segment == "**":
            for at in range(1, len(reach)):
                reach[at] = reach[at] or reach[at - 1]
        else:
            reach = [False] + [
                reach[at] and fits_wildcards(segment, name)
                for at, name in enumerate(parts)
            ]
    return reach[-1]


def are_in_order(parts: Iterable[str], line: str) -> bool:
    """Return whether a line holds all parts, each after the one before."""
    at = 0
    for part in parts:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def fits_wildcards(pattern: str, text: str, one: str = "?") -> bool:
    """Return whether a text matches wildcards. It backtracks only to the last `*`, so the time is limited."""
    at = spot = 0
    star = mark = -1  # the last `*`, and the end of the text that it matches
    while spot < len(text):
        sign = pattern[at : at + 1]
        if sign == "*":
            star = at
            mark = spot
            at += 1
        elif sign in (one, text[spot]):
            at = at + 1
            spot = spot + 1
        elif star >= 0:
            mark += 1
            at = star + 1
            spot = mark
        else:
            return False
    return pattern[at:].strip("*") == ""
