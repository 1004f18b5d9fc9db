"""Run git in an untrusted repository; find the work tree, tracked files, ids of repository and clone,
the user.

Git runs in the top folder of the work tree that holds `.rawko`, and looks for a repository only
there. It gets a clean environment, no prompts, no network and a time limit. Only commands that read
and write git's objects, index and settings are used: commands such as `status`, `add` and `diff`
read the work tree, and start filters that a repository names.
"""

from __future__ import annotations

import getpass
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256

from ..files.git_folder import FETCH_FILES, find_git, read_small
from ..files.layout import FOLDER, Layout, read_bytes, relative_path
from ..files.records import checkout_of, fact, set_fact
from ..model.errors import NotFound
from ..model.values import record
from ..redaction.entries import Person, person

# prefix of a regular file's mode; other modes are links and submodules
FILE_MODE = "100"
NO_VARIABLES: Mapping[str, str] = {}  # shared, never changed
# for all calls of one Git object; a history that takes longer to read gives an error
GIT_TIMEOUT_S = 60.0
# Variables that the user sets, not a hook.
KEPT_VARIABLES = (
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
)
ENVIRONMENT = {
    "GIT_LITERAL_PATHSPECS": "1",  # so that a folder named `[x]` is not a pattern
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # read the history as it was committed
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone must not fetch …
    # … also with a git that does not know the variable above
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
# Override settings of the repository that could run programs or hide data.
SETTINGS = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    # the repository may name a file without an end
    f"core.attributesFile={os.devnull}",
    "hook.post-index-change.enabled=false",
    "core.quotePath=false",
    "i18n.logOutputEncoding=UTF-8",
)
NO_REPOSITORY = (
    "not a git repository",
    "run the command inside a git work tree ('git init' creates one)",
)
# part of git's message → hint
HINTS = {
    NO_REPOSITORY[0]: NO_REPOSITORY[1],
    "must be run in a work tree": "run the command inside a git work tree, not in a bare repository",
    "dubious ownership": "tell git that you trust this folder: git config --global --add safe.directory FOLDER",
    "lazy fetching disabled": FETCH_FILES,
    "could not lock": "check that no other git is running and that you can write to .git, then run the command again",
}


class GitFailed(NotFound):
    """Git failed: the reason, and a hint what to do next."""

    def __init__(
        self,
        message: str,
        hint: str = "this is git's own message: fix the cause, then try again",
    ):
        super().__init__(message, hint)


# the settings of a section `[include]` or `[includeIf "…"]`, and the path of a file in it
INCLUDES = re.compile(r'\[include(?:if[^\n]*")?[ \t]*\]([^\[]*)', re.IGNORECASE)
INCLUDED = re.compile(
    r"^[ \t]*path[ \t]*=[ \t]*\"?([^\"#;\n]+)", re.IGNORECASE | re.MULTILINE
)
EXCLUDES_FILE = re.compile(r"\bexcludesfile[ \t]*=[ \t]*\"?([^\"#;\n]+)", re.IGNORECASE)
MAX_INCLUDES = 100  # settings files that are looked at


# files of a git folder that git reads before anything else
READ_FIRST = (
    "HEAD", "commondir", "index", "packed-refs", "shallow", "info/exclude", "info/attributes", "objects/info/alternates",
)  # fmt: skip


def refuse_odd_files(folders: Iterable[str]) -> None:
    """Raise GitFailed if a file of a git folder, or one that its settings include, is not regular.

    Git would wait for a pipe, and read a device without an end.
    """
    folders = [*folders]
    heads = [read_small(os.path.join(folder, "HEAD")) for folder in folders]
    branches = [head.removeprefix("ref:").strip() for head in heads if head]
    for file in (
        os.path.join(folder, name)
        for folder in folders
        for name in (*READ_FIRST, *branches)
    ):
        if os.path.exists(file) and not os.path.isfile(file):
            raise GitFailed(
                f"git reads {file}, which is not a regular file", "remove it"
            )
    names = ("config", "config.worktree")
    files = [os.path.join(folder, name) for folder in folders for name in names]
    for file in files:
        if not os.path.exists(file):
            continue
        try:
            text = read_bytes(file).decode("utf-8", "replace")
        except OSError:
            raise GitFailed(
                f"git's settings include {file}, which is not a file that can be read",
                "remove its line 'path = …' below [include] from .git/config",
            ) from None
        base = os.path.dirname(file)
        for path in EXCLUDES_FILE.findall(text):
            named = os.path.expanduser(path.strip())
            for place in (os.path.dirname(base), base):
                excludes = os.path.join(place, named)
                is_odd = os.path.exists(excludes) and not os.path.isfile(excludes)
                if is_odd and excludes != os.devnull:
                    raise GitFailed(
                        f"git's settings name {excludes}, which is not a file that can be read",
                        "remove 'excludesFile = …' from .git/config",
                    )
        if len(files) < MAX_INCLUDES:
            files += [
                os.path.join(base, os.path.expanduser(path.strip()))
                for section in INCLUDES.findall(text)
                for path in INCLUDED.findall(section)
            ]


