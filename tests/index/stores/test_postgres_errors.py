"""What goes wrong with a database is said in one line that tells what to do, and never tells the password."""

import logging
import subprocess
import sys
from urllib.parse import quote

import pytest
from rawkomem.model.errors import BadInput, RawkoError

from tests.conftest import ROOT
from tests.index.stores.postgres_server import PASSWORD
from tests.index.stores.store_contract import DIMS, document

pytestmark = pytest.mark.stores
ODD = "p@ss:w/rd?#%41"


@pytest.fixture
def failure(server, caplog, capsys):
    """Opens a store that cannot be opened; returns what is said, having made sure that it is fit to be said."""
    from rawkomem.index.stores.plugins import open_postgres

    def fail(url: str, secret: str = PASSWORD) -> str:
        caplog.set_level(logging.DEBUG)
        with pytest.raises(RawkoError) as caught:
            open_postgres(url, "repository", "clone", DIMS).close()
        error = caught.value
        assert error.hint and "\n" not in error.message + error.hint
        printed = capsys.readouterr()
        everything = [error.message, error.hint, repr(error), repr(error.args), caplog.text, printed.out, printed.err]
        everything += [repr(error.__cause__), repr(error.__context__) if not error.__suppress_context__ else ""]
        assert not any(secret in text for text in everything)
        return f"{type(error).__name__}: {error.message} ({error.hint})"

    return fail


def test_a_host_that_does_not_exist(failure):
    assert "cannot reach" in failure(f"postgresql://owner:{PASSWORD}@nowhere.invalid/team")


def test_tls_is_as_the_url_says(failure, server):
    """This server has no certificate: who asks for TLS gets no connection in the clear instead."""
    assert "no secure connection" in failure(server.url() + "?sslmode=require")


def test_a_user_without_rights(failure, server):
    name = server.new_database("not_mine").rsplit("/", 1)[1]
    server.admin("DROP ROLE IF EXISTS guest", f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
    server.admin("CREATE EXTENSION vector", database=name)
    assert "lacks rights" in failure(server.url(name, "guest"))


def test_pgvector_that_this_user_may_not_switch_on(failure, server):
    name = server.new_database("bare").rsplit("/", 1)[1]
    server.admin("DROP ROLE IF EXISTS owner_of_bare", f"CREATE ROLE owner_of_bare LOGIN PASSWORD '{PASSWORD}'")
    server.admin(f"ALTER DATABASE {name} OWNER TO owner_of_bare")
    said = failure(server.url(name, "owner_of_bare"))
    assert "pgvector is not switched on" in said and "CREATE EXTENSION vector" in said


def test_a_server_without_pgvector(failure, server, tmp_path):
    name = server.new_database("plain").rsplit("/", 1)[1]
    server.admin(f"ALTER DATABASE {name} SET extension_control_path = '{tmp_path}'")
    assert "the server has no pgvector" in failure(server.url(name))


def test_another_encoding(failure, server):
    server.admin("DROP DATABASE IF EXISTS latin (FORCE)", "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    assert "encoded in LATIN1" in failure(server.url("latin"))


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{ODD}@host/db",
        "postgresql://me:s3cr3t/rest@host/db",
        "postgresql://me:s3cr3t@rest@host/db",
        "postgresql://me:s3cr3t?rest@host/db",
        "postgresql://me:s3cr3t%zz@host/db",
        "postgresql://me:s3cr3t@host/db?nonsense=s3cr3t",
        "postgresql://me:s3cr3t/team",
        "postgresql://me:s3cr3t",
        "host=here password='s3cr3t",
        "s3cr3t",
    ],
)
def test_a_url_that_cannot_be_read_is_not_quoted(failure, url):
    said = failure(url, "s3cr3t")
    assert said.startswith(BadInput.__name__) and "cannot be read" in said
    assert "w/rd" not in said and "rest" not in said


def test_an_odd_password_works_when_it_is_encoded(server, database):
    from rawkomem.index.stores.plugins import open_postgres

    name = database.rsplit("/", 1)[1]
    server.admin("DROP ROLE IF EXISTS odd", f"CREATE ROLE odd SUPERUSER LOGIN PASSWORD '{ODD}'")
    open_postgres(server.url(name, "odd", quote(ODD, safe="")), "r", "c", DIMS).close()
    server.admin("DROP OWNED BY odd CASCADE", "DROP ROLE odd", database=name)


def test_a_lost_connection_is_replaced(database, server, monkeypatch):
    """Between two questions, and in the middle of a write: all is written on the next."""
    from rawkomem.index.stores.plugins import open_postgres
    from rawkomem.index.stores.postgres import store as postgres_store

    store = open_postgres(database, "r", "c", DIMS)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
    store.put([document("a", "apple", digest="1")])
    store.commit()
    server.admin(cut, database=database.rsplit("/", 1)[1])
    assert store.held() == {"a": "1"}
    once, put = iter([cut]), postgres_store.put_versions

    def put_and_lose(*given):
        put(*given)
        for sql in once:
            server.admin(sql, database=database.rsplit("/", 1)[1])

    monkeypatch.setattr(postgres_store, "put_versions", put_and_lose)
    store.put([document("b", "banana", digest="2")])
    store.drop(["a"])
    store.commit()
    assert next(once, None) is None and store.held() == {"b": "2"}
    store.close()


def test_the_package_is_missing():
    """The extra is optional: who lacks it is told its name."""
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from rawkomem.model.errors import BadInput\n"
        "from rawkomem.index.stores.plugins import open_postgres\n"
        "try:\n    open_postgres('postgresql://host/db', 'r', 'c', 8)\n"
        "except BadInput as error:\n    print(error.message, error.hint)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.startswith("the postgres store needs psycopg run: "), done.stderr
    assert "install 'psycopg[" in done.stdout
