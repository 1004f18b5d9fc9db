"""Record docs/images/first-minutes.svg: run commands on this project's memories in a pseudo-terminal, and draw them.

It needs no service and no font: the picture is text in an SVG, with colors for light and dark pages. It appears step by
step, unless the reader prefers reduced motion.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

PICTURE = (
    Path(__file__).resolve().parent.parent / "docs" / "images" / "first-minutes.svg"
)
PROJECT = Path(__file__).resolve().parent.parent
# A session of an agent in this project. In a connected host, the hooks learn from it after each turn.
SESSION = (
    ("user", "run the tests before you commit"),
    ("assistant", "I run `pytest`. That runs all lanes and takes an hour."),
    (
        "user",
        "no, never run bare pytest here, use make suite: pytest alone also runs the slow lanes",
    ),
    ("assistant", "Understood: make suite."),
)
COMMANDS = (
    "rawkomem search 'why not the standard sqlite3 module' -n 2",
    "rawkomem inject 'the pre-commit hook should archive memories that nobody used'",
    "rawkomem learn session.jsonl",
    "rawkomem drafts keep {draft}",
    "rawkomem inject 'run the tests, then commit'",
)
FOLDER = "rawkomem"
COLUMNS = 116
LINE, CHARACTER, MARGIN, BAR = (
    19,
    8.05,
    18,
    34,
)  # pixels: line height, character width, margin, title bar
# seconds until the first command, and between two commands
FIRST_S, BETWEEN_S = 0.6, 2.4
SGR = re.compile(r"\x1b\[([0-9;]*)m")
OTHER_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]")
CLASSES = {
    "1": "bold",
    "2": "dim",
    "31": "red",
    "32": "green",
    "33": "yellow",
    "36": "cyan",
}
STYLE = """
svg { --page: #ffffff; --bar: #f0f1f3; --edge: #d5d8dd; --ink: #24292f; --dim: #6e7781; --green: #1a7f37;
  --yellow: #9a6700; --red: #cf222e; --cyan: #0b7285; }
@media (prefers-color-scheme: dark) { svg { --page: #15191f; --bar: #1f252d; --edge: #333b46; --ink: #dfe5ec;
  --dim: #8b96a3; --green: #56d364; --yellow: #e3b341; --red: #ff7b72; --cyan: #56c8d8; } }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: var(--ink);
  white-space: pre; }
.bold { font-weight: 600; } .dim { fill: var(--dim); } .green { fill: var(--green); } .yellow { fill: var(--yellow); }
.red { fill: var(--red); } .cyan { fill: var(--cyan); }
@keyframes appear { from { opacity: 0; } to { opacity: 1; } }
@media (prefers-reduced-motion: no-preference) { .step { animation: appear 0.3s both; } }
"""


def main() -> None:
    """Run the commands and draw the picture."""
    with tempfile.TemporaryDirectory() as home:
        prepare(home)
        steps: list[tuple[str, str]] = []
        for command in COMMANDS:
            drafts = [
                id for _, output in steps for id in re.findall(r"drf_\w+", output)
            ]
            typed = command.format(draft=drafts[-1] if drafts else "")
            steps.append((typed, run(typed, home)))
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(draw(steps), encoding="utf-8")
    print(f"{PICTURE}: {PICTURE.stat().st_size} bytes")


def prepare(home: str) -> None:
    """Make a repository with this project's own memories and the session."""
    project = Path(home, FOLDER)
    shutil.copytree(
        PROJECT / ".rawko", project / ".rawko", ignore=shutil.ignore_patterns("local")
    )
    lines = [
        {
            "type": who,
            "sessionId": "1",
            "timestamp": f"2026-11-16T10:0{number}:00Z",
            "message": {"role": who, "content": text},
        }
        for number, (who, text) in enumerate(SESSION)
    ]
    (project / "session.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines)
    )
    identity = ["-c", "user.name=Alice", "-c", "user.email=alice@example.org"]
    for words in (
        ["init", "-q"],
        ["add", "-A", ".rawko"],
        [*identity, "commit", "-qm", "memories"],
    ):
        subprocess.run(["git", *words], cwd=project, check=True)
    run("rawkomem index sync", home)


def run(command: str, home: str) -> str:
    """Return what a command prints to a terminal in that repository; exit if it fails."""
    project = os.path.join(home, FOLDER)
    around = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith("RAWKOMEM_")
        },
        "XDG_CONFIG_HOME": os.path.join(home, "config"),
        "XDG_CACHE_HOME": os.path.join(home, "cache"),
        "XDG_DATA_HOME": os.path.join(home, "data"),
        "RAWKOMEM_EMBEDDER": "static",
        "HOME": home,  # the picture must not show the real user's paths
        "GIT_AUTHOR_NAME": "Alice",
        "PYTHONIOENCODING": "utf-8",
        "PATH": f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}",
    }
    around.pop("NO_COLOR", None)
    host, guest = pty.openpty()
    subprocess.run(["stty", "cols", str(COLUMNS)], stdin=guest, check=False)
    process = subprocess.Popen(
        ["bash", "-ec", command],
        cwd=project,
        env=around,
        stdin=guest,
        stdout=guest,
        stderr=guest,
    )
    os.close(guest)
    told = b""
    while True:
        try:
            part = os.read(host, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        told += part
    os.close(host)
    if process.wait():
        raise SystemExit(f"{command} failed:\n{told.decode()}")
    return OTHER_ESCAPES.sub("", told.decode().replace("\r\n", "\n"))


def draw(steps: list[tuple[str, str]]) -> str:
    """Return the SVG."""
    blocks: list[str] = []
    row = 0
    for number, (command, output) in enumerate(steps):
        lines = [
            *prompt(command),
            *(
                line
                for text in output.rstrip("\n").split("\n")
                for line in wrapped(text)
            ),
            "",
        ]
        drawn = "\n".join(
            draw_line(line, row + at) for at, line in enumerate(lines) if line
        )
        blocks.append(
            f'<g class="step" style="animation-delay: {FIRST_S + number * BETWEEN_S:g}s">\n{drawn}\n</g>'
        )
        row += len(lines)
    width, height = round(COLUMNS * CHARACTER + 2 * MARGIN), BAR + row * LINE + MARGIN
    dots = "".join(
        f'<circle cx="{MARGIN + 18 * n}" cy="17" r="5.5" fill="var(--edge)"/>'
        for n in range(3)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'aria-label="A terminal: a memory is found and injected; a correction is learned and injected">\n'
        f"<style>{STYLE}</style>\n"
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="9" fill="var(--page)" '
        f'stroke="var(--edge)"/>\n<path d="M1 {BAR - 4}V9a8 8 0 0 1 8-8h{width - 18}a8 8 0 0 1 8 8v{BAR - 13}z" '
        f'fill="var(--bar)"/>\n{dots}\n' + "\n".join(blocks) + "\n</svg>\n"
    )


def prompt(command: str) -> list[str]:
    """Return the lines of a command at a prompt; a long command is broken into several lines."""
    lines, at = [], ""
    for word in re.findall(r"'[^']*'|\S+", command):
        if at and len(at) + len(word) + 3 > COLUMNS:
            lines.append(f"{at} \\")
            at = "   "
        at = f"{at} {word}" if at else word
    first, *rest = [*lines, at]
    return [
        f"\x1b[32m$\x1b[0m \x1b[1m{first}\x1b[0m",
        *(f"\x1b[1m{line}\x1b[0m" for line in rest),
    ]


def wrapped(line: str) -> list[str]:
    """Return a line of output as a terminal wraps it; a long line loses its colors."""
    if len(SGR.sub("", line)) <= COLUMNS:
        return [line]
    plain = SGR.sub("", line)
    return [plain[at : at + COLUMNS] for at in range(0, len(plain), COLUMNS)]


def draw_line(line: str, row: int) -> str:
    """Return one line of text as SVG, with its colors."""
    spans, style = [], ""
    for number, part in enumerate(SGR.split(line)):
        if number % 2:
            style = CLASSES.get(part, "")
        elif part:
            spans.append(
                f'<tspan class="{style}">{escape(part)}</tspan>'
                if style
                else escape(part)
            )
    y = BAR + MARGIN + row * LINE
    return f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{"".join(spans)}</text>'


if __name__ == "__main__":
    main()