class Git:
    """Runs git for the work tree with this top folder, with one time limit for all calls.

    `given` is added to its environment; a GIT_DIR in it names another repository.
    """

    def __init__(
        self,
        top: str,
        seconds: float = GIT_TIMEOUT_S,
        given: Mapping[str, str] = NO_VARIABLES,
    ):
        self.top = top
        # git looks for a repository in this folder only, and checks its owner
        place = {"GIT_WORK_TREE": top, "GIT_CEILING_DIRECTORIES": os.path.dirname(top)}
        self.given = given if "GIT_DIR" in given else {**place, **given}
        self.program = shutil.which("git") or ""
        found = find_git(top)
        own = {found.common, found.own} if found else set()
        refuse_odd_files({given["GIT_DIR"]} if "GIT_DIR" in given else own)
        self.until = time.monotonic() + seconds
        if not self.program or os.path.realpath(self.program).startswith(
            os.path.realpath(top) + os.sep
        ):
            raise GitFailed(
                "git is not installed", "install git, or put it on your PATH"
            )

    def run(
        self, *words: str, given: bytes = b"", fine: tuple[int, ...] = (0,)
    ) -> bytes:
        """Return git's output; raise GitFailed with git's message if the exit code is not in `fine`.

        `given` is the standard input.
        """
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        # without the variables that a hook, an editor or another git set for a repository
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("GIT_") or key in KEPT_VARIABLES
        }
        try:
            done = subprocess.run(
                [self.program, "--no-pager", *settings, *words],
                cwd=self.top,
                env={**kept, **ENVIRONMENT, **self.given},
                input=given,
                capture_output=True,
                timeout=max(0.1, self.until - time.monotonic()),
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GitFailed(
                "git took too long", "try again when the machine is less busy"
            ) from None
        except OSError as failure:
            raise GitFailed(f"git cannot be run: {failure.strerror}") from None
        if done.returncode not in fine:
            said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            hints = [
                hint.replace("FOLDER", shlex.quote(self.top))
                for words_of_git, hint in HINTS.items()
                if words_of_git in said.lower()
            ]
            if not hints:  # an unusual message repeats what it read
                from ..redaction.find import redact

                said = redact(said)
            raise GitFailed(
                said.removeprefix("fatal: ") or f"git {words[0]} failed", *hints[:1]
            )
        return done.stdout

    def line(self, *words: str, fine: tuple[int, ...] = (0,)) -> str:
        """Return the first line of git's output."""
        said = self.run(*words, fine=fine).decode("utf-8", "surrogateescape")
        return said.partition("\n")[0]

    def names(self, *words: str) -> list[str]:
        """Return git's output as a list, without the NUL after each item."""
        said = self.run(*words).decode("utf-8", "surrogateescape")
        return said.split("\0")[:-1]


# Find the work tree, the index and the objects that a hook's environment names.
#
# A hook may run with another index (`git commit FILE`), in a linked work tree, in a submodule, or
# for a bare repository. Paths in the environment are relative to the folder where the hook was
# started, so they are made absolute.

PLACES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
)
ALTERNATES = "GIT_ALTERNATE_OBJECT_DIRECTORIES"  # a list of paths


@record
class WorkTree:
    """A work tree, and the git runner for it."""

    top: str
    git: Git

    def path(self, file: str) -> str:
        """Return the path of a file or folder relative to the top of the work tree, with forward slashes."""
        return relative_path(os.path.realpath(file), os.path.realpath(self.top))

    def ignored(self, *paths: str) -> list[str]:
        """Return those of some paths, from the top of the work tree, that git ignores."""
        given = "\0".join(paths).encode("utf-8", "surrogateescape")
        words = ("--no-literal-pathspecs", "check-ignore", "-z", "--stdin")
        listed = self.git.run(*words, given=given, fine=(0, 1))
        return listed.decode("utf-8", "surrogateescape").split("\0")[:-1]

    def ask(self, *words: str) -> str:
        """Return the first line of git's output; empty if git exits with 1 or 128."""
        return self.git.line(*words, fine=(0, 1, 128))


