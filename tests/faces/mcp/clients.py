"""Real MCP clients of the SDK against real `rawkomem mcp` processes."""

import os
import re
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import ROOT

TOKEN = "a-token-that-a-test-gives-1234"


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


@contextmanager
def http_server(project, **env: str):
    """A server on a free port: its address and what it said on stderr so far."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rawkomem", "mcp", "--http", "0"],
        cwd=project, env=environment(**env), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        said = process.stderr.readline()
        if "RAWKOMEM_MCP_TOKEN" not in env:
            said += process.stderr.readline()
        yield re.search(r"http://\S+/mcp", said)[0], said
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


@asynccontextmanager
async def over_http(url, token=TOKEN, mode="auto"):
    """A client that knows the token."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


def text_of(result) -> str:
    assert len(result.content) == 1
    return result.content[0].text
