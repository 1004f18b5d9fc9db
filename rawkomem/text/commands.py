"""Finds the simple commands of a shell line and compares them with patterns such as `git push --force*`.

A pattern names a program and some of its arguments, with `*` for any text; a command fits if it runs this program with
the same subcommand, the same options in any order or place, and the other words in their order, whatever else it has.
So a `*` at the end changes little: `pytest` and `pytest*` fit `pytest -q` and not `pytest-watch`, and `make deploy*`
also fits `make deploy-prod`. A pattern may be a pipeline: `curl * | sh`.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from ..model.values import TYPE_CHECKING
from .clean import late_regex

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = (
    20  # commands inside commands; a deeper line counts as one that cannot be parsed
)


def _table(rows: str) -> list[list[str]]:
    return [row.split() for row in rows.strip().split("\n")]


# A program that runs another one: its words, its options that take a value, and a `1` for an argument of its own.
WRAPPERS = _table("""
sudo -u -g -h -p -C -D -R -T --user --group
doas -u
env -u -C --unset --chdir
cross-env
command
exec -a
builtin
time -f -o
nice -n --adjustment
nohup
setsid
ionice -c -n
stdbuf -i -o -e
timeout -s -k --signal --kill-after 1
xvfb-run -s -n
caffeinate
xargs -n -P -I -L -d -s -E -a --max-args --max-procs --delimiter --arg-file
npx -p --package
bunx
pnpx
bun x
npm exec --package
npm x
pnpm exec -C -F --dir --filter
pnpm dlx -C -F --dir --filter --package
pnpm -C -F --dir --filter
yarn exec --cwd
yarn dlx -p
yarn workspace 1
yarn --cwd
uv run -p --python --with --with-editable --with-requirements --extra --group --directory --project --env-file --package
uvx -p --python --from --with
uv tool run -p --python --from --with
pipx run --spec --python
poetry run -C -P --directory --project
pipenv run
hatch run
hatch -e --env run
pdm run -p
rye run
conda run -n -p --name --prefix
mamba run -n -p --name --prefix
bundle exec
coverage run --source --omit --include --rcfile --data-file
python -W -X
docker exec -u -e -w --user --env --workdir --env-file 1
docker compose exec -f -p -u -e -w --file --project-name --user --env --workdir --index 1
docker compose run -f -p -u -e -w -v --file --project-name --user --env --workdir --volume --name --entrypoint 1
podman exec -u -e -w --user --env --workdir 1
kubectl exec -n -c --namespace --container --context 1
ssh -p -i -o -l -F -J -L -R -D -b -c -E -e -I -m -O -S -W -w -B 1
su -s -g --shell 1
watch -n --interval
""")
# Options and subcommands with two names.
SAME = _table("""
git commit -n --no-verify
git commit -a --all
git push -f --force
git push -d --delete
git add -A --all
git checkout -f --force
git clean -f --force
rm -r -R
rm -r --recursive
rm -f --force
cp -r --recursive
chmod -R --recursive
chown -R --recursive
grep -r -R
grep -r --recursive
sed -i --in-place
docker -v --volumes
npm -g --global
""")
# pnpm and yarn run any other word as a program.
OWN_COMMANDS = frozenset(
    str.split(
        "add audit build cache config create dev format global import info init install i licenses link lint list ls"
        " outdated pack patch publish rebuild remove rm run set start store test t typecheck unlink up update upgrade"
        " version why workspaces"
    )
)
SHELLS = frozenset(str.split("bash sh zsh dash ksh"))
# Programs that take targets or files, not a subcommand.
TAKES_ANY = frozenset(str.split("make just rake mvn gradle gradlew rm touch"))
BEFORE_COMMAND = frozenset(
    str.split("if then elif else while until do ! { } fi done esac")
)

_OPERATOR = late_regex(
    r"\d*(?:<<<|<<-?|[<>]&|>>|>\||<>|<(?!\()|>(?!\())|&>>?|\n|&&|&|\|\||\|&?|;;?&?|[()]"
)
_BLANKS = late_regex(r"(?:[ \t\r\f\v]|\\\r?\n)+")
_COMMENT = late_regex(r"#[^\n]*")
# what a word consists of, outside and inside double quotes
_PIECE = late_regex(
    r"""(?s)[^\s'"\\`$;&|()<>]+|\\.|'[^']*'|\$'[^'\\]*(?:\\.[^'\\]*)*'|"|`[^`\\]*(?:\\.[^`\\]*)*`|[<>]\(|\$(?:\(\(?|\{[^}]*\})?"""
)
_QUOTED_PIECE = late_regex(
    r"""(?s)[^"\\`$]+|\\.|"|`[^`\\]*(?:\\.[^`\\]*)*`|\$(?:\(\(?|\{[^}]*\})?"""
)
_ASSIGNMENT = late_regex(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
_LETTERS = late_regex(r"-([A-Za-z]{1,4})(?:[\d.*].*|)$")
_VERSION = late_regex(r"^(python|pip)[\d.]+(?=\**$)|\.exe$")
_OPTION_AFTER_STAR = late_regex(r"\*(?=--|-\w{1,2}\b)")


class _UnparsableError(ValueError):
    """The line is not one that a shell would accept, or is nested too deeply."""


class _Command:
    """A simple command, the operator before it, its here-document, and the commands that it runs."""

    def __init__(self, operator: str = ""):
        self.operator = operator
        self.words: list[str] = []
        self.input = ""
        self.inner: list[_Command] = []


def simple_commands(line: str) -> list[list[str]]:
    """Return the commands that a shell line runs, each as words with the program's name first.

    Assignments and wrappers such as `sudo` or `uv run` are dropped. Of a line that cannot be parsed, only the first word
    is returned.
    """
    return [command.words for command in _innermost(_parse(line))]


def fits_command(pattern: str, line: str) -> bool:
    """Return whether a command that a shell line runs fits a pattern; the module's docstring says when."""
    try:
        wanted = _Scanner(_OPTION_AFTER_STAR.sub("* ", pattern), MAX_DEPTH - 2).parse()
    except _UnparsableError:
        return False
    return bool(wanted) and _fits_among(wanted, _parse(line))


@lru_cache(1)  # a line is compared with many patterns
def _parse(line: str) -> list[_Command]:
    try:
        return _opened(_Scanner(line, 0).parse(), 0)
    except _UnparsableError:
        command = _Command()
        command.words = [_name(word) for word in line.split(None, 1)[:1]]
        return [command] if command.words else []


def _innermost(commands: list[_Command]) -> Iterator[_Command]:
    for command in commands:
        if command.inner:
            yield from _innermost(command.inner)
        else:
            yield command


class _Scanner:
    """Reads a shell line from left to right, each character once."""

    def __init__(self, text: str, depth: int):
        self._text = text
        self._at = 0
        self._depth = depth
        # the commands in `$( )` and the like
        self._substituted: list[_Command] = []
        self._waiting: list[tuple[str, bool, _Command]] = []  # for here-documents

    def parse(self) -> list[_Command]:
        """Return the commands of the whole text."""
        found = self._list("")
        return found + self._substituted

    def _list(self, closer: str) -> list[_Command]:
        """Return the commands up to the closing parenthesis, or to the end of the text."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _UnparsableError
        found: list[_Command] = []
        command = _Command()
        while True:
            operator, word = self._token()
            if not operator and word is not None:
                command.words.append(word)
                if word == "[[" and len(command.words) == 1:
                    self._skip_to("]]")
            elif "<" in operator or ">" in operator:
                self._redirect(operator, command)
            elif operator == "(":
                inner = self._list(")")
                if not command.words:
                    for first in inner[:1]:
                        first.operator = command.operator
                    found += inner
                elif not _ASSIGNMENT.match(command.words[-1]):
                    command.words.clear()  # the name of a function
            else:
                # a parenthesis that nothing opened ends a pattern of `case`
                if (operator != ")" or closer) and _bare(command):
                    found.append(command)
                if operator == "\n":
                    self._read_input()
                if operator == closer:
                    self._depth -= 1
                    return found
                if not operator:
                    raise _UnparsableError
                command = _Command(operator.removesuffix("&") or "&")

    def _token(self) -> tuple[str, str | None]:
        """Return an operator, or a word after an empty operator; None at the end."""
        text = self._text
        for blank in (_BLANKS, _COMMENT):
            if skipped := blank.match(text, self._at):
                self._at = skipped.end()
        if operator := _OPERATOR.match(text, self._at):
            self._at = operator.end()
            return operator[0].lstrip("0123456789"), None
        return "", self._word(quoted=False) if self._at < len(text) else None

    def _word(self, quoted: bool) -> str:
        """Return the word, or the text in double quotes, that starts here."""
        pieces: list[str] = []
        while found := (_QUOTED_PIECE if quoted else _PIECE).match(
            self._text, self._at
        ):
            self._at = found.end()
            piece = found[0]
            if piece == '"':
                if quoted:
                    return "".join(pieces)
                pieces.append(self._word(quoted=True))
            elif piece == "$((":
                self._skip_to("))")
                pieces.append("$(())")
            elif piece in ("$(", "<(", ">("):
                self._substituted += self._list(")")
                pieces.append(piece + ")")
            elif piece[0] == "`":
                inside = piece[1:-1].replace("\\`", "`")
                self._substituted += _Scanner(inside, self._depth).parse()
                pieces.append("$()")
            elif piece[0] == "\\" and (not quoted or piece[1] in '"\\$`\n'):
                pieces.append(piece[1:].rstrip("\n"))
            elif not quoted and piece[-1] == "'":
                pieces.append(piece.lstrip("$")[1:-1])
            else:
                pieces.append(piece)
        if quoted or self._text[self._at : self._at + 1] in tuple("'\"\\`"):
            raise _UnparsableError
        return "".join(pieces)

    def _skip_to(self, end: str) -> None:
        self._at = self._text.find(end, self._at) + len(end)
        if self._at < len(end):
            raise _UnparsableError

    def _redirect(self, operator: str, command: _Command) -> None:
        _, target = self._token()
        if target is None:
            raise _UnparsableError
        if operator in ("<<", "<<-"):
            self._waiting.append((target, operator == "<<-", command))
        elif operator == "<<<":
            command.input = target

    def _read_input(self) -> None:
        """Read the here-documents that start after this line."""
        for end, indented, command in self._waiting:
            start = stop = self._at
            while stop < len(self._text):
                after = self._text.find("\n", stop) + 1 or len(self._text) + 1
                line = self._text[stop : after - 1].rstrip("\r")
                self._at = min(after, len(self._text))
                if (line.lstrip("\t") if indented else line) == end:
                    break
                stop = self._at
            command.input = self._text[start:stop]
        self._waiting.clear()


def _bare(command: _Command) -> bool:
    """Drop keywords and assignments before the program; return whether a program is left."""
    words = command.words
    start = 0
    while start < len(words):
        if words[start] == "function":
            start += 2
        elif words[start] in BEFORE_COMMAND or _ASSIGNMENT.match(words[start]):
            start += 1
        else:
            break
    del words[:start]
    if words:
        words[0] = _name(words[0])
    return bool(words) and words[0] not in ("for", "select", "case")


def _name(program: str) -> str:
    return program.rstrip("/").rpartition("/")[2] or program


def _opened(commands: list[_Command], depth: int) -> list[_Command]:
    """Set the commands that each of these commands runs, and return the commands."""
    if depth > MAX_DEPTH:
        raise _UnparsableError
    for command in commands:
        command.inner = _opened(_run_by(command, depth), depth + 1)
    return commands


def _run_by(command: _Command, depth: int) -> list[_Command]:
    program, *arguments = command.words
    if program in SHELLS or program == "su":
        for at, word in enumerate(arguments):
            if word[:1] == "-" and word[1:2] != "-" and word[-1] == "c":
                return _lines(arguments[at + 1 : at + 2], depth)
        if program in SHELLS and all(word[0] in "-+" for word in arguments if word):
            return _lines([command.input], depth)
    elif program == "eval":
        return _lines([" ".join(arguments)], depth)
    elif program == "find":
        return list(_run_by_find(arguments))
    else:
        name = _same_name(program)
        for wrapper in WRAPPERS:
            rest = wrapper[0] == name and _after_wrapper(wrapper, command.words)
            if rest and program in ("ssh", "watch"):
                return _lines([" ".join(rest)], depth)
            if program == "hatch" and rest:
                rest[0] = rest[0].rpartition(":")[2]
            if rest and not (program in ("pnpm", "yarn") and rest[0] in OWN_COMMANDS):
                return list(_made(rest, command.input))
        if program == "ssh":
            return _lines([command.input], depth)
    return []


def _lines(lines: list[str], depth: int) -> list[_Command]:
    return [found for line in lines for found in _Scanner(line, depth).parse()]


def _made(words: list[str], given: str = "") -> Iterator[_Command]:
    command = _Command()
    command.words = words
    command.input = given
    if _bare(command):
        yield command


def _run_by_find(arguments: list[str]) -> Iterator[_Command]:
    words: list[str] | None = None
    for word in arguments:
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            words = []
        elif words is not None and word in (";", "+"):
            yield from _made(words)
            words = None
        elif words is not None:
            words.append(word)


def _after_wrapper(wrapper: list[str], words: list[str]) -> list[str]:
    """Return the command in the arguments of a wrapper, or nothing."""
    own = [word for word in wrapper[1:] if word[0] != "-"]
    at = 1
    while at < len(words):
        word = words[at]
        if word == "-m" and word not in wrapper:
            return words[at + 1 :]
        if word[:1] == "-":
            at += 2 if word in wrapper else 1
        elif own:
            if own[0] not in ("1", word):
                return []
            del own[0]
            at += 1
        else:
            break
    return [] if own or wrapper[0] == "python" else words[at:]


def _fits_among(wanted: list[_Command], commands: list[_Command]) -> bool:
    for at, command in enumerate(commands):
        row = commands[at : at + len(wanted)]
        if len(row) == len(wanted) and all(
            (other is command or other.operator == one.operator) and _runs(one, other)
            for one, other in zip(wanted, row, strict=True)
        ):
            return True
        if _fits_among(wanted, command.inner):
            return True
    return False


def _runs(wanted: _Command, command: _Command) -> bool:
    """Return whether a command or one that it runs is wanted."""
    return (
        _fits(wanted.words, command.words)
        or _fits(_script(wanted.words), _script(command.words))
        or any(_runs(wanted, inner) for inner in command.inner)
    )


def _script(words: list[str]) -> list[str]:
    """Return `deploy.sh x` for `bash bin/deploy.sh x`."""
    runs = len(words) > 1 and (words[0] in SHELLS or _same_name(words[0]) == "python")
    if runs and words[1][:1] != "-" and "." in words[1]:
        return [_name(words[1]), *words[2:]]
    return words


def _same_name(program: str) -> str:
    return _VERSION.sub(lambda found: found[1] or "", program)


def _fits(pattern: list[str], words: list[str]) -> bool:
    pattern, words = _normal(pattern), _normal(words)
    program = pattern[0]
    if program[-1:] == "*" and program[-2:-1].isalnum():
        program = program.rstrip("*")
    if not _like(program, words[0]):
        return False
    given = _options(words)
    names: list[str] = []
    anywhere = program in TAKES_ANY
    for word in pattern[1:]:
        if word[:1] == "-":
            if not _has_option(word, given):
                return False
            anywhere = True
        elif word.strip("*"):
            names.append(word)
    return _in_order(names, words, anywhere)


def _normal(words: list[str]) -> list[str]:
    if words[0].rstrip("*") == "docker-compose":
        return ["docker", "compose", *words[1:]]
    if words[0] == "npm" and words[1:2] in (["i"], ["add"]):
        return ["npm", "install", *words[2:]]
    return [_same_name(words[0]), *words[1:]]


def _like(pattern: str, word: str) -> bool:
    pattern, word = (
        text.removeprefix("./").rstrip("/") or text for text in (pattern, word)
    )
    if not any(sign in pattern for sign in "*?["):
        return pattern == word
    from fnmatch import fnmatchcase

    return fnmatchcase(word, pattern)


def _options(words: list[str]) -> set[str]:
    """Return the options of a command under all their names, letters apart, also with their values."""
    given: set[str] = set()
    for word, value in pairwise([*words, ""]):
        if word[:1] == "-":
            given |= {word, word.partition("=")[0], f"{word}={value}"}
            if letters := _LETTERS.match(word):
                given |= {f"-{letter}" for letter in letters[1]}
    for *heads, one, other in SAME:
        if given & {one, other} and heads[0] == words[0] and set(heads) <= set(words):
            given |= {one, other}
    return given


def _has_option(word: str, given: set[str]) -> bool:
    letters = _LETTERS.match(word)
    return (
        word in given
        or bool(letters and {f"-{letter}" for letter in letters[1]} <= given)
        or ("*" in word and any(_like(word, option) for option in given))
    )


def _in_order(names: list[str], words: list[str], anywhere: bool) -> bool:
    """Return whether the command has these words in this order, the first as its subcommand unless it may be anywhere."""
    if names and ("." in names[0] or "/" in names[0]):
        anywhere = True
    found = 0
    before = ""
    for word in words[1:]:
        if found == len(names):
            break
        if word[:1] != "-":
            if _like(names[found], word):
                found += 1
            elif not (anywhere or found or _may_take_value(before)):
                return False
        before = word
    return found == len(names)


def _may_take_value(option: str) -> bool:
    return option[:1] == "-" and "=" not in option and not option.startswith("--no-")
