"""Check the settings of sinks, without loading an HTTP client."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...model.errors import BadInput
from ...net.conceal import read_key
from ...net.guard import PUBLIC_ONLY, Policy, check_key, check_target, user_named
from ...net.url import read_url

if TYPE_CHECKING:
    from ...files.layout import Layout
    from ...model.user_settings import MarkdownSettings, WebhookSettings


def checked_folder(settings: MarkdownSettings, layout: Layout) -> str:
    """Return the folder of the log; raise BadInput if it is relative or inside the repository."""
    folder = os.path.expanduser(settings.folder)
    if not os.path.isabs(folder):
        raise BadInput("sinks.folder is not a full path", "write it as /home/you/log or ~/log")
    inside = os.path.realpath(layout.root) + os.sep
    if (os.path.realpath(folder) + os.sep).startswith(inside):
        raise BadInput("sinks.folder is inside the repository", "choose a folder outside .rawko")
    return folder


def checked_webhook(settings: WebhookSettings) -> tuple[Policy, str]:
    """Return the network policy and the key of the webhook; raise a RawkoError if its settings are invalid."""
    target = read_url(settings.url)
    policy = user_named(settings.url) if settings.allow_local else PUBLIC_ONLY
    key = read_key(settings.key_env, "keys.webhook")
    check_target(target, policy)
    check_key(target, key)
    return policy, key
