"""Who committed each entry, asked of git directly, to compare with what the index says."""

from collections.abc import Sequence

from rawkomem.files.git_folder import git_stamp
from rawkomem.files.layout import Layout, is_text_path, read_bytes, sweep
from rawkomem.files.reading import read_data
from rawkomem.git.authorship import History, digests_in, read_history
from rawkomem.state.trust import AGENTS, HIDDEN_AUTHOR, author_state


def provenance_of(layout: Layout, agents: Sequence[str] = AGENTS) -> tuple[dict[str, str], str]:
    """Return entry id → kind of author for every entry of a repository, and the git stamp at which this is valid."""
    stamp = git_stamp(layout.root)
    history = read_history(layout) if stamp else History(why="no git")
    committed = {digest for digests in history.blobs.values() for digest in digests}
    found: dict[str, str] = {}
    for path in filter(is_text_path, sweep(layout).paths):
        try:
            data = read_bytes(layout.path(path))
        except OSError:
            continue
        absent = HIDDEN_AUTHOR if history.why or path.partition("/")[0] in history.ignored else ""
        authors = [
            history.authors.get(digest, HIDDEN_AUTHOR) if digest in committed else absent
            for digest in digests_in(data, path)
        ]
        entries = read_data(data, path, advice=False).entries
        authors += [HIDDEN_AUTHOR] * (len(entries) - len(authors))  # an older log is one block with several experiences
        found |= {entry.id: author_state(author, agents) for entry, author in zip(entries, authors, strict=True)}
    return found, stamp
