"""Real MCP clients of the SDK against real `rawkomem mcp` processes."""

import os
import sys
from contextlib import asynccontextmanager

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.conftest import ROOT


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


@asynccontextmanager
async def over_stdio(project, mode="auto"):
    """A client that started the server as a host does."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "rawkomem", "mcp"], cwd=str(project), env=environment()
    )
    async with Client(stdio_client(server), mode=mode) as client:
        yield client


def text_of(result) -> str:
    assert len(result.content) == 1
    return result.content[0].text
