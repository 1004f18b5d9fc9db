"""A project with the sample's memories."""

from pathlib import Path

import pytest

from tests.faces.lsp.sample import LIMITS, RETRY


@pytest.fixture
def stored(memories) -> Path:
    (memories / "retry-with-jitter.md").write_text(RETRY, encoding="utf-8")
    (memories / "queue-limits.md").write_text(LIMITS, encoding="utf-8")
    return memories.parent.parent
