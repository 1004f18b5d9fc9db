"""The webhook sink against real servers on the loopback: delivery, back-off, giving up, and the way through a write."""

import os
import time
from pathlib import Path

import pytest
from rawkomem.exchange.sinks import PAUSES_MIN, Flushed, checked_webhook, send_queued, wake_sender
from rawkomem.files.layout import user_config
from rawkomem.files.private import lock
from rawkomem.files.records import read
from rawkomem.model.user_settings import WebhookSettings
from rawkomem.model.values import replace
from rawkomem.net import Blocked, RequestFailed

from tests.embed.server import Answer, Server
from tests.exchange.sinks.helpers import STORED, client, configure, event, webhook

OK = Answer({})
KEY = "hook-Very-Secret-0123456789"


def sent(server: Server) -> list[str]:
    return [request["title"] for _, _, request in server.seen]


def until(true, seconds: float = 120.0) -> bool:
    """Wait for the background."""
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(true())


# --- one run of the sender


def test_events_arrive_in_order_with_key_and_idempotency_key(layout, queue, monkeypatch):
    monkeypatch.setenv("HOOK_KEY", KEY)
    queue.add([event(layout, number) for number in (1, 2, 3)])
    keys = [item.event["key"] for item in queue.waiting()]
    with Server(OK) as server:
        assert send_queued(layout, client(webhook(server.url, key_env="HOOK_KEY")), print) == Flushed(3, 0, 0)
        assert sent(server) == ["Number 1", "Number 2", "Number 3"]
        assert [headers["Idempotency-Key"] for _, headers, _ in server.seen] == keys
        assert [request["key"] for _, _, request in server.seen] == keys
        assert server.seen[0][1]["Authorization"] == f"Bearer {KEY}"
    assert queue.waiting() == []


def test_429_then_200(layout, queue):
    queue.add([event(layout, 1)])
    with Server(Answer({}, 429, {"Retry-After": "0"}), OK) as server:
        assert send_queued(layout, client(webhook(server.url)), print) == Flushed(1, 0, 0)
        assert len({headers["Idempotency-Key"] for _, headers, _ in server.seen}) == 1 and len(server.seen) == 2


def test_an_endless_answer_does_not_make_a_delivery_fail(layout, queue):
    queue.add([event(layout, 1), event(layout, 2)])
    with Server(Answer({}, endless=True)) as server:
        assert send_queued(layout, client(webhook(server.url)), print) == Flushed(2, 0, 0)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer({}, delay=30), "did not answer within 0.2 s"),
        (Answer({}, 302, {"Location": "http://169.254.169.254/latest/meta-data/"}), "points elsewhere"),
        (Answer({}, 503), "answered 503"),
        (Answer({}, 401), "answered 401"),
        (Answer(status=0), "broke the connection off"),
    ],
    ids=["hangs", "redirects", "is busy", "wants a key", "drops"],
)
def test_a_server_that_does_not_take_events_keeps_them_waiting(layout, queue, answer, said):
    queue.add([event(layout, number) for number in (1, 2, 3)])
    with Server(answer) as server:
        flushed = send_queued(layout, client(webhook(server.url), 0.2), print)
        assert (flushed.sent, flushed.dropped, flushed.waiting) == (0, 0, 3) and said in flushed.failure
        assert {request["title"] for _, _, request in server.seen} == {"Number 1", "Number 2"}  # then it stops
    assert [item.tries for item in queue.waiting()] == [1, 1, 0]


def test_nobody_listens(layout, queue):
    with Server(OK) as server:
        url = server.url
    queue.add([event(layout, 1)])
    flushed = send_queued(layout, client(webhook(url)), print)
    assert flushed.waiting == 1 and "cannot reach 127.0.0.1" in flushed.failure


def test_tries_are_spaced_out_and_end(layout, queue, monkeypatch):
    """Each failure makes the next wait longer; after the last one the event is given up with one line."""
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-01-01T00:00:00Z")
    queue.add([event(layout, 1)])
    warnings: list[str] = []
    minute = 0
    with Server(Answer({}, 500)) as server:
        to = client(webhook(server.url))
        for pause in PAUSES_MIN:
            assert send_queued(layout, to, warnings.append, due_only=True).waiting == 1
            seen = len(server.seen)
            minute += pause
            for at, tried in ((minute - 1, False), (minute, True)):
                monkeypatch.setenv("RAWKOMEM_NOW", f"2026-01-{1 + at // 1440:02}T{at // 60 % 24:02}:{at % 60:02}:00Z")
                if not tried:
                    send_queued(layout, to, warnings.append, due_only=True)
                    assert len(server.seen) == seen
        assert warnings == []
        assert send_queued(layout, to, warnings.append, due_only=True) == Flushed(0, 1, 0, "127.0.0.1 answered 500: {}")
    assert warnings == ["webhook: store of mem_1 given up (try 8): 127.0.0.1 answered 500: {}"]
    assert queue.dropped() == 1 and '"title": "Number 1"' in read(layout, "SELECT event FROM sink_dropped")[0][0]


