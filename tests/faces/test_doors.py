"""Every face obeys the same rules: the table in docs/security.md says what each may do, and is compared with what it does."""

import pytest
from rawkomem.faces.cli.opening import open_repository
from rawkomem.faces.lsp.documents import Shelf
from rawkomem.faces.mesh.api import open_mesh_repository
from rawkomem.faces.mesh.records import MemoryMeshOptions
from rawkomem.faces.web.page_server import PageServer, open_for_page
from rawkomem.hosts.hooks import _open_repository
from rawkomem.hosts.known_hosts import Call
from rawkomem.hosts.person import PERSON
from rawkomem.model.errors import Refused
from rawkomem.repository import Repository

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "security.md"
RULE = "---\nid: mem_1_{name}\ntitle: {name}\n---\n\nText of {name}.\n"


def page_with_code(folder: str) -> Repository:
    """The repository of the page, as it is while a request with the code of the terminal is answered."""
    with PageServer(open_for_page(folder)) as server, server._as_who_asks(server.new_code()):
        repository = Repository.open(folder)
        repository.core.via = server.repository.core.via
    return repository


def at_a_terminal(folder: str) -> Repository:
    """The repository of a command that a person typed; tests/hosts/test_person.py tries real terminals."""
    repository = open_repository(folder)
    repository.core.via = PERSON
    return repository


FACES = {
    "a command at a person's terminal, after a key for each review": at_a_terminal,
    "the page with the code of the terminal": page_with_code,
    "a command elsewhere, or with `--yes`": open_repository,
    "the page without the code": open_for_page,
    "MCP": lambda folder: Repository.open(folder, via="agent", layers=True),
    "a hook of a host": lambda folder: _open_repository(Repository.open(folder).layout, Call("claude", "prompt", {})),
    "the language server": lambda folder: Shelf(Repository.open(folder).layout, print).repository,
    "`memory-mesh`": lambda folder: open_mesh_repository(MemoryMeshOptions(db_dir=folder)),
    'a program with the library, also with `via="person"`': lambda folder: Repository.open(folder, via="person"),
}


def outcome(repository, written, done: str) -> str:
    return "proposed" if repository.core.waits_for_review(written.entry) else done


def adds(repository) -> str:
    stored = repository.add("A new text.", title="New")
    return "vouched" if repository.get(stored.id).vouched else "stored, not vouched"


def purges(repository) -> str:
    try:
        repository.lifecycle.purge("mem_1_gone")
    except Refused:
        return "refused"
    return "done"


ACTIONS = {
    "add": adds,
    "change or delete a vouched memory": lambda repo: outcome(repo, repo.amend("mem_1_rule", body="Other."), "done"),
    "accept a change": lambda repo: outcome(repo, repo.beliefs.decide("mem_1_waiting", True)[0], "done"),
    "end a quarantine, or vouch": lambda repo: outcome(repo, repo.beliefs.review("mem_1_held", "activate")[0], "done"),
    "purge a vouched memory": purges,
}


@pytest.mark.parametrize("face", FACES)
def test_the_table_of_the_faces_says_what_they_do(face, unbelieved, git, memories, project):
    for name in ("rule", "waiting", "gone"):
        (memories / f"{name}.md").write_text(RULE.format(name=name))
    git.commit()
    (memories / "held.md").write_text(RULE.format(name="held"))
    with Repository.open(str(project), via="agent") as agent:
        agent.amend("mem_1_waiting", body="Proposed.")
        agent.beliefs.quarantine("mem_1_held")
    repository = FACES[face](str(project))
    done = [act(repository) for act in ACTIONS.values()]
    repository.close()
    assert table()[face] == done


def test_the_table_names_no_other_face():
    assert [*table()] == [*FACES]


def table() -> dict[str, list[str]]:
    """Return what the page says of each face; a row may name several."""
    _, _, after = PAGE.read_text().partition(f"| face | {' | '.join(ACTIONS)} |\n")
    rows = [row.strip("| ").split(" | ") for row in after.partition("\n\n")[0].splitlines()[1:]]
    return {face: done for faces, *done in rows for face in faces.split("; ")}
