"""Fixtures of the sinks."""

import pytest
from rawkomem.exchange.sinks import SinkQueue


@pytest.fixture
def queue(layout):
    """What waits for the webhook."""
    return SinkQueue(layout)
