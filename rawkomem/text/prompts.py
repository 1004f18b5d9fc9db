"""Splits a prompt from a host into the person's request, pasted text, and text of the host.

Conditions may fire on names in pasted text, but its meaning is ignored.
"""

from __future__ import annotations

from ..model.values import record
from .chunks import fence_after
from .clean import late_regex
from .language import language, word_set

HOST_TAGS = (  # hosts put them around their own text
    "permissions instructions",
    *"""
    command-name command-message command-contents local-command-stdout local-command-stderr local-command-caveat
    system-reminder task-notification user-prompt-submit-hook bash-input bash-stdout bash-stderr ide_opened_file
    ide_selection ide_diagnostics environment_context user_instructions INSTRUCTIONS persisted-output rawkomem memories
    system_warning turn_aborted attached_files collaboration_mode skill user_shell_command user_action
    subagent_notification teammate-message background_output hook_context
    """.split(),  # noqa: SIM905 - a list of quoted words reads worse
)
PERSON_TAGS = ("command-args", "user_query")  # hosts put them around a person's words
COMMAND_TAG = "command-name"
# start of a message in which nothing is a person's: Claude Code's and Cursor's
NOTIFICATIONS = ("<task-notification>", "<system_notification>")
MAX_TAG_CHARS = 300  # from a tag's name to the end of its attributes
NOTICES = (  # start of texts that a host sends as the user
    "this session is being continued from a previous conversation", "caveat: the messages",
    "the user just ran /", "please continue the conversation from where", "the conversation history before this point",
    "another language model started to solve this problem", "base directory for this skill:",
    "# agents.md instructions for ",
)  # fmt: skip
PLACEHOLDERS = (  # of hosts, for attachments and interruptions
    "[Image #", "[Image:", "[Image]", "[Pasted text #", "[Attached:", "[Attached file", "[File:",
    "[Request interrupted",
)  # fmt: skip
PLACEHOLDER = late_regex(
    "(?=" + "|".join(PLACEHOLDERS).replace("[", r"\[") + r")[^\]]*\]"
)
ROOT_FOLDERS = word_set(  # of Unix systems: "/etc is full" is not a slash command
    """
    bin boot dev etc home lib mnt opt proc root sbin srv sys tmp usr var Applications Library Users
    Volumes
    """
)
# words after a path that is the subject of a sentence: "/login returns 500"
PREDICATES = word_set(
    """
    is isn't are was were has have had does doesn't returns gives shows fails answers takes endpoint
    route
    """
)
CODE_SPAN = late_regex(r"`[^`]*`")  # code between words makes no line of output
COMMAND_NAME = late_regex(r"[\w:-]+")
SENTENCE_ENDS = (". ", "? ", "! ")
DIGITS = "0123456789"
FENCES = ("```", "~~~")
# Lines that programs print, and code.
OUTPUT_LINE = late_regex(
    r"Traceback |File \"|goroutine |panic:|thread '|called `|note: |exit status |Exception in |Caused by:|npm ERR!"
    r"|error\[|(?:error|warning|fatal|Error|Author|Date):|FAILED |E   |diff --git|@@ |\+\+\+ |--- |=> |> |#include|\}|INSERT "
    r"|(?:modified|new file|deleted): "
    r"|\S*(?:Error|Exception|Warning):(?!\S)"
    r"|.*(?:\{|\};|\);|\},|\],|=>|\):|\\)$"
    # a file with a line number, such as `src/app.go:12:4:`
    r"|[^:\s]*\.[^:\s]*:\d+(?::|(?!\S))"
    r"|\|.*\||.*\t"  # a table
    r"|[{\[]$|[{\[\"].*(?:\": |[,}\]{\[]$)"  # JSON
    r"|.{0,199}[\u2500-\u25ff]"  # Unicode lines, blocks and shapes
)
# Start of lines of code or output, but also of requests: "import the customers".
KEYWORD = late_regex(
    r"(?:import|package|func|def|class|const|let|var|return|export|SELECT|commit|index|at|\.\.\.) "
)
CODE_SIGNS = "={};"  # a line with such a start and one of these is code
MAX_PROMPT_CHARS = 80  # of a shell's prompt
# A shell's prompt: a sign, or names of a user, a machine and a folder, as in `me@host:~/shop$ make`.
PROMPT = late_regex(
    r"(?:\$|%|❯|➜|>>>) |PS C:|# \./|.:\\.*>"
    # perhaps after a virtual environment
    r"|\[?(?:\([^)]*\) )?\S+@\S+(?: \S+){0,2}? ?[$%#>](?: |$)"
    r"|\[\d[^\]]*[~/][^\]]*\]"
)
# pasted blocks that may contain lines like a person's
CONSOLE = "console"
HUNK = "hunk"
# other pasted lines; fences and `>` show where they end
OUTPUT = "output"
CLOSED = "closed"
HUNKS = ("diff --git ", "@@ ")  # start of a hunk
# Between the parts of a hunk.
HUNK_HEAD = late_regex(r"(?:index|new|old|deleted|similarity|rename|copy|Binary) ")
OPENING_SIGNS = "“”‘’«»„¿¡•–—…「『《〈（【"  # that a person's line may start with
QUESTION_MARKS = ("?", "？", "؟")
# of a person's line between lines of output
MIN_PROSE_WORDS = 4
MIN_STOP_SHARE = 0.3
MAX_SIGN_SHARE = 0.25  # of the characters of a line of prose
# half from the start, half from the end: people write before or after pasted text
MAX_READ_CHARS = 40_000
# that are searched for fences; after more, all counts as code
MAX_FENCES_CHARS = 1_000_000
MAX_ASK_CHARS = 2_000  # of a longer request, only the start and the end are used
END_CHARS = 800  # … this many characters of each
MAX_SENTENCES = 12  # that are compared separately
MIN_SENTENCE_WORDS = 4  # a shorter sentence is joined with its neighbor


