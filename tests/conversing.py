"""Run a command at a pseudo-terminal and type a reply to each of its questions: `python -m tests.conversing FILE`.

FILE is JSON: `words` of the command line, `replies` as pairs of a pattern to wait for and what to type then, and `shown`,
the file for what the terminal shows. Prints the exit code and the seconds that the command took. A command that asks
more than that gets no reply, and is hung up after `limit_s` seconds.
"""

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
from pathlib import Path

LIMIT_S = 240
REACTION_S = 0.2  # Python loses an interrupt that comes between a prompt and the wait for input
SIZE = struct.pack("HHHH", 50, 100, 0, 0)  # lines and columns


def main(file: str) -> None:
    with open(file, encoding="utf-8") as stream:
        told = json.load(stream)
    started = time.monotonic()
    Path("/proc/self/comm").write_text("konsole")  # terminal emulators make the terminals of people
    pid, terminal = pty.fork()
    if not pid:
        os.execvp(told["words"][0], told["words"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, SIZE)
    replies = [(wait.encode(), reply.encode()) for wait, reply in told["replies"]]
    shown = _talk(terminal, replies, started + told.get("limit_s", LIMIT_S))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with open(told["shown"], "wb") as stream:
        stream.write(shown.replace(b"\r\n", b"\n"))
    print(code, time.monotonic() - started)


def _talk(terminal: int, replies: list[tuple[bytes, bytes]], ends: float) -> bytes:
    shown, seen = b"", 0
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
            time.sleep(REACTION_S)
            os.write(terminal, replies.pop(0)[1])
    os.close(terminal)  # the command gets a hang-up
    return shown + b"\nTIMEOUT\n"


if __name__ == "__main__":
    main(sys.argv[1])