def own_tree(folder: str) -> WorkTree:
    """Return the work tree around a folder, whatever the environment names; raise GitFailed if there is none."""
    found = find_git(folder)
    if found is None:
        raise GitFailed(*NO_REPOSITORY)
    return WorkTree(found.tree, Git(found.tree))


def work_tree(folder: str) -> WorkTree:
    """Return the work tree around a folder, with the index that a hook's environment names; raise GitFailed."""
    given = {
        name: os.path.abspath(os.environ[name])
        for name in PLACES
        if os.environ.get(name)
    }
    given |= {ALTERNATES: os.environ[ALTERNATES]} if os.environ.get(ALTERNATES) else {}
    if "GIT_DIR" in given:
        top = Git(os.getcwd(), given=given).line("rev-parse", "--show-toplevel")
        if _is_in_tree(folder, top):
            return WorkTree(top, Git(top, given={**given, "GIT_WORK_TREE": top}))
        given = {}  # the hook belongs to another repository
    tree = own_tree(folder)
    if given and find_git(os.getcwd()) != find_git(folder):
        given = {}
    return WorkTree(tree.top, Git(tree.top, given=given))


def _is_in_tree(folder: str, top: str) -> bool:
    """Return whether a folder is in a work tree, and not in another one inside it, such as a submodule."""
    inside = os.path.realpath(folder)
    around = os.path.realpath(top)
    innermost = find_git(inside)
    below = around.rstrip(os.sep) + os.sep
    nested = innermost is not None and innermost.tree.startswith(below)
    return (inside == around or inside.startswith(below)) and not nested


# Find the projects with memories in a work tree.

# any file of a project's memories; a pattern of git
MEMORY_PATTERN = f":(glob)**/{FOLDER}/**"


def projects_in(tree: WorkTree, untracked: bool = False) -> list[Layout]:
    """Return the projects with tracked memory files in a work tree; with `untracked`, also new ones. Raises GitFailed."""
    also = ("--others", "--exclude-standard") if untracked else ()
    words = ("ls-files", "-z", "--cached", *also, "--", MEMORY_PATTERN)
    names = tree.git.names("--no-literal-pathspecs", *words)
    paths = [name.split("/") for name in names]
    roots = {
        os.path.join(tree.top, *parts[: parts.index(FOLDER) + 1]) for parts in paths
    }
    return [Layout(root) for root in sorted(roots) if os.path.isdir(root)]


def projects_below(folder: str) -> list[Layout]:
    """Return all projects of the git work tree around a folder; empty without git."""
    try:
        return projects_in(own_tree(os.path.abspath(folder)), untracked=True)
    except GitFailed:
        return []


# List the memory files that git tracks, or that HEAD contains, with one call of git.

# files that are named in the git command; for more files, their areas are listed
MAX_NAMED = 100


def tracked_files(layout: Layout, paths: Collection[str]) -> set[str]:
    """Return the given paths (below .rawko) that are in git's index; empty without git or if git fails."""
    return _listed_of(layout, ("ls-files", "-z"), paths)


def untracked_files(layout: Layout, paths: Collection[str]) -> set[str]:
    """Return the given paths (below .rawko) that are files outside git's index: all without git, none if git fails."""
    if find_git(layout.project) is None:
        return {*paths}
    return _listed_of(layout, ("ls-files", "--others", "-z"), paths)


def may_hold(layout: Layout, paths: Collection[str]) -> bool:
    """Return whether git tracks or committed one of the paths, or may know its text by the path of a missing file.

    Return True if git fails, and False without git.
    """
    if find_git(layout.project) is None:
        return False
    try:
        tree = own_tree(layout.project)
        files = ["--", *(tree.path(layout.path(path)) for path in paths)]
        return bool(
            tree.git.names("ls-files", "-z", *files)
            or tree.git.names("ls-files", "-z", "--deleted", tree.path(layout.root))
            or tree.git.line("rev-list", "--all", "--full-history", "-1", *files)
        )
    except GitFailed:
        return True


def committed_files(layout: Layout, *places: str) -> set[str] | None:
    """Return the paths of files and folders in HEAD; None without git, empty if git fails."""
    if find_git(layout.project) is None:
        return None
    return _listed(layout, ("ls-tree", "-r", "-z", "--name-only", "HEAD"), places)


