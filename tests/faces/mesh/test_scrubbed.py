"""Layer 0 before layer 1 (RFC-0011 §6): what an embedder is given, and what is stored, holds no personal data."""

import asyncio

import pytest
from rawkomem.faces.mesh.api import MemoryContextManager

from tests.conftest import ROOT

MAIL = "ada" + "@" + "lovelace-analytical.org"
KEY = "AKIA" + "Z7Q2M4X8W1C5V9B3"
CARD = "4111 1111 " + "1111 1111"
PHONE = "+1 415 555 " + "2671"
PERSONAL = [MAIL, KEY, CARD, PHONE]


class Listening:
    """The real embedder, and every text that it was given."""

    def __init__(self, embedder):
        self._embedder = embedder
        self.heard: list[str] = []

    def __getattr__(self, name):
        return getattr(self._embedder, name)

    def embed(self, texts):
        self.heard += texts
        return self._embedder.embed(texts)


def listen(mesh) -> list[str]:
    """Everything that this mesh's embedder will be given."""
    index = mesh.repository.core.index
    index._embedder = Listening(index.embedder)
    return index._embedder.heard


@pytest.mark.parametrize("secret", PERSONAL)
def test_nothing_personal_reaches_the_embedder(mesh, secret):
    """§6, §6.3 MUST, Security Considerations MUST: content is scrubbed before it is embedded or compared."""
    heard = listen(mesh)
    record = mesh.add(f"Call the engine room: {secret}", {"rationale": f"said {secret}"})
    assert heard and not any(secret in text for text in heard)
    assert "[REDACTED_" in record.content and secret not in str(record)


def test_nothing_personal_is_stored(mesh, project):
    """§6.3 MUST: nor does it reach the store."""
    mesh.add(f"Write to {MAIL} about the engine")
    for file in (project / ".rawko").rglob("*"):
        assert not file.is_file() or MAIL.encode() not in file.read_bytes(), file


def test_an_exchange_is_scrubbed_before_it_is_compared(project):
    async def talk() -> None:
        manager = MemoryContextManager(db_dir=str(project))
        await manager.initialize()
        heard = listen(manager.mesh.sync)
        prompt = f"Who runs the engine room? Was it {MAIL}? " * 4
        record = await manager.capture_interaction(prompt, f"{'Yes. ' * 98} {MAIL}")  # the cut at 500 goes through it
        assert heard and not any(MAIL in text or MAIL[:7] in text for text in heard)
        assert MAIL[:7] not in record.content
        assert await manager.capture_interaction(prompt, f"{'Yes. ' * 98} {MAIL}") is None
        manager.dispose()

    asyncio.run(talk())


def test_the_patterns_are_documented():
    """§6.3 MUST: the list of patterns is documented; tests/redaction/test_redact.py holds the page to every single rule."""
    page = (ROOT / "docs" / "redaction.md").read_text(encoding="utf-8")
    assert all(f"{word}" in page for word in ("email", "phone", "card", "Keys with a known beginning"))
    assert "redaction.md" in (ROOT / "docs" / "mesh.md").read_text(encoding="utf-8")


def test_a_title_is_not_cut_through_a_secret(mesh):
    record = mesh.add(f"{'The engine needs steam and much more of it, says who writes to ' * 1} {MAIL} every day")
    memory = mesh.repository.get(record.id)
    assert MAIL[:8] not in memory.title
