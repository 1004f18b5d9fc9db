"""Entries, events and settings for the tests of sinks."""

import json
import os
from pathlib import Path

from rawkomem.exchange.sinks import Event, checked_webhook, events_of
from rawkomem.files.layout import Layout, user_config
from rawkomem.model.entries import Entry
from rawkomem.model.user_settings import WebhookSettings
from rawkomem.net import Bounds, Client

STORED = Entry(kind="memory", id="mem_1_aaaaaa", title="Why apsw", body="Because.", at=1_769_164_200_000, by="alice")


def layout_of(project: Path) -> Layout:
    return Layout(str(project / ".rawko"))


def event(layout: Layout, number: int = 1, **more) -> Event:
    entry = Entry(**{"id": f"mem_{number}", "title": f"Number {number}", "at": number, "body": "text", **more})
    return events_of(layout, "add", [entry])[0]


def webhook(url: str, **more) -> WebhookSettings:
    """A webhook on this machine, which the user allows."""
    return WebhookSettings(url=url, **{"allow_local": True, **more})


def client(settings: WebhookSettings, seconds: float = 5.0) -> Client:
    """As the sender's, in a hurry."""
    policy, key = checked_webhook(settings)
    return Client(settings.url, policy, key, Bounds(seconds=seconds, answer=1000, pauses=(0.01,)))


def configure(key: str = "", **sinks: object) -> None:
    """Write the user's own config."""
    os.makedirs(os.path.dirname(user_config()), exist_ok=True)
    Path(user_config()).write_text(json.dumps({"sinks": sinks, "keys": {"webhook": key}}))  # JSON is YAML
