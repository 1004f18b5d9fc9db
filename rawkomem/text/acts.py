"""Where a memory applies while an agent works: `appliesTo` and `guard` of a frontmatter, and which acts fit them.

An act is a command that an agent runs, or a file that it writes. Hooks load this module at every act, so it imports little.
"""

from __future__ import annotations

from ..model.errors import BadInput
from ..model.values import TYPE_CHECKING, extra_value, items_of, record
from .paths import ANY_FILE, are_in_order, fits_glob, is_file_glob, spell_out_glob

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..model.entries import Value

APPLIES_KEY = "appliesTo"
GUARD_KEY = "guard"
PATHS_KEY, COMMANDS_KEY, TEXT_KEY = APPLIES_KEYS = ("paths", "commands", "text")
# what happens at an act that fits: the agent gets the text, the person is asked, or the act is refused
GUARDS = REMIND, ASK, DENY = ("remind", "ask", "deny")
# what came of it
REMINDED = "reminded"
DONE_ANYWAY = "done anyway"
ASKED = "asked"
DENIED = "denied"
EXCLUDES = "!"  # before a glob: files that do not fit
WILDCARDS = "*?./ "  # a pattern of only these fits everything
MAX_ACT_PATTERNS = 32  # of one key; each is matched at every act
MAX_PATTERN_CHARS = 200


@record
class Applies:
    """The patterns of acts for which a memory applies."""

    paths: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    text: tuple[str, ...] = ()


@record
class Act:
    """A command, or a write of a file. Paths are relative to the project; `text` holds what is added to the file."""

    command: str = ""
    path: str = ""
    text: str = ""


def applies_of(extra: Mapping[str, Value], when: Iterable[str] = ()) -> Applies:
    """Return the usable patterns of a frontmatter; a glob among the conditions `when` is a path, too."""
    found = {
        key: [one for one in patterns if not _wrong_with(key, one)]
        for key, patterns in _patterns(extra).items()
    }
    # as a condition, a glob fits in any folder
    globs = [f"**/{glob}" for glob in when if is_file_glob(glob)]
    named = found.get(PATHS_KEY, ())
    return Applies(
        (*named, *(glob for glob in globs if not {glob, glob[3:]} & {*named})),
        tuple(found.get(COMMANDS_KEY, ())),
        tuple(found.get(TEXT_KEY, ())),
    )


def patterns_given(written: Iterable[str]) -> dict[str, Value]:
    """Return patterns that were written as key=pattern, by key. Raise BadInput for another key."""
    patterns: dict[str, Value] = {}
    for one in written:
        key, _, pattern = one.partition("=")
        if key not in APPLIES_KEYS or not pattern.strip():
            wrong = f"--applies-to {one!r} names none of {', '.join(APPLIES_KEYS)}"
            raise BadInput(wrong, "write it as commands='pytest*' or paths='src/**'")
        patterns[key] = [*patterns.get(key, ()), pattern]
    return patterns


def guard_of(extra: Mapping[str, Value]) -> str:
    """Return what happens at an act that fits; REMIND without a valid value."""
    guard = str(extra.get(GUARD_KEY, ""))
    return guard if guard in GUARDS else REMIND


def is_idle_guard(extra: Mapping[str, Value], when: Iterable[str]) -> bool:
    """Return whether a guard that asks or denies names no acts, so that it never does."""
    return guard_of(extra) != REMIND and applies_of(extra, when) == Applies()


def fits(applies: Applies, act: Act) -> bool:
    """Return whether an act fits: one of the commands or paths does, and one of the texts, if there are any."""
    if applies.text and not any(_holds_text(one, act.text) for one in applies.text):
        return False
    if act.command:
        return any(_runs(pattern, act.command) for pattern in applies.commands)
    return bool(act.path) and may_fit_write(applies, act.path)


def may_fit_write(applies: Applies, path: str) -> bool:
    """Return whether a write of a file fits, if its text does: it fits one of the globs, and none of those after a `!`.

    Without other globs and commands, what is after a `!` leaves all other files. ANY_FILE fits what a file could fit.
    """
    included = [glob for glob in applies.paths if not glob.startswith(EXCLUDES)]
    if not included and (applies.commands or not (applies.paths or applies.text)):
        return False
    if path == ANY_FILE:
        return True
    excluded = (glob[1:] for glob in applies.paths if glob.startswith(EXCLUDES))
    is_included = not included or any(_is_at(glob, path) for glob in included)
    return is_included and not any(_is_at(glob, path) for glob in excluded)


