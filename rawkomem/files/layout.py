"""Name the paths of a repository and of the user's folders; list and read files; tell who made a local
folder.
"""

from __future__ import annotations

import _thread
import os
import stat
import sys
from binascii import crc32
from stat import S_ISDIR, S_ISREG

from ..model.errors import BadInput, NotFound, RawkoError, Refused, Unwritable
from ..model.values import (
    TYPE_CHECKING,
    WARNING,
    Problem,
    error,
    record,
    replace,
    warning,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO


class explained:
    """Turns an OSError in its block into a RawkoError: `with explained("cannot write x", hint)`."""

    def __init__(
        self,
        what: str,
        hint: str = "check permissions and free space",
        kind: type[RawkoError] = Unwritable,
    ):
        self.what = what
        self.hint = hint
        self.kind = kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, failure: object, trace: object) -> None:
        if isinstance(failure, OSError):
            why = failure.strerror or failure
            raise self.kind(f"{self.what}: {why}", self.hint) from None


FOLDER = ".rawko"
# environment variable: paths of other users' projects that this user trusts
TRUST = "RAWKOMEM_TRUST"
# the user's own repository: its folder, and its name among layers
PERSONAL = "personal"
# the area of change files, which hold one change each: branches merge without a merge driver
CHANGED = "changes"
# the index reads these folders, in this order
AREAS = ("memories", "traces", "log", "archive", CHANGED)
# files of a git repository, which do not belong into .rawko: HEAD, and one of the others
GIT_FILES = ("HEAD", "objects", "refs", "config", "commondir")
# files of this machine: git ignores them, so they stay when another branch is checked out;
# a second owner of the same project uses `local-2`, and so on
LOCAL = "local"


@record
class Layout:
    """The paths of one repository, as plain strings: importing pathlib is too slow for a cold command."""

    root: str  # the .rawko folder itself
    # the local folder of a read-only repository: nothing is written below its root
    elsewhere: str = ""

    @property
    def local(self) -> str:
        """Return the git-ignored folder of the index, locks, logs and caches of this checkout."""
        return self.elsewhere or own_place(os.path.join(self.root, LOCAL))

    @property
    def config(self) -> str:
        """Return the file of the committed settings."""
        return os.path.join(self.root, "config.yaml")

    @property
    def templates(self) -> str:
        """Return the folder of the project's own templates, which are used before the shipped ones."""
        return os.path.join(self.root, "templates")

    @property
    def project(self) -> str:
        """Return the folder that holds .rawko."""
        return os.path.dirname(self.root)

    def path(self, relative: str) -> str:
        """Return the file for a path relative to .rawko, as entries and the index store it."""
        return os.path.join(self.root, *relative.split("/"))

    def relative(self, path: str) -> str:
        """Return a file's path relative to .rawko, with forward slashes, as entries and the index store it."""
        return relative_path(path, self.root)


def relative_path(path: str, folder: str) -> str:
    """Return a path relative to a folder, with forward slashes."""
    return os.path.relpath(path, folder).replace(os.sep, "/")


def find_layout(start: str = "", personal: bool = False) -> Layout:
    """Return the repository of a folder or of its nearest parent; without `start`, RAWKOMEM_DIR or the current folder.

    If there is none, return the user's own repository with `personal`, else raise NotFound.
    """
    start = os.path.abspath(start or os.environ.get("RAWKOMEM_DIR") or os.getcwd())
    folder = start
    above = ""
    bare = ""
    while folder != above:
        if os.path.basename(folder) == FOLDER and os.path.isdir(
            os.path.join(folder, AREAS[0])
        ):
            return _checked_layout(folder)
        root = os.path.join(folder, FOLDER)
        if _is_repository(root):
            return _checked_layout(root)
        bare = bare or (root if os.path.isdir(root) else "")
        above = folder
        folder = os.path.dirname(folder)
    if personal and os.path.isdir(personal_root()):
        return _checked_layout(personal_root())
    hint = "run 'rawkomem init' in your project"
    if bare:
        message = f"no repository here: {bare} holds only local files of this machine"
        raise NotFound(message, f"check out a branch with memories, or {hint}")
    raise NotFound(f"no {FOLDER} folder in {start} or above it", hint)