def _listed_of(
    layout: Layout, words: Sequence[str], paths: Collection[str]
) -> set[str]:
    """Return the given paths that a git command lists; empty if git fails."""
    if not paths:
        return set()
    if len(paths) <= MAX_NAMED:
        asked = paths
    else:
        asked = {path.partition("/")[0] for path in paths}
    return _listed(layout, words, asked) & {*paths}


def _listed(layout: Layout, words: Sequence[str], paths: Iterable[str]) -> set[str]:
    """Return the paths below .rawko that a git command lists; empty if git fails."""
    try:
        tree = own_tree(layout.project)
        root = tree.path(layout.root) + "/"
        names = tree.git.names(*words, "--", *(root + path for path in paths))
    except GitFailed:
        return set()
    return {name.removeprefix(root) for name in names}


# Name a repository and a clone of it in a shared store.
#
# A repository's id is made from its first commit and the path of `.rawko`; without history it is
# the clone's name. A clone has a random name in this machine's records, which a copied
# folder does not keep, so that it is another clone.

CLONE = "clone"  # start of the fact's name
NAME_DIGITS = 16  # hexadecimal digits: enough to be unique among a team's repositories


def repository_id(layout: Layout) -> str:
    """Return an id that is the same in every full clone; shallow clones need the setting `store.repository`."""
    try:
        tree = own_tree(layout.project)
        if tree.git.line("rev-parse", "--is-shallow-repository") == "true":
            return clone_id(layout)
        roots = sorted(tree.git.run("rev-list", "--max-parents=0", "HEAD").split())
    except GitFailed:
        return clone_id(layout)
    inside = tree.path(layout.root).encode("utf-8", "surrogateescape")
    said = b"\0".join([*roots[:1], inside])
    return sha256(said).hexdigest()[:NAME_DIGITS]


def clone_id(layout: Layout) -> str:
    """Return the name of this checkout, whose index is its own; create it on the first call."""
    name = f"{CLONE} {checkout_of(layout)}"
    if not fact(layout, name):
        set_fact(layout, name, os.urandom(NAME_DIGITS // 2).hex(), replace=False)
    return fact(layout, name)


# Find the name of this machine's user, to sign entries and to anonymize texts.

SETTINGS_TIMEOUT_S = 5.0  # for git to print its settings
ROLES = ("AUTHOR", "COMMITTER")
COMMIT_VARIABLES = tuple(
    f"GIT_{role}_{part}" for role in ROLES for part in ("NAME", "EMAIL")
)
USER_VARIABLES = ("USER", "LOGNAME", "USERNAME")


def user_name() -> str:
    """Return git's user name in this folder, else the account name, else an empty text."""
    named = os.environ.get("GIT_AUTHOR_NAME", "").strip()
    named = named or next(iter(_known_to_git(os.curdir, "user.name")), "")
    if named:
        return named
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""


def committing_people(folder: str) -> str:
    """Return `author<tab>committer` of the commit that a hook runs for, each as `Name <e-mail>`; empty if git fails."""
    given = {
        name: os.environ[name] for name in COMMIT_VARIABLES if os.environ.get(name)
    }
    try:
        git = _settings(folder, given)
        idents = [git.line("var", f"GIT_{role}_IDENT", fine=(0, 128)) for role in ROLES]
    except (GitFailed, OSError):
        return ""
    return "\t".join(f"{ident.rpartition('>')[0]}>" for ident in idents if ">" in ident)


def people_here(project: str, others: Sequence[str]) -> list[Person]:
    """Return the user, known by git's e-mail address and name and by account names, and the people in `others`."""
    accounts = [os.environ.get(name, "") for name in USER_VARIABLES]
    home = os.path.basename(os.path.expanduser("~").rstrip("/\\"))
    known = _known_to_git(project, "user.email", "user.name")
    everybody = [
        person([*known, *accounts, home]),
        *(person([name]) for name in others),
    ]
    return [somebody for somebody in everybody if somebody]


def _known_to_git(folder: str, *keys: str) -> list[str]:
    try:
        git = _settings(folder)
        return [git.line("config", "--get", key, fine=(0, 1)).strip() for key in keys]
    except (GitFailed, OSError):
        return []


def _settings(folder: str, given: Mapping[str, str] = NO_VARIABLES) -> Git:
    """Return git for reading settings: those of the work tree around a folder, if there is one, and the user's."""
    found = find_git(folder)
    return Git(
        found.tree if found else os.path.abspath(os.sep), SETTINGS_TIMEOUT_S, given
    )
