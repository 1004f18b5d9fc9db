"""The frame of injected memories, and texts that stay inside it, without a heading, metadata, role or tag of ours.

Memories are data, never instructions; nothing here claims to stop a model from being talked into something.
"""

from __future__ import annotations

from .chunk import fence_after
from .clean import clean, one_line

# How a block of injected memories begins, in each format: writers and readers of these blocks share the words.
HEADING = "## Background Knowledge from Previous Runs"
LEAD = "The following information was learned from prior runs and may be relevant:"
GROUPED_HEADING = "## Relevant Memory Context (query: "
DIRECTIVE = """[ATTENTION DIRECTIVE]
- ALIGN attention to entries with [IMPORTANCE >= 0.8]
- TREAT entries with [IMPORTANCE <= 0.4] as auxiliary

[MEMORY CONTEXT]"""
FENCE = "memories-"  # the tag of the fenced format, before its nonce
JSON_KEYS = ("id", "title", "importance", "relevance", "fired", "text")  # of an item for programs, among others

ROLES = ("system", "user", "assistant", "human", "developer", "tool", "ai", "instruction", "instructions")
FRAME = (  # lines that only the frame may have
    "*importance", "*discovered", "*provenance", "*caution", "*found", "**importance", "**discovered",
    "[memory context]", "[attention directive]",
)  # fmt: skip
TOKENS = (  # of chat templates; broken in the middle
    ("<|", "<\\|"), ("|>", "\\|>"), ("[INST]", "[\\INST]"), ("[/INST]", "[\\/INST]"), ("<<SYS>>", "<\\<SYS>>"),
    ("<</SYS>>", "<\\</SYS>>"), ("</s>", "<\\/s>"),
)  # fmt: skip
TAGS = ("memory", "memories", "background", "system", "user", "assistant", "human", "tool", "instructions", "context")


def safe_title(title: str) -> str:
    """Return one line of at most 120 characters that starts no heading, list, quote or code."""
    line = _break_tags(_break_tokens(one_line(title)))
    return _defuse(line.lstrip("#>-*`~=| \\").replace("`", "'")) or "untitled"


def safe_body(text: str) -> str:
    """Return the body with everything defused that could be taken for the frame, and every code fence closed."""
    lines: list[str] = []
    fence = ""
    for line in _break_tokens(clean(text)).split("\n"):
        line = _break_tags(line) if "<" in line else line
        before, fence = fence, fence_after(fence, line)
        if not before and fence.startswith("`") and "`" in line.strip().lstrip("`"):
            fence = ""  # a code span in a line of prose
        lines.append(line if fence and not before else _defuse(line, code=before != ""))
    if fence:
        lines.append(fence)
    return "\n".join(lines)


def _defuse(line: str, code: bool = False) -> str:
    """Put a backslash before what would start a heading, its underline (neither in code), metadata or a role."""
    bare = line.lstrip(" \t>")
    lower = bare.lower()
    head, colon, _ = lower.partition(":")
    role = bool(colon) and head.strip(" *_[]()#-") in ROLES
    rule = len(bare.strip()) >= 3 and set(bare.strip()) in ({"="}, {"-"})
    sign = bare.startswith("##") if code else bare.startswith("#") or rule
    if sign or role or lower.startswith(FRAME):
        return line[: len(line) - len(bare)] + "\\" + bare
    return line


def _break_tokens(text: str) -> str:
    for token, broken in TOKENS:
        text = text.replace(token, broken)
    return text


def _break_tags(line: str) -> str:
    r"""Break every tag that a frame might use, in any case and spacing: `</memory>` becomes `<\/memory>`."""
    first, *rest = line.split("<")
    return first + "".join(("<\\" if _is_tag(part) else "<") + part for part in rest)


def _is_tag(part: str) -> bool:
    return not part.startswith("\\") and part.lstrip(" /\\").lower().startswith(TAGS)
