"""What docs/mcp.md offers for copying can be read by a host, and starts the server."""

import json
import re

from tests.conftest import ROOT


def test_the_entry_for_other_hosts_starts_the_server():
    text = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    entry = json.loads(snippet)["mcpServers"]["rawkomem"]
    assert [entry["command"], *entry["args"]] == ["rawkomem", "mcp"]
