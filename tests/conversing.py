"""Run a command at a pseudo-terminal and type a reply to each of its questions: `python -m tests.conversing FILE`.

FILE is JSON: `words` of the command line, `replies` as pairs of a pattern to wait for and what to type then, and `shown`,
the file for what the terminal shows. Exits as the command does; a command that asks more than that gets no reply.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

LIMIT_S = 60
SIZE = struct.pack("HHHH", 50, 100, 0, 0)  # lines and columns


def main(file: str) -> int:
    with open(file, encoding="utf-8") as stream:
        told = json.load(stream)
    pid, terminal = pty.fork()
    if not pid:
        os.execvp(told["words"][0], told["words"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, SIZE)
    shown = _talk(terminal, [(wait.encode(), reply.encode()) for wait, reply in told["replies"]])
    with open(told["shown"], "wb") as stream:
        stream.write(shown.replace(b"\r\n", b"\n"))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _talk(terminal: int, replies: list[tuple[bytes, bytes]]) -> bytes:
    shown, seen, ends = b"", 0, time.monotonic() + LIMIT_S
    while time.monotonic() < ends:
        ready, _, _ = select.select([terminal], [], [], 1)
        try:
            part = os.read(terminal, 65_536) if ready else None
        except OSError:  # Linux says so when the last program at the terminal has ended
            part = b""
        if part == b"":
            return shown
        shown += part or b""
        if replies and re.search(replies[0][0], shown[seen:]):
            seen = len(shown)
            os.write(terminal, replies.pop(0)[1])
    os.close(terminal)  # the command gets a hang-up
    return shown + b"\nTIMEOUT\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