def _is_repository(root: str) -> bool:
    """Return whether a .rawko folder holds more than this machine's local folder."""
    if os.path.isdir(os.path.join(root, AREAS[0])):
        return True
    try:
        names = os.listdir(root)
        return not names or not all(is_local_name(name) for name in names)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # the folder exists: the command reports why it cannot be read


def _checked_layout(root: str) -> Layout:
    """Return the layout of a .rawko folder; raise Refused if it is a link or belongs to an untrusted user.

    The variable RAWKOMEM_TRUST lists projects of trusted users, or `*` for all projects.
    """
    refuse_odd_name(root)
    seen = os.lstat(root)
    if stat.S_ISLNK(seen.st_mode):
        target = os.path.realpath(root)
        raise Refused(
            f"{root} is a link to {target}",
            f"to use that folder, run the command with -C {target}",
        )
    project = os.path.dirname(root)
    trusted = os.environ.get(TRUST, "").split(os.pathsep)
    is_trusted = "*" in trusted or os.path.realpath(project) in [
        os.path.realpath(path) for path in trusted if path
    ]
    if not is_own(seen) and not is_trusted:
        hint = f"run the command as that user; or, if you trust them, set {TRUST}={project}"
        raise Refused(f"{root} belongs to {_user_name(seen.st_uid)}, not to you", hint)
    return Layout(root)


def refuse_odd_name(folder: str) -> None:
    """Raise Refused for a path that is no Unicode: SQLite cannot open a file there."""
    try:
        folder.encode()
    except UnicodeEncodeError:
        raise Refused(
            f"the name of the folder {os.fsencode(folder)!r} is not UTF-8",
            "rename it; if its name is right, set the variable PYTHONUTF8=1",
        ) from None


def is_own(seen: os.stat_result) -> bool:
    """Return whether a file belongs to this user; on Windows, always."""
    return not hasattr(os, "geteuid") or seen.st_uid == os.geteuid()


def _user_name(number: int) -> str:
    try:
        import pwd

        return f"the user {pwd.getpwuid(number).pw_name}"
    except (ImportError, KeyError):
        return f"the user {number}"


def user_config() -> str:
    """Return the user's settings file (endpoints, keys, commands), which is never read from a repository."""
    mac = "Library/Application Support"
    folder = _user_folder("XDG_CONFIG_HOME", "AppData/Roaming", mac, ".config")
    return os.path.join(folder, "config.yaml")


def user_repository_config(layout: Layout) -> str:
    """Return the user's settings file for one repository: settings that the repository itself is not allowed to set."""
    place = os.path.realpath(layout.root).replace(":", "").lstrip("/\\")
    return os.path.join(
        os.path.dirname(user_config()), "repositories", place, "config.yaml"
    )


def personal_root() -> str:
    """Return the .rawko folder of the user's own repository, which is recalled in every project."""
    mac = "Library/Application Support"
    folder = _user_folder("XDG_DATA_HOME", "AppData/Roaming", mac, ".local/share")
    return os.path.join(folder, PERSONAL, FOLDER)


def source_layout(root: str) -> Layout:
    """Return the layout of a shared repository that is only read: its local folder is in the user's cache."""
    real = os.path.realpath(root)
    name = "".join(
        c if c.isalnum() else "-" for c in os.path.basename(os.path.dirname(real))
    )[-60:]
    data = os.fsencode(real)
    return Layout(
        root,
        os.path.join(
            user_cache(), "sources", f"{name}-{crc32(data):08x}{crc32(data[::-1]):08x}"
        ),
    )


def user_cache() -> str:
    """Return the user's cache folder, for indexes that cannot be stored next to their files."""
    return _user_folder("XDG_CACHE_HOME", "AppData/Local", "Library/Caches", ".cache")


def _user_folder(variable: str, windows: str, mac: str, other: str) -> str:
    choice = windows if os.name == "nt" else mac if sys.platform == "darwin" else other
    home = os.path.join(os.path.expanduser("~"), *choice.split("/"))
    return os.path.join(os.environ.get(variable) or home, "rawkomem")


