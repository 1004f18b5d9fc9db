"""Find the settings of a project that a person committed."""

from __future__ import annotations

from collections.abc import Sequence

from ..files.layout import Layout
from ..state.trust import AGENT, author_state
from .runner import FILE_MODE, Git, GitFailed, own_tree

# HEAD, and the bytes of config.yaml that count there
Settled = tuple[str, bytes]


def settled_settings(
    layout: Layout, agents: Sequence[str], known: Settled | None = None
) -> Settled | None:
    """Return config.yaml of the last commit in which a person changed it.

    It is empty if only agents changed it in a repository in which people commit, and that of HEAD if only agents commit
    there. None means that HEAD holds no file of the repository. `known` is the answer for an earlier HEAD: then only
    later commits are read, and it is the answer if git fails.
    """
    try:
        tree = own_tree(layout.project)
        git, root = tree.git, tree.path(layout.root) + "/"
        place = tree.path(layout.config)
        head = git.line(
            "rev-parse", "--verify", "--quiet", "HEAD^{commit}", fine=(0, 1)
        )
        if not head or not git.names("ls-tree", "-z", head, "--", root):
            return None
        if (
            known
            and git.line("merge-base", known[0], head, fine=(0, 1, 128)) != known[0]
        ):
            known = None
        span = f"{known[0]}..{head}" if known else head
        commit = _last_of_a_person(git, span, place, agents)
        if commit:
            return head, _file(git, commit, place)
        if known:
            return head, known[1]
        people_commit = _last_of_a_person(git, head, root, agents)
        return head, b"" if people_commit else _file(git, head, place)
    except GitFailed:
        return known


def _last_of_a_person(git: Git, span: str, place: str, agents: Sequence[str]) -> str:
    """Return the last commit that changes a file or folder and whose author and committer are no agents; or nothing."""
    form = "--format=%an <%ae>%x09%cn <%ce>"
    listed = git.run("rev-list", form, span, "--", place).decode("utf-8", "replace")
    lines = listed.split("\n")
    for commit, author in zip(lines[::2], lines[1::2], strict=False):
        if author_state(author, agents) != AGENT:
            return commit.removeprefix("commit ")
    return ""


def _file(git: Git, commit: str, place: str) -> bytes:
    """Return a file of a commit; empty if the commit has none, or something else in its place."""
    for listed in git.names("ls-tree", "-z", commit, "--", place):
        facts, _, name = listed.partition("\t")
        if name == place and facts.startswith(FILE_MODE):
            return git.run("cat-file", "blob", facts.split(" ")[2])
    return b""
