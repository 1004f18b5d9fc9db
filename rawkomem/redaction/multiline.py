"""Finds secrets of several lines: PEM private keys, whole or cut off, and the data of Kubernetes secrets."""

from __future__ import annotations

from .patterns import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Hit = tuple[int, int, str]

DASHES = b"-----"
BEGIN, END = b"-----BEGIN ", b"-----END "
PUTTY, PUTTY_MAC = b"Private-Lines: ", b"Private-MAC: "
MAX_KEY_BYTES = 16_384  # bytes of a cut-off key: an RSA key of 16,384 bits has 12,700
MAX_LABEL_LENGTH = 60  # of the label between the dashes
BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
WRAPPING = b" \t\r\"'`+,;\\>|#*"  # quotes, string concatenation, quoted mail, comments around the lines of a key

KUBERNETES_KIND = r"(?im)^\s*[\"']?kind[\"']?:\s*[\"']?secret[\"']?\s*,?\s*$"
KUBERNETES_DATA = r"(?m)^[\"']?(?:data|stringData)[\"']?:[ \t]*\n((?:[ \t]+[^\n]*(?:\n|$))+)"
KUBERNETES_VALUE = r"(?m)^\s+(?:[\"']?[\w.-]+[\"']?:\s*(?:[>|]-?\s*\n\s*)?)[\"']?([0-9A-Za-z+/]{10,}={0,2})[\"']?\s*$"


def find_private_keys(data: bytes) -> Iterator[Hit]:
    """Yield each whole PEM, PGP or PuTTY private key; a cut-off key up to the last line that belongs to it."""
    yield from _putty_keys(data)
    at, closing = data.find(BEGIN), data.find(END)
    while at >= 0:
        following = data.find(BEGIN, at + 1)
        closing = data.find(END, at) if 0 <= closing < at else closing
        end = _key_end(data, at, closing, following if following >= 0 else len(data))
        if end:
            yield at, end, "private-key"
        at = data.find(BEGIN, end) if end > following >= 0 else following


def _putty_keys(data: bytes) -> Iterator[Hit]:
    """Yield the private lines of each PuTTY key, with its checksum if that is there."""
    at = data.find(PUTTY)
    while at >= 0:
        start = data.find(b"\n", at) + 1 or len(data)
        following = data.find(PUTTY, start)
        limit = min(start + MAX_KEY_BYTES, following if following >= 0 else len(data))
        lines = data.find(PUTTY_MAC, start, limit)
        end = data.find(b"\n", lines) if lines >= 0 else _torn_end(data, start, limit)
        yield at, end if end >= 0 else len(data), "private-key"
        at = following


def _key_end(data: bytes, at: int, closing: int, following: int) -> int:
    """Return the end of the key that starts here; 0 if it is not a private key.

    `closing`: position of the next END line (-1: none); `following`: position of the next BEGIN line.
    """
    close = data.find(DASHES, at + len(BEGIN), at + len(BEGIN) + MAX_LABEL_LENGTH)
    if close < 0 or b"PRIVATE KEY" not in data[at:close]:
        return 0
    close += len(DASHES)
    if close <= closing < following:
        final = data.find(DASHES, closing + len(END), closing + len(END) + MAX_LABEL_LENGTH)
        return final + len(DASHES) if final >= 0 else closing + len(END)
    return _torn_end(data, close, following)


def _torn_end(data: bytes, at: int, limit: int) -> int:
    """Return the end of the lines before `limit` that can belong to a key without an END line."""
    end = at
    for line in data[at : min(limit, at + MAX_KEY_BYTES)].replace(b"\\n", b" \n").split(b"\n"):
        body = line.strip(WRAPPING)
        if body and not _of_a_key(body):
            break
        at += len(line) + 1
        end = at - 1 if body else end
    return min(end, len(data))


def _of_a_key(line: bytes) -> bool:
    return BASE64.issuperset(line) or line.startswith((b"Proc-Type:", b"DEK-Info:", b"Version:", b"Comment:"))


def find_kubernetes(data: bytes) -> Iterator[Hit]:
    """Yield the base64 values under `data:` of a Kubernetes secret."""
    if b"data" not in data or b"kind" not in data or not compiled(KUBERNETES_KIND).search(data):
        return
    for block in compiled(KUBERNETES_DATA).finditer(data):
        for value in compiled(KUBERNETES_VALUE).finditer(data, *block.span(1)):
            yield *value.span(1), "kubernetes-secret"
