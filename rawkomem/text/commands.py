"""Finds the simple commands of a shell line and compares them with patterns such as `git push --force*`.

A pattern names a program and some of its arguments, with `*` for any text; a command fits if it runs this program with
the same subcommand, the same options in any order or place, and the other words in their order, whatever else it has.
A `*` right after the program changes nothing: `pytest` and `pytest*` fit `pytest -q` and not `pytest-watch`. A `*` of
its own asks for at least one more argument, and `make deploy*` also fits `make deploy-prod`. A pattern may be a
pipeline: `curl * | sh`. Redirections are not compared.

It also finds the files that the commands write: the targets of redirections, and arguments of programs such as `rm`.
A line that cannot be parsed is cut at every operator, and its quotes are dropped: its commands still count.
"""

from __future__ import annotations

import os
from functools import lru_cache
from itertools import dropwhile, pairwise
from re import escape

from ..model.values import TYPE_CHECKING
from .clean import late_regex
from .paths import ANY_FILE, fits_wildcards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_DEPTH = (
    20  # commands inside commands; a deeper line counts as one that cannot be parsed
)
# of one line and of one path, with its folder: what writes more counts as a write of any file
MAX_WRITES = 500
MAX_WRITE_CHARS = 500


def _table(rows: str) -> list[list[str]]:
    return [row.split() for row in rows.strip().split("\n")]


