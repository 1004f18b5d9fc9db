"""Makes a memory's text safe to stand in a prompt: it stays readable, and it stays inside its own item.

Memories are data, never instructions. Nothing here claims to stop a model from being talked into something; it makes
sure that a text cannot pass for the frame around it: no heading, no metadata line, no role, no closing tag of ours.
"""

from __future__ import annotations

from .clean import clean, one_line

ROLES = ("system", "user", "assistant", "human", "developer", "tool", "ai", "instruction", "instructions")
FRAME = (
    "*importance",
    "*discovered",
    "*provenance",
    "*caution",
    "*found",
    "**importance",
    "**discovered",
    "[memory context]",
    "[attention directive]",
)
TOKENS = (  # of chat templates; broken in the middle
    ("<|", "<\\|"), ("|>", "\\|>"), ("[INST]", "[\\INST]"), ("[/INST]", "[\\/INST]"), ("<<SYS>>", "<\\<SYS>>"),
    ("<</SYS>>", "<\\</SYS>>"), ("</s>", "<\\/s>"),
)  # fmt: skip
TAGS = ("memory", "memories", "background", "system", "user", "assistant", "human", "tool", "instructions", "context")
TITLE_LENGTH = 120


def safe_title(title: str) -> str:
    """Return one line of at most 120 characters that starts no heading, list, quote or code."""
    line = _break_tags(_break_tokens(one_line(title, TITLE_LENGTH)))
    return _defuse(line.lstrip("#>-*`~=| \\").replace("`", "'")) or "untitled"


def safe_body(text: str) -> str:
    """Return the body with everything defused that could be taken for the frame, and every code fence closed."""
    lines: list[str] = []
    fence = ""
    for line in _break_tokens(clean(text)).split("\n"):
        line = _break_tags(line) if "<" in line else line
        mark = _fence(line)
        if fence:
            if mark and mark[0] == fence[0] and len(mark) >= len(fence) and not line.strip().strip(mark[0]):
                fence = ""
            lines.append(_defuse(line, code=True))
            continue
        fence = mark if mark and not (mark[0] == "`" and "`" in line.strip().lstrip("`")) else ""
        lines.append(line if fence else _defuse(line))
    if fence:
        lines.append(fence)
    return "\n".join(lines)


def _fence(line: str) -> str:
    mark = line.lstrip(" ")
    if len(line) - len(mark) > 3 or mark[:3] not in ("```", "~~~"):
        return ""
    return mark[: len(mark) - len(mark.lstrip(mark[0]))]


def _defuse(line: str, code: bool = False) -> str:
    """Return a backslash before whatever would start a heading, an underline of one, a metadata line or a role.

    In code, a single # is a comment and a row of dashes is a row of dashes.
    """
    bare = line.lstrip(" \t>")
    lower = bare.lower()
    head, colon, _ = lower.partition(":")
    role = bool(colon) and head.strip(" *_[]()#-") in ROLES
    sign = bare.startswith("##") if code else bare.startswith("#") or _is_rule(bare.strip())
    if sign or role or lower.startswith(FRAME):
        return line[: len(line) - len(bare)] + "\\" + bare
    return line


def _is_rule(line: str) -> bool:
    return len(line) >= 3 and set(line) in ({"="}, {"-"})


def _break_tokens(text: str) -> str:
    for token, broken in TOKENS:
        if token in text:
            text = text.replace(token, broken)
    return text


def _break_tags(line: str) -> str:
    """`</memory>` → `<\\/memory>`, for every tag that a frame might use, in any case and spacing."""
    out, rest = "", line
    while "<" in rest:
        before, _, rest = rest.partition("<")
        name = rest.lstrip(" /\\").lower()
        out += before + ("<\\" if name.startswith(TAGS) and not rest.startswith("\\") else "<")
    return out + rest
