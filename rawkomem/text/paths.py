"""Paths in texts: which lie below a project, and which a file glob such as `src/**/*.py` matches. No regex engine."""

from __future__ import annotations

QUOTES = "\"'`,;:!?()[]{}<>*"  # what prose puts around a path; a full stop only after it
MAX_PATH_LENGTH = 512  # longer words are no paths
MAX_FOLDERS = 24  # deeper paths and globs are not compared: the work grows with both
MAX_PATHS = 64  # of one task: a pasted listing says no more with thousands
MAX_SPELLED_PATTERNS = 32  # one pattern's braces may spell out no more than this

GLOB_SIGNS = "-_./*?{},@~+# |"  # besides letters and digits: anything else is a regex, not a file glob


def path_below(path: str, project: str) -> str:
    """Return a path below a project, with forward slashes; empty for what lies elsewhere or cannot be printed."""
    path, project = path.replace("\\", "/"), project.replace("\\", "/").rstrip("/")
    if project and path.startswith(f"{project}/"):
        path = path[len(project) + 1 :]
    path = path.removeprefix("./")
    outside = path.startswith(("/", "~", "../")) or path[1:3] == ":/"
    return "" if outside or not path.isprintable() else path


def is_file_glob(text: str) -> bool:
    """Tell whether a pattern is a file glob: a star, a slash or a leading `*.`, and no sign that only a regex has."""
    if "*" not in text or " " in text.strip() or ".*" in text.replace("*.*", ""):
        return False
    pathlike = "/" in text or any(part.strip().startswith("*.") for part in text.replace(",", "|").split("|"))
    return pathlike and all(c.isalnum() or c in GLOB_SIGNS for c in text)


def spell_out(text: str) -> list[str]:
    """Return the alternatives of a file glob: `*.{ts,tsx}|*.js` is three of them, in lower case."""
    pending = [piece.strip() for piece in outside_braces(text.lower(), "|") if piece.strip()]
    done: list[str] = []
    while pending and len(done) < MAX_SPELLED_PATTERNS:
        pattern = pending.pop(0)
        start, end = pattern.find("{"), pattern.find("}")
        if 0 <= start < end and len(pending) < MAX_SPELLED_PATTERNS:
            options = pattern[start + 1 : end].split(",")
            pending += [pattern[:start] + option + pattern[end + 1 :] for option in options]
        elif pattern.strip("*/ "):
            done.append(pattern)
    return done


def outside_braces(text: str, anywhere: str = "") -> list[str]:
    """Split a text at commas outside braces, and at the signs of `anywhere`: `*.{ts,tsx}` stays together."""
    cuts, depth = [-1], 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if sign in anywhere or (sign == "," and depth <= 0):
            cuts.append(at)
    return [text[start + 1 : end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def mentioned(task: str) -> list[str]:
    """Return the words of a lower-case task that could be paths or file names."""
    found = (word.lstrip(QUOTES).rstrip(QUOTES + ".") for word in task.split() if "." in word or "/" in word)
    fine = (path for path in found if path and len(path) <= MAX_PATH_LENGTH and path.count("/") < MAX_FOLDERS)
    return list(dict.fromkeys(fine))[:MAX_PATHS]


def fits(pattern: str, path: str) -> bool:
    """Tell whether a path, or its end from some folder on, fits a glob. `**` stands for any number of folders."""
    wanted = pattern.removeprefix("./").strip("/").split("/")
    given = path.removeprefix("./").strip("/").split("/")
    if len(wanted) > MAX_FOLDERS:
        return False
    reach = [True] + [False] * len(given)  # which beginnings of the path the segments so far can cover
    for segment in ("**", *wanted):
        if segment == "**":
            for at in range(1, len(reach)):
                reach[at] = reach[at] or reach[at - 1]
        else:
            reach = [False] + [reach[at] and fits_wildcards(segment, name) for at, name in enumerate(given)]
    return reach[-1]


def fits_wildcards(pattern: str, text: str, many: str = "*", one: str = "?") -> bool:
    """Tell whether a text fits a pattern with wildcards. Backs up to the last `many` only: a regex may run forever."""
    at = spot = 0
    star = mark = -1  # the last `many`, and the end of what it stands for
    while spot < len(text):
        sign = pattern[at : at + 1]
        if sign == many:
            star, mark = at, spot
            at += 1
        elif sign in (one, text[spot]):
            at, spot = at + 1, spot + 1
        elif star >= 0:
            mark += 1
            at, spot = star + 1, mark
        else:
            return False
    return pattern[at:].strip(many) == ""
