"""Fixtures of the sinks."""

import pytest
from rawkomem.exchange.sinks import SinkQueue

from tests.exchange.sinks.helpers import layout_of


@pytest.fixture
def layout(project):
    """Where the repository of `project` lies."""
    return layout_of(project)


@pytest.fixture
def queue(layout):
    """What waits for the webhook."""
    return SinkQueue(layout)