def test_a_server_that_names_a_time_is_left_alone_until_then(layout, queue, monkeypatch):
    monkeypatch.setenv("RAWKOMEM_NOW", "2026-01-01T00:00:00Z")
    queue.add([event(layout, 1)])
    with Server(Answer({}, 429, {"Retry-After": "7200"})) as server:
        send_queued(layout, client(webhook(server.url)), print)
    assert queue.waiting()[0].again == 1_767_225_600_000 + 7_200_000


def test_an_event_that_is_refused_for_good_is_given_up_at_once_and_the_others_go_on(layout, queue):
    queue.add([event(layout, number) for number in (1, 2, 3, 4, 5)])
    warnings: list[str] = []
    refusal = Answer({"error": "bad"}, 422)
    with Server(refusal, refusal, refusal, OK) as server:
        flushed = send_queued(layout, client(webhook(server.url)), warnings.append)
        assert (flushed.sent, flushed.dropped, flushed.waiting) == (2, 3, 0) and len(server.seen) == 5
    assert len(warnings) == 3 and queue.dropped() == 3 and 'answered 422: {"error": "bad"}' in warnings[0]


def test_events_added_while_sending_are_sent_too(layout, queue):
    queue.add([event(layout, 1)])

    def add_one(request: dict) -> dict:
        if request["title"] == "Number 1":
            queue.add([event(layout, 2)])
        return {}

    with Server(Answer(add_one)) as server:
        assert send_queued(layout, client(webhook(server.url)), print, due_only=True) == Flushed(2, 0, 0)


def test_a_second_sender_leaves_the_work_to_the_first(layout, queue):
    queue.add([event(layout, 1)])
    with Server(OK) as server, lock(layout, "sender"):
        assert send_queued(layout, client(webhook(server.url)), print, due_only=True) == Flushed(0, 0, 1)
        assert server.seen == [] and not wake_sender(layout)


# --- settings