def _is_at(glob: str, path: str) -> bool:
    """Return whether a path fits a glob: a name without a slash in any folder, others from the project's folder on.

    What ends without a wildcard may be a folder, and its files fit, too.
    """
    return any(
        fits_glob(
            one if one[-1] in "*?]" else f"{one.removesuffix('/')}/**",
            path.lower(),
            "/" in one,
        )
        for one in spell_out_glob(glob)
    )


def _runs(pattern: str, line: str) -> bool:
    bare = line.replace("\\\n", "")  # a shell drops these, and quotes
    for sign in "\"'\\":
        bare = bare.replace(sign, "")
    if _mark(pattern) not in bare.lower():
        return False  # the usual case: nothing more is loaded
    from .commands import fits_command

    return fits_command(pattern, line)


def _holds_text(pattern: str, text: str) -> bool:
    """Return whether a line of a text holds the parts of a pattern between its stars, in order."""
    parts = [part for part in pattern.split("*") if part]
    if parts[0] not in text:
        return False
    return any(are_in_order(parts, line) for line in text.split("\n"))


def marks_of(applies: Applies) -> list[str]:
    """Return parts of the patterns in lower case, of which every act that fits has one; empty ones are in every act."""
    included = [one for one in applies.paths if not one.startswith(EXCLUDES)]
    either = [*applies.commands, *included] or applies.text
    return [*map(_mark, either)] or [""] * bool(applies.paths)


def _mark(pattern: str) -> str:
    """Return the longest run of plain letters, digits and `_` outside braces, of a pattern's first word or its script.

    A program with a script also fits the script alone, and `docker-compose` fits `docker compose`.
    """
    words = [*pattern.split(), "", ""]
    is_script = "." in words[1] and words[1][0] != "-" and "{" not in words[0]
    depth = 0
    runs = [""]
    for sign in words[is_script].lower():
        depth += (sign == "{") - (sign == "}")
        is_plain = sign.isascii() and (sign.isalnum() or sign == "_")
        runs[-1:] = [runs[-1] + sign] if is_plain and not depth else [runs[-1], ""]
    return max(runs, key=len)


# Check what a frontmatter says.


def act_problem(extra: Mapping[str, Value]) -> tuple[str, str]:
    """Return what is wrong with `appliesTo` or `guard`, and a hint; empty texts if both can be used."""
    guard = extra.get(GUARD_KEY, REMIND)
    value = extra_value(extra, APPLIES_KEY)
    if guard not in GUARDS:
        return f"unknown guard {str(guard)[:40]!r}", f"use one of {', '.join(GUARDS)}"
    if not value:
        return "", ""
    names = ", ".join(APPLIES_KEYS)
    if not isinstance(value, dict) or not value.keys() <= {*APPLIES_KEYS}:
        return f"{APPLIES_KEY} has other keys than {names}", "write 'paths: [src/**]'"
    patterns = _patterns(extra)
    if any(len(some) > MAX_ACT_PATTERNS for some in patterns.values()):
        return f"{APPLIES_KEY} has a list of more than {MAX_ACT_PATTERNS}", "shorten it"
    for key, some in patterns.items():
        for pattern in some:
            if wrong := _wrong_with(key, pattern):
                hint = "name a program, a folder or a word: pytest*, src/**, mock"
                return f"{APPLIES_KEY}.{key} {pattern[:40]!r} {wrong}", hint
    return "", ""


def _patterns(extra: Mapping[str, Value]) -> dict[str, list[str]]:
    """Return the texts below each key of `appliesTo`; a single text counts as a list."""
    value = extra_value(extra, APPLIES_KEY)
    items = value.items() if isinstance(value, dict) else ()
    return {
        key: [str(one).strip() for one in items_of(some)]
        for key, some in items
        if key in APPLIES_KEYS
    }


def _wrong_with(key: str, pattern: str) -> str:
    """Return why a pattern cannot be used; empty if it can."""
    if len(pattern) > MAX_PATTERN_CHARS:
        return f"is longer than {MAX_PATTERN_CHARS} characters"
    bare = pattern.removeprefix(EXCLUDES) if key == PATHS_KEY else pattern
    if not bare.strip(WILDCARDS if key != TEXT_KEY else "* "):
        return "fits everything"
    return ""