# Check that this user made a local folder on this machine: the name of its marker holds a secret
# from the user's config folder.

FILE_MODE = 0o600
FOLDER_MODE = 0o700
FOR_OTHERS = 0o077  # permissions of everybody except the owner
# Do not follow links and do not wait for pipes; on Windows, do not translate line ends.
SAFE_FLAGS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
# start of the name of an empty file; the rest is the secret in hexadecimal digits
MARKER = ".made-"
MAX_SECRET_BYTES = 100
_secrets: dict[int, bytes] = {}  # inode of a local folder → its secret


def is_local_name(name: str) -> bool:
    """Return whether a folder of this name in `.rawko` holds files of a machine: `local`, `local-2` and so on."""
    stem, _, number = name.partition("-")
    return stem == LOCAL and (name == LOCAL or number.isdecimal())


def own_place(base: str) -> str:
    """Return the local folder that this user made here: `base`, or one beside it if `base` is somebody else's.

    If there is none, return the first free path.
    """
    if _is_ours(base):
        return base
    folder = os.path.dirname(base)
    try:
        with os.scandir(folder) as entries:
            paths = sorted(
                entry.path
                for entry in entries
                if is_local_name(entry.name) and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return base
    for path in paths:
        if _is_ours(path):
            return path
    while base in paths:
        stem, _, number = os.path.basename(base).partition("-")
        base = os.path.join(folder, f"{stem}-{int(number or 1) + 1}")
    return base


def _is_ours(local: str) -> bool:
    try:
        return bool(own_secret(local))
    except OSError:
        return False


def own_secret(local: str) -> bytes:
    """Return the secret of a local folder that this user made on this machine; empty for another folder.

    Raise OSError if `.rawko` is a link.
    """
    if os.path.islink(os.path.dirname(local)):
        raise OSError(0, f"{os.path.dirname(local)} is a link")
    seen = os.lstat(local)
    if not S_ISDIR(seen.st_mode) or not is_own(seen):
        return b""
    known = _secrets.get(seen.st_ino, b"")
    if known and os.path.lexists(marker_path(local, known)):
        return known
    # a new folder may have the inode of one that was removed
    secret = read_secret(secret_path(seen.st_ino))
    if not secret or not os.path.lexists(marker_path(local, secret)):
        return b""
    _secrets[seen.st_ino] = secret
    return secret


def marker_path(local: str, secret: bytes) -> str:
    """Return the path of the marker of a local folder with this secret."""
    return os.path.join(local, MARKER + secret.hex())


def secret_path(inode: int) -> str:
    """Return the path of the secret for a local folder with this inode, in the user's config folder."""
    return os.path.join(os.path.dirname(user_config()), "local", str(inode))


def read_secret(path: str) -> bytes:
    """Return the bytes of a small regular file that belongs to this user; empty if there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | SAFE_FLAGS)
    except OSError:
        return b""
    try:
        seen = os.fstat(descriptor)
        fits = (
            S_ISREG(seen.st_mode) and is_own(seen) and seen.st_size <= MAX_SECRET_BYTES
        )
        return os.read(descriptor, MAX_SECRET_BYTES) if fits else b""
    finally:
        os.close(descriptor)


def check_own_file(seen: os.stat_result, private: bool) -> None:
    """Raise OSError unless this is a regular file of this user and, with `private`, others may not read it."""
    if not S_ISREG(seen.st_mode):
        raise OSError(0, "it is not a regular file")
    if not is_own(seen):
        raise OSError(0, "it belongs to another user")
    if private and seen.st_mode & FOR_OTHERS:  # git or another program wrote it
        raise OSError(
            0, "it was not made by rawkomem, because others may read it: remove it"
        )


def is_own_file(path: str) -> bool:
    """Return whether a path is a plain file of this user: a link could lead to any text."""
    try:
        check_own_file(os.lstat(path), private=False)
    except OSError:
        return False
    return True


# Lock an open file with the operating system's function.


def try_lock(descriptor: int) -> bool:
    """Lock an open file exclusively; return False if another process holds it."""
    try:
        _take(descriptor)
        return True
    except OSError:
        return False


if os.name == "nt":
    import msvcrt

    def _take(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

    def drop_lock(descriptor: int) -> None:
        """Release the lock of an open file."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]

else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def drop_lock(descriptor: int) -> None:
        """Release the lock of an open file."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)


# Read and hash a file's bytes. The parser is elsewhere, so that a sweep of unchanged files does
# not load it.

MAX_FILE_BYTES = 5 * 1024 * 1024  # a larger file is not a memory


def is_plain_file(file: str) -> bool:
    """Return whether this is a regular file and not a link."""
    return os.path.isfile(file) and not os.path.islink(file)


def is_memory_name(name: str) -> bool:
    """Return whether a file of this name is read as memories; names that start with a dot belong to other programs."""
    return name.endswith(".md") and not name.startswith(".")


def read_bytes(file: str) -> bytes:
    """Return the first MAX_FILE_BYTES + 1 bytes of a file; raise OSError unless it is a regular file."""
    descriptor = os.open(
        file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(0, "not a regular file")
        left = MAX_FILE_BYTES + 1
        data = os.read(descriptor, min(facts.st_size + 1, left))
        # the usual case: the file ended before what was asked for
        if len(data) == facts.st_size:
            return data
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            return data + stream.read(left - len(data))
    finally:
        os.close(descriptor)


def walk(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk a folder like os.walk, but raise Refused if a folder cannot be listed: its files would be missed."""

    def stop(failure: OSError) -> None:
        if not isinstance(failure, FileNotFoundError):
            raise Refused(
                f"{failure.filename} cannot be read: {failure.strerror}",
                "check its permissions and the disk",
            )

    return os.walk(folder, onerror=stop)


def hash_of_file(file: str) -> str:
    """Return the hash of the bytes that read_bytes returns; empty if the file cannot be read."""
    from hashlib import sha256

    try:
        return sha256(read_bytes(file)).hexdigest()
    except OSError:
        return ""


# Sweep the repository: list the memory files and find out whether any of them may have changed.
#
# The stamp of a file is its size, mtime, inode and ctime (which also shows a changed permission or a
# forged mtime). A sweep reduces all names and stamps to one digest, because most sweeps only answer
# whether anything changed, and the text of 30,000 stamps takes longer than reading them.


@record
class Sweep:
    """The result of a walk over the repository."""

    # number of files, and a checksum that differs if the name or the stamp of any file differs
    digest: str
    # the files of each folder, and the stamps of all files if they were asked for
    folders: tuple[tuple[str, list[str]], ...] = ()
    stamps: dict[str, str] | None = None
    problems: tuple[Problem, ...] = ()
    # folders that could not be listed: their files are unknown, not removed
    unreadable: tuple[str, ...] = ()

    @property
    def files(self) -> int:
        """Return the number of files."""
        return files_in(self.digest)

    @property
    def paths(self) -> list[str]:
        """Return the paths of all files."""
        return [f"{folder}/{name}" for folder, names in self.folders for name in names]


def names_in(folder: str) -> list[str]:
    """Return the names in a folder, sorted; none if there is no such folder."""
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def files_in(digest: str) -> int:
    """Return the number of files in the digest of a sweep."""
    return int(digest.partition(" ")[0])


def sweep(layout: Layout, stamped: bool = False) -> Sweep:
    """Walk the areas once, without following folder links, with one stat for each Markdown file.

    With `stamped`, the result has the stamp of each file.
    """
    walk = _Walk(layout.root, {} if stamped else None)
    walk.problems += git_files(layout.root)
    stack = list(reversed(AREAS))
    while stack:
        relative = stack.pop()
        folder = layout.path(relative)
        try:
            if os.path.islink(folder):
                raise OSError(0, "it is a link, and folder links are not followed")
            stack += walk.read_folder(folder, relative)
        except FileNotFoundError:
            continue
        except OSError as failure:
            walk.unreadable.append(relative)
            message = (
                f"folder cannot be read: {failure.strerror}",
                "check its permissions",
            )
            problem = error("unreadable-folder", *message, path=relative)
            is_link = os.path.islink(folder)
            walk.problems.append(
                replace(problem, level=WARNING) if is_link else problem
            )
    return Sweep(
        f"{sum(len(names) for _, names in walk.folders)} {walk.sum:x}",
        tuple(walk.folders),
        walk.stamps,
        tuple(walk.problems),
        tuple(walk.unreadable),
    )


def git_files(root: str) -> list[Problem]:
    """Return a Problem if a .rawko folder looks like a git repository, which git would use in place of the project's."""
    names = [name for name in GIT_FILES if os.path.lexists(os.path.join(root, name))]
    if GIT_FILES[0] not in names or len(names) == 1:
        return []
    message = f"{FOLDER} looks like a git repository: git commands inside it run what its config names"
    hint = f"find out who added {', '.join(names)} to {FOLDER}, and remove them"
    return [error("git-folder", message, hint, path=GIT_FILES[0])]


class Sweeping:
    """A sweep in a second thread. It uses `_thread`, because importing `threading` takes a tenth of the start time."""

    def __init__(self, layout: Layout):
        self._seen: Sweep | None = None
        self._failure: BaseException | None = None
        self._done = _thread.allocate_lock()
        self._done.acquire()
        _thread.start_new_thread(self._run, (layout,))

    def _run(self, layout: Layout) -> None:
        try:
            self._seen = sweep(layout)
        except BaseException as failure:
            self._failure = failure
        finally:
            self._done.release()

    def digest(self) -> str:
        """Wait for the sweep and return its digest; raise its exception if it failed."""
        with self._done:
            if self._seen is None:
                raise self._failure or RuntimeError("the sweep did not run")
            return self._seen.digest


class SweepingApart:
    """A sweep in a child process. Unlike a thread, it takes no turns with the interpreter of this process."""

    def __init__(self, layout: Layout):
        self._layout = layout
        self._pipe, sending = os.pipe()
        self._child = os.fork()
        if not self._child:
            try:
                os.write(sending, sweep(layout).digest.encode())
            finally:
                os._exit(0)
        os.close(sending)

    def digest(self) -> str:
        """Wait for the sweep and return its digest. If the child failed, sweep here."""
        with open(self._pipe, encoding="ascii") as stream:
            digest = stream.read()
        os.waitpid(self._child, 0)
        return digest or sweep(self._layout).digest


def can_fork() -> bool:
    """Return whether a child process is safe: on Linux, as long as this process has a single thread."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


class _Walk:
    """What a sweep has found so far."""

    def __init__(self, root: str, stamps: dict[str, str] | None):
        self.root = root
        self.sum = 0
        self.folders: list[tuple[str, list[str]]] = []
        self.stamps = stamps
        self.problems: list[Problem] = []
        self.unreadable: list[str] = []

    def read_folder(self, folder: str, relative: str) -> list[str]:
        """Add the files of a folder; return the folders in it. Raise OSError if it cannot be listed."""
        if os.scandir not in os.supports_fd:
            return self._read(folder, relative)
        # the kernel looks a name up in an open folder faster than a whole path
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # no wait for a pipe
        try:
            return self._read(descriptor, relative)
        finally:
            os.close(descriptor)

    def _read(self, folder: str | int, relative: str) -> list[str]:
        names: list[str] = []
        inner: list[str] = []
        # hash() of whole numbers is the same in every process; that of a text is not
        sum = self.sum
        stamps = self.stamps
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name[-3:] == ".md" and name[0] != ".":
                    try:
                        stat = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # gone since we listed it
                    except OSError as failure:
                        self._note_unreadable(f"{relative}/{name}", failure)
                        continue
                    # a regular file; is_file() would call stat again
                    if stat.st_mode & 0o170000 != 0o100000:
                        self._note_odd(entry, f"{relative}/{name}")
                        continue
                    size = stat.st_size
                    mtime = stat.st_mtime_ns
                    inode = stat.st_ino
                    ctime = stat.st_ctime_ns
                    names.append(name)
                    sum = hash((sum, size, mtime, inode, ctime))
                    if stamps is not None:
                        stamp = f"{size} {mtime} {inode} {ctime}"
                        stamps[f"{relative}/{name}"] = stamp
                elif name[0] != "." and entry.is_dir(follow_symlinks=False):
                    inner.append(f"{relative}/{name}")
        if names:
            listed = "\0".join((relative, *names)).encode("utf-8", "surrogateescape")
            self.sum = hash((sum, crc32(listed), crc32(listed[::-1]), len(names)))
            self.folders.append((relative, names))
        return inner

    def _note_unreadable(self, path: str, failure: OSError) -> None:
        message = f"cannot be read: {failure.strerror}"
        hint = "check permissions"
        self.problems.append(warning("unreadable", message, hint, path=path))

    def _note_odd(self, entry: os.DirEntry[str], path: str) -> None:
        try:
            problem = _odd_file(entry, path, self.root)
        except FileNotFoundError:
            return
        except OSError as failure:
            self._note_unreadable(path, failure)
            return
        if problem:
            self.problems.append(problem)


def _odd_file(entry: os.DirEntry[str], path: str, root: str) -> Problem | None:
    """Return a Problem for a link or a device; None for a link to a memory of this repository."""
    if not entry.is_symlink():
        if entry.is_dir(follow_symlinks=False):
            return warning(
                "folder-named-md",
                "a folder with the name of a memory file",
                "rename it",
                path=path,
            )
        return warning("not-regular", "not a regular file", "remove it", path=path)
    target = os.path.realpath(os.path.join(root, path))
    if not os.path.exists(target):
        return warning(
            "broken-symlink",
            "a symbolic link to a missing file",
            "remove it or fix it",
            path=path,
        )
    if not os.path.isfile(target) or not target.startswith(
        os.path.realpath(root) + os.sep
    ):
        message = "a link out of the repository: not followed"
        return warning(
            "symlink-outside", message, "put the file itself here", path=path
        )
    return None


def is_text_path(path: str) -> bool:
    """Return whether a path is UTF-8 without control characters; other files are reported by `check` and not read."""
    if path.isprintable():
        return True
    return not any(
        c < " "
        or "\x7f" <= c <= "\x9f"
        or c in "\u2028\u2029"
        or "\ud800" <= c <= "\udfff"
        for c in path
    )


def changed_at(stamp: str) -> int:
    """Return when the file last changed, in nanoseconds: ctime, which cannot be forged (on Windows mtime)."""
    return int(stamp.split(" ")[1 if os.name == "nt" else 3])


# Read a user's text from a file or standard input; raise BadInput unless it is UTF-8 and not too
# large.

STDIN = "standard input"
MAX_TEXT_BYTES = 16 << 20  # a memory is a page: a larger text is a mistake


def read_text_file(file: str) -> str:
    """Return a file's text; raise BadInput if it cannot be read or is not UTF-8."""
    hint = "check its name and permissions"
    with explained(f"cannot read {file}", hint, BadInput), open(file, "rb") as stream:
        return read_stream(stream, file)


def read_stdin(strict: bool = True) -> str:
    """Return the text on standard input; without `strict`, replace bytes that are not UTF-8."""
    stream = getattr(sys.stdin, "buffer", None)
    if stream:
        return read_stream(stream, STDIN, strict)
    return sys.stdin.read(MAX_TEXT_BYTES)


def read_stream(stream: IO[bytes], name: str, strict: bool = True) -> str:
    """Return the text of an open file; raise BadInput if it is too large. Without `strict`, return its beginning."""
    data = stream.read(MAX_TEXT_BYTES + 1)
    if strict and len(data) > MAX_TEXT_BYTES:
        raise BadInput(f"{name} is larger than {MAX_TEXT_BYTES >> 20} MiB", "split it")
    return decode_text(data[:MAX_TEXT_BYTES], name, strict)


def decode_text(data: bytes, name: str, strict: bool = True) -> str:
    r"""Decode bytes to text with \n line ends and no byte order mark; raise BadInput, naming their source."""
    try:
        text = data.decode("utf-8-sig", "strict" if strict else "replace")
    except UnicodeDecodeError as failure:
        line = data.count(b"\n", 0, failure.start) + 1
        hint = "save it as UTF-8, for example with 'iconv -f latin1 -t utf-8'"
        raise BadInput(
            f"{name} is not UTF-8 text (line {line}, byte {failure.start})", hint
        ) from None
    return text.replace("\r\n", "\n")