@pytest.mark.parametrize(
    ("settings", "kind", "said"),
    [
        (WebhookSettings("http://example.com/"), Blocked, "unencrypted"),
        (WebhookSettings("https://example.com:25/"), Blocked, "port 25"),
        (WebhookSettings("https://user:pw@example.com/"), Blocked, "user name or password"),
        (WebhookSettings("example.com/hook"), Blocked, "does not start with http"),
        (WebhookSettings("https://example.com/", key_env="NO_SUCH_VARIABLE"), RequestFailed, "NO_SUCH_VARIABLE is not set"),
        (WebhookSettings("https://example.com/", key_env=KEY), RequestFailed, "that keys.webhook names is not set"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be(settings, kind, said):
    with pytest.raises(kind, match=said) as caught:
        checked_webhook(settings)
    assert caught.value.hint and "pw@" not in caught.value.message and KEY not in caught.value.message


def test_this_machine_is_out_of_reach_unless_the_user_allows_it(layout, queue):
    queue.add([event(layout, 1)])
    for url in ("https://127.0.0.1/", "https://localhost/", "https://169.254.169.254/"):
        flushed = send_queued(layout, client(WebhookSettings(url)), print)
        assert flushed.waiting == 1 and ("is blocked" in flushed.failure)
    assert "is blocked" in send_queued(layout, client(webhook("https://169.254.169.254/")), print).failure


def test_a_repository_cannot_set_up_a_sink(project, repository):
    with Server(OK) as server:
        config = f"sinks: {{webhook: '{server.url}', allowLocal: yes, folder: '{project}/log'}}\n"
        (project / ".rawko" / "config.yaml").write_text(config)
        repository.add(STORED)
        assert server.seen == []
    assert not (project / "log").exists() and repository.sinks.list() == []
    assert sum("may be set in your own config only" in warning for warning in repository.warnings) == 3


# --- through a write


def test_a_write_reaches_the_webhook_in_the_background(project, repository, layout, queue):
    (project / "json.py").write_text(f"open({str(project / 'mark')!r}, 'w')")  # must not be imported by the sender
    with Server(Answer({}, delay=0.5)) as server:
        configure(webhook=server.url, allowLocal="true", events="store, supersede")
        id = repository.add(replace(STORED, body="token ghp_" + "Ab1" * 12)).entry.id
        repository.delete(id)
        assert until(lambda: server.seen and not queue.waiting())
        _, _, request = server.seen[0]
        assert (request["event"], request["memory"]) == ("store", id) and "Ab1" not in request["text"]
        assert len(server.seen) == 1  # archive is not wanted
    assert not (project / "mark").exists()
    assert not any("sink" in warning for warning in repository.warnings)


def test_a_long_lived_process_sends_what_is_due(repository, layout, queue):
    queue.add([event(layout, 1), event(layout, 2)])
    later = replace(queue.waiting()[1], tries=1, again=2**50, failure="not yet")
    queue.postpone(later)
    with Server(OK) as server:
        configure(webhook=server.url, allowLocal=True)
        repository.core.wake_sinks()
        assert until(lambda: len(queue.waiting()) == 1) and sent(server) == ["Number 1"]
        assert not wake_sender(layout)  # nothing is due


def test_a_server_that_hangs_does_not_hold_a_write_up(repository, queue):
    with Server(Answer({}, delay=30)) as server:
        configure(webhook=server.url, allowLocal=True)
        repository.add(STORED)
        assert len(queue.waiting()) == 1
        assert until(lambda: server.seen)


def test_a_webhook_that_is_set_up_wrongly_costs_a_warning_and_no_event(repository, queue):
    configure(webhook="https://example.com/", key="NO_SUCH_VARIABLE")
    repository.add(STORED)
    (warning,) = repository.warnings
    assert (
        "the memory is stored, but the webhook sink failed: the environment variable NO_SUCH_VARIABLE is not set"
        in warning
    )
    assert len(queue.waiting()) == 1


def test_a_broken_config_does_not_make_a_write_fail(repository):
    os.makedirs(os.path.dirname(user_config()), exist_ok=True)
    Path(user_config()).write_text("lessons: {minConfidence: many}\n")
    assert repository.add(STORED).entry.path == "memories/why-apsw.md"
    assert "lessons.minConfidence must be a number from 0 to 1" in repository.warnings[0]


# --- the command


def test_status_and_flush(rawkomem, project, queue, layout, monkeypatch):
    assert "no sinks are set up" in rawkomem("index", "sinks", "status").stderr
    assert rawkomem("index", "sinks", "flush").stdout == "0 sent, 0 waiting, 0 dropped\n"
    monkeypatch.setenv("HOOK_KEY", KEY)
    queue.add([event(layout, 1)])
    with Server(Answer({"said": KEY}, 403), OK) as server:
        configure(webhook=f"{server.url}/{KEY}", allowLocal=True, folder="log", key="HOOK_KEY")
        failed = rawkomem("index", "sinks", "flush", check=1)
        assert failed.stdout == "0 sent, 1 waiting, 0 dropped\n"
        assert failed.stderr == 'rawkomem: 127.0.0.1 answered 403: {"said": "(key)"}\n'
        status = rawkomem("index", "sinks", "status", check=1)
        assert f"webhook  127.0.0.1:{server.server_port}  store, supersede" in status.stdout
        assert "1 waiting" in status.stdout
        assert "webhook: 127.0.0.1 answered 403" in status.stderr and "markdown: sinks.folder" in status.stderr
        assert rawkomem("index", "sinks", "flush", "--due", "--json").stdout.count('"sent": 0') == 1
        assert '"sent": 1' in rawkomem("index", "sinks", "flush", "--json").stdout
        assert KEY not in failed.stderr + status.stdout + status.stderr


def test_a_secret_in_the_address_is_in_no_file_of_the_repository(rawkomem, project, queue, layout):
    queue.add([event(layout, 1)])
    with Server(Answer({"path": f"/hooks/{KEY}"}, 400)) as server:
        configure(webhook=f"{server.url}/{KEY}", allowLocal=True)
        rawkomem("index", "sinks", "flush", check=1)
    found = [path for path in (project / ".rawko").rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert found == [] and queue.dropped() == 1
