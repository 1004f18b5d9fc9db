"""What an agent adds changes no rank of what people vouch for: in the stores besides SQLite's, on real engines."""

import pytest

from tests.commands import cases
from tests.recall.test_vouched_ranks import check

pytestmark = pytest.mark.stores


@pytest.mark.parametrize("seed", range(cases(40, 1)))
def test_lancedb(tmp_path, seed):
    pytest.importorskip("lancedb", reason="for want of lancedb: make test-stores")
    check(tmp_path, seed, "lancedb")


@pytest.mark.parametrize("seed", range(cases(40, 1)))
def test_postgres(tmp_path, seed, database, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_POSTGRES_URL", database)
    check(tmp_path, seed, "postgres")