# A program that runs another one: its words, its options that take a value, a `1` for an argument of its own, and
# `--` if the other one may come after that word.
WRAPPERS = _table("""
sudo -u -g -h -p -C -D -R -T --user --group
doas -u
env -u -C --unset --chdir
cross-env
command -v -V
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
su -s -g 1
cmd
powershell -ExecutionPolicy
pwsh -ExecutionPolicy
direnv exec 1
mise exec --
mise x --
op run --
doppler run --
xargs -n -P -I -L -d -s -E -a --max-args --max-procs --delimiter --arg-file
npx -p --package
bunx
pnpx
bun x
bun run
npm exec --package
npm x
pnpm exec -C -F --dir --filter
pnpm dlx -C -F --dir --filter --package
pnpm -C -F --dir --filter
yarn exec --cwd
yarn dlx -p
yarn run --cwd
yarn workspace 1
yarn --cwd
uv run -p --python --with --with-editable --with-requirements --extra --group --directory --project --env-file --package
uvx -p --python --from --with
pipx run --spec --python
poetry run -C -P --directory --project
pipenv run
hatch run -e --env
pdm run -p
rye run
conda run -n -p --name --prefix
mamba run -n -p --name --prefix
bundle exec
coverage run --source --omit --include --rcfile --data-file
python -W -X -c
docker exec -u -e -w --user --env --workdir --env-file 1
docker compose exec -f -p -u -e -w --file --project-name --user --env --workdir --index 1
docker compose run -f -p -u -e -w -v --file --project-name --user --env --workdir --volume --name --entrypoint 1
docker run -v -e -w -u -p -m --name --network --volume --env --workdir --user --entrypoint --env-file --platform --mount 1
podman exec -u -e -w --user --env --workdir 1
kubectl exec -n -c --namespace --container --context 1
ssh -p -i -o -l -F -J -L -R -D -b -c -E -e -I -m -O -S -W -w -B 1
watch -n --interval
eval
bash -o -eo -euo -euxo -exuo -O --rcfile --init-file
sh -o -eo -euo -euxo -exuo -O --rcfile --init-file
zsh -o -eo -euo -euxo -exuo -O --rcfile --init-file
dash -o -eo -euo -euxo -exuo -O --rcfile --init-file
ksh -o -eo -euo -euxo -exuo -O --rcfile --init-file
""")
_WRAPPER_NAMES = {wrapper[0] for wrapper in WRAPPERS}
# Options and subcommands with two names; the folder `.` counts as an option, and so does the `+` of a forced refspec.
SAME = _table("""
git commit -n --no-verify
git commit -a --all
git push + --force
git push -f --force
git push -d --delete
git add -A --all
git add -A .
git add --all .
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
# Other names of a program or a subcommand.
RENAMED = {
    "docker-compose": ["docker", "compose"],
    "npm i": ["npm", "install"],
    "npm add": ["npm", "install"],
    "npm t": ["npm", "test"],
    "pnpm i": ["pnpm", "install"],
    "cargo b": ["cargo", "build"],
    "cargo r": ["cargo", "run"],
    "cargo t": ["cargo", "test"],
    "apt": ["apt-get"],
}
# `npm run test` is `npm test`; scripts with these names are other commands than the program's own.
SCRIPT_RUNNERS = frozenset(str.split("npm pnpm yarn bun"))
# pnpm and yarn run any other word as a program.
OWN_COMMANDS = frozenset(
    str.split(
        "add audit build cache config create dev format global import info init install i licenses link lint list ls"
        " outdated pack patch publish rebuild remove rm run set start store test t typecheck unlink up update upgrade"
        " version why workspaces"
    )
)
READS_LINES = frozenset(str.split("eval ssh watch su cmd powershell pwsh"))
SHELLS = frozenset(str.split("bash sh zsh dash ksh"))
# Programs that take targets or files, not a subcommand.
TAKES_ANY = frozenset(str.split("make just rake mvn gradle gradlew rm touch"))
# Programs that write or remove files: which of their arguments are these files (`copy`: the last one, the others are
# read; `edit`: with -i, without the script before them), and their options that take a value.
WRITERS = {
    program: (which, valued)
    for program, which, *valued in _table("""
rm all
unlink all
shred all -n -s
touch all -d -t -r --date --reference
tee all
truncate all -s -r --size --reference
mv move -S --suffix
cp copy -S --suffix
ln copy -S --suffix
install copy -m -o -g -S --mode --owner --group --suffix
sed edit -l
perl edit
dd of=
""")
}
# Options with which a program changes its folder before it runs a command.
FOLDER_OPTIONS = {
    program: options
    for program, *options in _table("""
git -C
env -C --chdir
sudo -D --chdir
pnpm -C --dir
yarn --cwd
uv --directory
poetry -C --directory
""")
}
GIT_OPTIONS = ["git", "-C", "-c", "--git-dir", "--work-tree", "--namespace"]
# the commands that these run see other files, as a rule
ELSEWHERE = frozenset(str.split("docker podman kubectl ssh"))
BEFORE_COMMAND = frozenset(
    str.split("if then elif else while until do ! { } fi done esac function")
)

NO_QUOTES = {ord(sign): None for sign in "'\"\\"}

_BLANKS = late_regex(r"(?:[ \t\r]|\\\r?\n|#[^\n]*|\[\[\s[^\n]{0,200}?\s\]\])*")
_OPERATOR = late_regex(
    r"\d*(<<<|<<-?|[<>]&|>>|>\||<>|<(?!\()|>(?!\())|&>>?|\n|&&|&|\|\||\|&?|;;?&?|[()]"
)
# The pieces of a word, outside and inside double quotes. No piece is searched further than to the next opening sign,
# so that reading takes time in proportion to the length of the line.
_SUBSTITUTION = r"`[^`\\]*(?:\\.[^`\\]*)*`|\$\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)|\$\(|\$\{[^{}]*\}|\$"
_PIECE = late_regex(
    r"""(?s)[^ \t\r\n'"\\`$;&|()<>]+|\\.|'[^']*'|\$'[^'\\]*(?:\\.[^'\\]*)*'|"|[<>]\(|"""
    + _SUBSTITUTION
)
_QUOTED_PIECE = late_regex(r"""(?s)(?:[^"\\`$]|\\[^"\\`$\n])+|\\.|"|""" + _SUBSTITUTION)
_ASSIGNMENT = late_regex(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
_VERSION = late_regex(
    r"(?<=^python)[\d.]+$|(?<=^pip)[\d.]+$|(?<=\w)@[\w.^~-]+$|\.(?:exe|cmd|bat)$"
)
_LETTERS = late_regex(r"-([A-Za-z]{1,4})(?:[\d.*].*)?$")
_SCRIPT = late_regex(r"(?!install|add|pack|publish|version)\w")
_IN_PLACE = late_regex(r"-[\dnErspalwzF]*i|--in-place")
_SCRIPT_OPTION = late_regex(r"-\w*[eEf]$|--(?:expression|file)")
_TARGET_FOLDER = late_regex(r"-[a-zA-Z]*?t(.*)|--t[a-z-]*(?:=(.*))?$")
_ROUGH_TOKEN = late_regex(
    r"(\d*>[>|&]*|<+)|((?:\$(?=\()|[;&|()`\n])+)|((?:\$(?!\()|[^\s;&|()`<>$])+)"
)
_SHELL_LINE = late_regex(r"-[a-z]*c$")
# after these options comes what a wrapper runs
_RUNS_REST = late_regex(r"-[mc]$|--command$|(?i:-command|//?c)$")
_WINDOWS_PATH = late_regex(r"(?<![^\s;&|(\"'])(?:[A-Za-z]:|\.\.?)(?:\\[\w.@-]+)+")
_MAY_TAKE_VALUE = late_regex(r"--?(?!-|no-)[^=]*$")
# `push*--force` has two words, and `pytest*` names the program `pytest`
_STAR_BEFORE_OPTION = late_regex(r"\*(?=--|-\w{1,2}\b)")
_STAR_AFTER_PROGRAM = late_regex(r"((?:^|\|)\s*[^\s|]*\w)\*+(?=[\s|]|$)")


class _UnparsableError(ValueError):
    """The line is not one that a shell would accept, or is nested too deeply."""


class _Command:
    """A simple command, the operator before it, and the folder in which it runs.

    `input` is the text of its here-document, `targets` are the files of its redirections, `inner` the commands that it runs.
    """

    def __init__(self, operator: str = "", folder: str = ""):
        self.operator = operator
        self.folder = folder
        self.targets: list[str] = []
        self.words: list[str] = []
        self.input = ""
        self.inner: list[_Command] = []


def simple_commands(line: str) -> list[list[str]]:
    """Return the commands that a shell line runs, each as words with the program's name first.

    Assignments and wrappers such as `sudo` or `uv run` are dropped; `python3` is `python`, `pip3` is `pip`.
    """
    return [[*command.words] for command in _innermost(_parse(line))]


def fits_command(pattern: str, line: str) -> bool:
    """Return whether a command that a shell line runs fits a pattern; the module's docstring says when."""
    pattern = _STAR_BEFORE_OPTION.sub("* ", pattern)
    try:
        wanted = _Scanner(_STAR_AFTER_PROGRAM.sub(r"\1", pattern), 0).parse()
    except _UnparsableError:
        return False
    return bool(wanted) and _fits_among(wanted, _parse(line))


def file_writes(line: str, is_folder: Callable[[str], bool]) -> Iterator[str]:
    """Yield each file that a shell line writes, moves or removes by its name; ANY_FILE if these are too many to compare.

    Paths start in the folder of the line. `is_folder` says whether files are copied into a path.
    """
    found: set[str] = set()
    for file in _writes_of(_parse(line), is_folder):
        if file[:1] == ANY_FILE or len(found) == MAX_WRITES:
            yield ANY_FILE
            return
        if (
            file and file not in found and file.isprintable()
        ):  # the system may refuse others
            found.add(file)
            yield file


def _writes_of(
    commands: list[_Command], is_folder: Callable[[str], bool]
) -> Iterator[str]:
    for command in commands:
        for target in command.targets:
            yield _below(command.folder, target)
        yield from _written_arguments(command, is_folder)
        if command.words[0] not in ELSEWHERE:
            yield from _writes_of(command.inner, is_folder)


def _written_arguments(
    command: _Command, is_folder: Callable[[str], bool]
) -> Iterator[str]:
    """Yield the files among the arguments of a program that writes them."""
    words, folder = command.words, command.folder
    if words[0] == "git":
        words = _after_wrapper(GIT_OPTIONS, words)
        if words[:1] not in (["rm"], ["mv"]):
            return
        folder = _folder_for(command, words)
    which, valued = WRITERS.get(words[0], ("", []))
    into = ""
    if which in ("copy", "move"):
        words, into = _cut_target_folder(words)
    named = [*_arguments(words, valued, which == "edit")]
    if which == "of=":
        named = [word[3:] for word in named if word.startswith(which)]
    elif which == "edit":
        is_named = any(map(_SCRIPT_OPTION.match, words[1:]))
        named = named[not is_named :] if any(map(_IN_PLACE.match, words[1:])) else []
    elif which in ("copy", "move"):
        sources = named
        if not into and words[0] == "ln" and len(named) == 1:
            into = "."
        elif not into:
            *sources, into = named or [""]
        last = _below(folder, into)
        is_into = into not in named or into[-1:] == "/" or len(sources) > 1
        if is_into or is_folder(last):
            for source in sources:
                yield _below(last, _name(source.rstrip("/")))
        named = [*(sources if which == "move" else []), *([into] if sources else [])]
    for file in named if which else ():
        yield _below(folder, file)


def _cut_target_folder(words: list[str]) -> tuple[list[str], str]:
    """Return the words without `-t FOLDER` or `--target-directory=FOLDER`, and this folder; empty if they name none."""
    for at, word in enumerate(words):
        if word == "--":
            break
        if match := _TARGET_FOLDER.match(word):
            own = match[1] or match[2]
            into = own or "".join(words[at + 1 : at + 2])
            return words[:at] + words[at + 1 + (not own) :], into
    return words, ""


def _folder_for(command: _Command, rest: list[str]) -> str:
    """Return the folder in which a program with an option such as `-C` runs the rest of its words."""
    folder = command.folder
    options = FOLDER_OPTIONS.get(command.words[0], [])
    own = command.words[1 : len(command.words) - len(rest)]
    for word, value in pairwise((*own, "")):
        name, sign, attached = word.partition("=")
        if name in options:
            folder = _below(folder, attached if sign else value)
    return folder


def _arguments(words: list[str], valued: list[str], is_edit: bool) -> Iterator[str]:
    """Yield the words after a program that are neither options nor the values of options."""
    at = 1
    while at < len(words):
        word = words[at]
        if word == "--":
            yield from words[at + 1 :]
            return
        if word[:1] != "-":
            if word:
                yield word
        elif word in valued or (is_edit and _SCRIPT_OPTION.fullmatch(word)):
            at += 1
        at += 1


def _below(folder: str, path: str) -> str:
    """Return a path from a folder on; ANY_FILE if it is too long."""
    path = path if path[:1] == "~" else os.path.join(folder, path)
    is_long = len(path) > MAX_WRITE_CHARS or path[:1] == ANY_FILE
    return ANY_FILE if is_long else path


@lru_cache(1)  # a line is compared with many patterns
def _parse(line: str) -> list[_Command]:
    line = _WINDOWS_PATH.sub(lambda path: path[0].replace("\\", "/"), line)
    try:
        return _opened(_Scanner(line, 0).parse(), 0)
    except _UnparsableError:
        return _cut_roughly(line)


def _cut_roughly(line: str) -> list[_Command]:
    """Return the commands between the operators of a line that cannot be parsed; quotes do not count."""
    commands: list[_Command] = []
    command = _Command()
    is_target = False
    for redirection, operator, word in _ROUGH_TOKEN.findall(f"{line}\n"):
        if operator:
            if _trim(command) or command.targets:
                command.words = command.words or [":"]
                commands.append(command)
            command = _Command(operator, _folder_after(command))
        elif is_target:
            command.targets.append(word.translate(NO_QUOTES))
        elif word := word.translate(NO_QUOTES):
            command.words.append(word)
        is_target = ">" in redirection
    for command in commands:
        try:
            command.inner = _opened(_run_by(command, 0), 1)
        except _UnparsableError:
            command.words = [*dropwhile(_WRAPPER_NAMES.__contains__, command.words)]
    return [command for command in commands if command.words]


def _innermost(commands: list[_Command]) -> Iterator[_Command]:
    for command in commands:
        yield from _innermost(command.inner) if command.inner else [command]


class _Scanner:
    """Reads a shell line from left to right, each character once."""

    def __init__(self, text: str, depth: int, folder: str = ""):
        self._text = text
        self._at = 0
        self._depth = depth
        self._folder = folder  # in which the next command runs
        self._substituted: list[_Command] = []  # the commands in `$( )` and the like
        self._here_documents: list[tuple[str, _Command]] = []  # to read after this line

    def parse(self) -> list[_Command]:
        """Return the commands of the whole text."""
        return self._list("") + self._substituted

    def _list(self, closer: str) -> list[_Command]:
        """Return the commands up to the closing parenthesis, or to the end of the text."""
        if self._depth == MAX_DEPTH:
            raise _UnparsableError
        self._depth += 1
        folder = self._folder
        commands: list[_Command] = []
        command = _Command("", folder)
        while True:
            operator, word = self._token()
            if word is not None:
                command.words.append(word)
            elif operator == "(":
                inner = self._list(")")
                if not command.words or not _ASSIGNMENT.match(command.words[-1]):
                    commands += inner
                    command.words.clear()  # the name of a function, or `time`
            elif "<" in operator or ">" in operator:
                self._redirect(operator, command)
            else:
                # a parenthesis that nothing opened ends a pattern of `case`
                if (operator != ")" or closer) and _trim(command):
                    commands.append(command)
                    self._folder = _folder_after(command)
                elif command.targets:  # `> a.txt`, or a redirection of a loop
                    command.words = [":"]
                    self._substituted.append(command)
                if operator == closer:
                    self._depth -= 1
                    self._folder = folder
                    return commands
                if not operator:
                    raise _UnparsableError
                if operator == "\n":
                    self._read_here_documents()
                command = _Command(operator, self._folder)

    def _token(self) -> tuple[str, str | None]:
        """Return the operator or the word that comes next; the end of the text is an empty operator."""
        if blanks := _BLANKS.match(self._text, self._at):
            self._at = blanks.end()
        if operator := _OPERATOR.match(self._text, self._at):
            self._at = operator.end()
            return operator[1] or operator[0], None
        return "", self._word(quoted=False) if self._at < len(self._text) else None

    def _word(self, quoted: bool) -> str:
        """Return the word that starts here, or the rest of a text in double quotes."""
        pieces: list[str] = []
        regex = _QUOTED_PIECE if quoted else _PIECE
        while match := regex.match(self._text, self._at):
            self._at = match.end()
            piece = match[0]
            if piece == '"':
                if quoted:
                    return "".join(pieces)
                piece = self._word(quoted=True)
            elif piece in ("$(", "<(", ">("):
                self._substituted += self._list(")")
                piece += ")"
            elif piece[0] == "`":
                self._substituted += _Scanner(
                    piece[1:-1].replace("\\`", "`"), self._depth, self._folder
                ).parse()
            elif piece[0] == "\\" and len(piece) == 2:
                piece = piece[1].strip("\n")
            elif piece[-1] == "'" and not quoted:
                piece = piece.lstrip("$")[1:-1]
            pieces.append(piece)
        if quoted or self._text.startswith(("'", '"', "\\", "`"), self._at):
            raise _UnparsableError
        return "".join(pieces)

    def _redirect(self, operator: str, command: _Command) -> None:
        _, target = self._token()
        if target is None:
            raise _UnparsableError
        if operator == "<<<":
            command.input = target
        elif "<<" in operator:
            self._here_documents.append((target, command))
        elif ">" in operator and (operator != ">&" or target.strip("0123456789-")):
            command.targets.append(target)

    def _read_here_documents(self) -> None:
        for end, command in self._here_documents:
            stop = after = len(self._text)
            if match := late_regex(rf"(?m)^\t*{escape(end)}\r?$").search(
                self._text, self._at
            ):
                stop, after = match.span()
            command.input = self._text[self._at : stop]
            self._at = after
        self._here_documents.clear()


def _trim(command: _Command) -> bool:
    """Drop what stands before the program, and give it its usual name; return whether there is a program."""
    words = command.words
    start = 0
    while start < len(words) and (
        words[start] in BEFORE_COMMAND or _ASSIGNMENT.match(words[start])
    ):
        start += 1 + (words[start] == "function")
    del words[:start]
    if not words or words[0] in ("for", "select", "case"):
        return False
    words[0] = _VERSION.sub("", _name(words[0]))
    for length in (1, 2):
        words[:length] = RENAMED.get(" ".join(words[:length]), words[:length])
    return True


def _folder_after(command: _Command) -> str:
    """Return the folder in which the next command runs; that of the line after `cd -`."""
    program, *words = command.words or [""]
    if program not in ("cd", "pushd", "popd"):
        return command.folder
    if program == "popd" or words == ["-"]:
        return ""
    path = _below(command.folder, next(_arguments(command.words, [], False), "~"))
    return path if path[:1] in ("~", ANY_FILE) else os.path.normpath(path)


def _name(path: str) -> str:
    return path.rpartition("/")[2] or path


def _opened(commands: list[_Command], depth: int) -> list[_Command]:
    """Set the commands that each of these commands runs, and return the commands."""
    if depth > MAX_DEPTH:
        raise _UnparsableError
    for command in commands:
        command.inner = _opened(_run_by(command, depth), depth + 1)
    return commands


def _run_by(command: _Command, depth: int) -> list[_Command]:
    program = command.words[0]
    if program == "find":
        return list(_run_by_find(command))
    for wrapper in WRAPPERS:
        if wrapper[0] != program:
            continue
        rest = _after_wrapper(wrapper, command.words)
        if program in SHELLS:
            if any(map(_SHELL_LINE.match, command.words)):
                return _Scanner("".join(rest[:1]), depth, command.folder).parse()
            return (
                [] if rest else _Scanner(command.input, depth, command.folder).parse()
            )
        if (
            rest
            and program == "xargs"
            and not any(w[:2] == "-I" for w in command.words)
        ):
            rest.append("{}")  # the arguments that it reads
        if program in READS_LINES:
            return _Scanner(
                " ".join(rest) or command.input, depth, command.folder
            ).parse()
        if rest and not (program in ("pnpm", "yarn") and rest[0] in OWN_COMMANDS):
            return list(_made(rest, command.input, _folder_for(command, rest)))
    return []


def _run_by_find(command: _Command) -> Iterator[_Command]:
    run: list[str] = []
    runs = False
    for word in command.words:
        if runs and word in (";", "+"):
            yield from _made(run, "", command.folder)
            runs = False
        elif runs:
            run.append(word)
        elif word in ("-exec", "-execdir", "-ok", "-okdir"):
            run = []
            runs = True


def _made(words: list[str], stdin: str, folder: str) -> Iterator[_Command]:
    command = _Command("", folder)
    command.words = words
    command.input = stdin
    if _trim(command):
        yield command


def _after_wrapper(wrapper: list[str], words: list[str]) -> list[str]:
    """Return the command in the arguments of a wrapper, or nothing."""
    own = [word for word in wrapper[1:] if word[0] != "-"]
    if "--" in wrapper and "--" in words and words[1:2] == own:
        return words[words.index("--") + 1 :]
    at = 1
    while at < len(words):
        word = words[at]
        if word not in wrapper and _RUNS_REST.match(word):
            return words[at + 1 :]
        if word[:1] == "-":
            at += word in wrapper
        elif not own:
            break
        elif own.pop(0) not in ("1", word):
            return []
        at += 1
    return [] if own or wrapper[0] == "python" else words[at:]


def _fits_among(wanted: list[_Command], commands: list[_Command]) -> bool:
    operators = [one.operator for one in wanted[1:]]
    for at, command in enumerate(commands):
        row = commands[at : at + len(wanted)]
        if [one.operator for one in row[1:]] == operators and all(
            map(_runs, wanted, row)
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
    """Return `deploy.sh x` for `bash bin/deploy.sh x`, and `npm test` for `npm run test`."""
    if words[0] in SCRIPT_RUNNERS and words[1:2] == ["run"]:
        is_named = any(map(_SCRIPT.match, words[2:3]))
        return [words[0], *words[2:]] if is_named else words
    if words[0] in (*SHELLS, "python") and "." in "".join(words[1:2]):
        return [_name(words[1]), *words[2:]]
    return words


def _fits(pattern: list[str], words: list[str]) -> bool:
    stars = pattern.count("*")
    if not _like(pattern[0], words[0]) or (
        stars and len(words) <= len(pattern) - stars
    ):
        return False
    options = _options(words)
    names: list[str] = []
    anywhere = pattern[0] in TAKES_ANY
    for word in pattern[1:]:
        if word[:1] == "-" or _plain(word) == ".":
            if not _has_option(word, options):
                return False
            anywhere |= not names
        elif word != "*":
            names.append(word)
            anywhere |= "." in names[0] or "/" in names[0]
    return _in_order(names, words, anywhere)


def _like(pattern: str, word: str) -> bool:
    return fits_wildcards(_plain(pattern), _plain(word))


def _plain(word: str) -> str:
    return word.rstrip("/").removeprefix("./") or word


def _options(words: list[str]) -> set[str]:
    """Return the options of a command under all their names, and each letter of `-rf`."""
    options: set[str] = set()
    for word in words[1:]:
        if word[:1] == "-" or _plain(word) == ".":
            options |= {_plain(word), word.partition("=")[0], *_letters(word)}
        elif word[:1] == "+":
            options.add("+")
    for *heads, one, other in SAME:
        if options & {one, other} and heads[0] == words[0] and set(heads) <= set(words):
            options |= {one, other}
    return options


def _letters(option: str) -> set[str]:
    letters = _LETTERS.match(option)
    return {f"-{letter}" for letter in letters[1]} if letters else set()


def _has_option(option: str, options: set[str]) -> bool:
    letters = _letters(option)
    return bool(letters and letters <= options) or any(
        _like(option, one) for one in options
    )


def _in_order(names: list[str], words: list[str], anywhere: bool) -> bool:
    """Return whether the command has these words in this order, the first as its subcommand unless it may be anywhere."""
    place = 0
    for before, word in pairwise(words):
        if place == len(names):
            break
        if word[:1] == "-":
            continue
        if _like(names[place], word):
            place += 1
        elif word[:1] == "+" and not place:
            continue  # `cargo +nightly test`
        elif not (anywhere or place or _MAY_TAKE_VALUE.match(before)):
            return False
    return place == len(names)


# Recognize what a shell line does: run tests, or only read.

# hides the exit code of the command before it
HIDES_EXIT_CODE = late_regex(r"\|(?!\|)|\|\|\s*(?:true|:|echo)|;\s*\S")
FAILED_TESTS = late_regex(
    r"(?m)\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|^(?:FAIL|FAILED)\b|result: FAILED"
)
TEST_COMMAND = late_regex(
    r"(?:pytest|py\.test|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|pest|ctest|unittest|nextest|bats)\b"
    r"|(?:npm|pnpm|yarn|bun|deno) (?:run )?(?:test|check)|npm t\b|cargo nextest\b|(?:python )?\S*manage\.py test\b"
    r"|(?:go|cargo|dotnet|swift|mix|rails|flutter|dart|zig build) test\b|(?:mvnw?|gradlew?) .*\b(?:test|verify|check)\b"
    r"|(?:make|just|task|rake|sbt|lein|stack|cabal|bazel|ant) (?:\S+ )*?(?:test|check|spec)"
    r"|(?:playwright|cypress|nx|turbo|ng) (?:run )?(?:test|run)\b"
)
READING_COMMAND = late_regex(  # commands that only read
    r"(?:ls|ll|cat|cd|pwd|echo|head|tail|less|more|find|fd|tree|grep|rg|ag|wc|file|stat|du|df|which|type|env|printenv"
    r"|whoami|date|sort|uniq|cut|jq|diff|cmp|ps|true|test|\[|sleep|history|man|bat|nl|tr|column)(?=\s|$)"
    r"|sed -n\b|awk\b|git (?:-C \S+ )?(?:status|diff|log|show|branch|blame|remote|rev-parse|ls-files|grep)\b|rawkomem\b"
    r"|\S+ (?:--version|-V|--help)$"
)


def is_test(command: str) -> bool:
    """Return whether a command line runs tests."""
    return any(map(TEST_COMMAND.match, map(" ".join, simple_commands(command))))


def only_looks(command: str) -> bool:
    """Return whether a line has only commands that read, like `ls` and `git status`."""
    commands = map(" ".join, simple_commands(command))
    written = {*file_writes(command, lambda path: False)} - {"/dev/null"}
    return all(map(READING_COMMAND.match, commands)) and not written


def command_failed(command: str, failed: bool | None, output: str) -> bool | None:
    """Return whether a command failed. If a pipe or a later command hides its exit code, its output decides."""
    if failed or not HIDES_EXIT_CODE.search(command):
        return failed
    return bool(FAILED_TESTS.search(output)) or failed