@record
class SplitPrompt:
    """The parts of a prompt."""

    ask: str = ""  # the request in the person's words
    paste: str = ""  # output, logs, diffs, code
    command: str = ""  # the name of a slash command
    is_host: bool = False  # the host wrote all of it
    # all lines with the kind of pasted block; empty if typed
    lines: tuple[tuple[str, str], ...] = ()


def read_prompt(text: str) -> SplitPrompt:
    """Return the parts of a prompt: the person's request, pasted text, and the name of a slash command."""
    text = both_ends(text, MAX_READ_CHARS, MAX_READ_CHARS // 2)
    if is_notification(text):
        return SplitPrompt(is_host=True)
    bare, name, typed = without_markup(text)
    bare = (PLACEHOLDER.sub(" ", bare) if "[" in bare else bare).strip()
    if is_notice(bare):
        return SplitPrompt(is_host=True)
    command, asked = _slash_command(bare)
    asked = f"{asked}\n{typed}".strip()
    lines = _marked_lines(asked)
    if len(lines) == 1 and (is_prose(asked) or not asked or not _is_prompt(asked)):
        lines = ((asked, ""),)
    ask, paste = (
        "\n".join(x for x, kind in lines if bool(kind) == pasted).strip()
        for pasted in (False, True)
    )
    is_host = bare != text.strip() and not ask and not paste
    return SplitPrompt(both_ends(ask), paste, command or name, is_host, lines)


def sentences_of(ask: str) -> list[str]:
    """Return the sentences of a request, with short ones joined. Of many, return the first and the last ones."""
    lines = [line.strip().lstrip("-*•> ").strip() for line in ask.split("\n")]
    text = "\n".join(lines)
    for end in SENTENCE_ENDS:
        text = text.replace(end, f"{end[0]}\n")
    joined: list[str] = []
    for part in text.split("\n"):
        if not any(map(str.isalnum, part)):
            continue
        words = [len(one.split()) for one in (*joined[-1:], part)]
        if joined and min(words) < MIN_SENTENCE_WORDS:
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    half = MAX_SENTENCES // 2
    return joined if len(joined) <= MAX_SENTENCES else joined[:half] + joined[-half:]


def is_notice(text: str) -> bool:
    """Return whether a host sent a text as the user: a summary, a caveat, an interruption, an image."""
    text = text.strip()
    if text.startswith(PLACEHOLDERS) and text.find("]") == len(text) - 1:
        return True
    return is_notification(text) or text[:100].lower().startswith(NOTICES)


def is_notification(text: str) -> bool:
    """Return whether a message tells the agent about a background task; Cursor puts the time before it."""
    text = text.lstrip()
    if text.startswith("<timestamp>"):
        text = text.partition("</timestamp>")[2].lstrip()
    return text.startswith(NOTIFICATIONS)


def without_markup(text: str) -> tuple[str, str, str]:
    """Return a text without the host's elements, the name of a command, and what a person typed inside elements."""
    name = ""
    typed = list[str]()
    for tag in (*PERSON_TAGS, *HOST_TAGS) if "<" in text else ():
        if f"<{tag}" in text:
            text, inside = without_tag(text, tag)
            typed += inside if tag in PERSON_TAGS else []
            if inside and tag == COMMAND_TAG:
                name = inside[-1].strip().lstrip("/")
    return text, name, "\n".join(typed).strip()


def without_tag(text: str, tag: str) -> tuple[str, list[str]]:
    """Return a text without the elements of a tag, and the contents of each.

    A tag that is neither closed nor at the start of a line is kept: a person mentions it.
    """
    from re import escape, split  # most prompts have no markup

    opening = rf"<{escape(tag)}(?:[ \n][^>]{{0,{MAX_TAG_CHARS}}})?>"
    # in the text up to the last end, every element has one, so that no search is in vain
    closed, end, rest = text.rpartition(f"</{tag}>")
    parts = split(rf"(?s){opening}(.*?){escape(end)}", closed + end) if end else [""]
    parts[-1:] = split(rf"(?sm)^{opening}(.*)", parts[-1] + rest, maxsplit=1)
    if len(parts) == 1:
        return text, []
    kept = [*map(str.rstrip, parts[:-1:2]), parts[-1].lstrip("\r\n")]
    return "\n".join(kept), parts[1::2]


def _slash_command(text: str) -> tuple[str, str]:
    """Return the name of a slash command and the text after it. A path that starts a sentence is no command."""
    words = text.partition("\n")[0].split(None, 2) if text.startswith("/") else []
    first, following = (*words[:2], "", "")[:2]
    name = first[1:]
    if not name or not COMMAND_NAME.fullmatch(name):
        return "", text
    if name in ROOT_FOLDERS or following.lower() in PREDICATES:
        return "", text
    return name, text[1 + len(name) :].strip()


def _marked_lines(text: str) -> tuple[tuple[str, str], ...]:
    """Return each line with the kind of pasted block that it belongs to; empty for what a person wrote."""
    marked: list[tuple[str, str]] = []
    fence = ""
    block = ""
    after_blank = True
    listed = False
    for line in text.split("\n"):
        bare = line.strip()
        kind = block
        before = fence
        fence = fence_after(fence, bare)
        if before or fence:
            kind = CLOSED
        elif bare:
            kind = block = _pasted_block(block, line, bare, after_blank)
            is_item = bare[0] in "-*•" or bare.lstrip(DIGITS).startswith((".", ")"))
            is_code = line.startswith(("    ", "\t")) and not (is_item or listed)
            if bare[0] == ">" and not bare.startswith(">>>"):
                kind = CLOSED
            elif is_code or _is_output(bare):
                kind = block or OUTPUT
            listed = not kind and (is_item or (listed and line[0] in " \t"))
        marked.append((line if bare else "", kind))
        after_blank = not bare and not fence
    return tuple(marked)


def _pasted_block(block: str, line: str, bare: str, after_blank: bool) -> str:
    """Return the kind of pasted block that a line belongs to; empty if none. `block` is that of the line before."""
    if bare.startswith(HUNKS):
        return HUNK
    if _is_prompt(bare):
        return CONSOLE
    if block == HUNK and line[0] not in " +-\\" and not HUNK_HEAD.match(bare):
        return ""
    return "" if after_blank and is_prose(bare) and not _is_output(bare) else block


def is_prose(line: str) -> bool:
    """Return whether a line reads like a person's: enough words, some of them function words, or not English."""
    # letters, not emoji
    abroad = sum("\xc0" <= c < "\u2000" or "\u2c00" <= c < "\U0001f000" for c in line)
    if 2 * abroad > len(line):
        return True
    words = language().words(line)
    stops = sum(map(language().is_stop, words))
    is_spoken = (
        abroad or stops >= MIN_STOP_SHARE * len(words) or line.endswith(QUESTION_MARKS)
    )
    return len(words) >= MIN_PROSE_WORDS and bool(is_spoken)


def _is_prompt(line: str) -> bool:
    """Return whether a line is a command after a shell's prompt."""
    return PROMPT.match(line[:MAX_PROMPT_CHARS]) is not None


def _is_output(line: str) -> bool:
    """Return whether a line looks like a log, a trace, a diff, a table or code."""
    if OUTPUT_LINE.match(line) or _is_code(line):
        return True
    first = line[0]
    start = line[:12]
    if not first.isascii() and not first.isalnum() and first not in OPENING_SIGNS:
        return True
    if sum(map(str.isdigit, start)) >= 5 and any(c in ":-/" for c in start):
        return True
    if not any(map(str.isalnum, line)) or ("(" in line and len(line.split()) == 1):
        return line.isascii()
    words = CODE_SPAN.sub("", line) if "`" in line else line
    signs = sum(c.isascii() and not (c.isalnum() or c in " '.,?!-") for c in words)
    return len(line) >= 12 and signs > MAX_SIGN_SHARE * len(words)


def _is_code(line: str) -> bool:
    """Return whether a line that starts like code is code. "return a 404 instead" is a request."""
    if not KEYWORD.match(line):
        return False
    if any(sign in line for sign in CODE_SIGNS) or line[-1] in "'\"":
        return True
    second = line.split(None, 2)[1].lower()
    return not (language().is_stop(second) or is_prose(line))


def both_ends(text: str, limit: int = MAX_ASK_CHARS, part: int = END_CHARS) -> str:
    """Return a text; if it is longer than `limit`, its first and last `part` characters, cut between words.

    A code fence that is open at a cut is closed there, or opened again: a cut turns no code into prose.
    """
    if len(text) <= limit:
        return text
    head = text[:part]
    tail = text[-part:]
    if not (head[-1].isspace() or text[part].isspace()):
        head = head[: len(head) - len(head.split()[-1])]
    if not (tail[0].isspace() or text[-part - 1].isspace()):
        tail = tail[len(tail.split()[0]) :]
    before, after = (open_fence(one) for one in (head, text[: len(text) - len(tail)]))
    tail = tail.strip("\n") if after else tail.lstrip()
    return "\n".join(filter(None, (head.rstrip(), before, after, tail)))


def open_fence(text: str) -> str:
    """Return the code fence that is open at the end of a text; empty if there is none."""
    has_fences = any(mark in text for mark in FENCES)
    fence = FENCES[0] if has_fences and len(text) > MAX_FENCES_CHARS else ""
    for line in text.split("\n") if has_fences and not fence else ():
        fence = fence_after(fence, line.strip())
    return fence
