"""Why a request came to nothing. Messages name a host and never an address in full: paths and queries hold keys."""

from __future__ import annotations

from ..model.errors import RawkoError


class RequestFailed(RawkoError):
    """No usable answer."""


class NotListening(RequestFailed):
    """Nothing answers at the address at all: a local server may have to be started."""


class Blocked(RequestFailed):
    """The address is one that we do not send to, however it is written."""
