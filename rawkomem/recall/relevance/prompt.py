"""Reads a prompt as a host passes it: what the person asks, what the person pasted, and what the host wrote itself.

Conditions may fire on names in pasted text; its meaning is not the person's. No regex: every prompt waits for this.
"""

from __future__ import annotations

from ...model.record import record
from ...text.language import language

HOST_TAGS = (  # written by hosts around their own text; a person's words are in `command-args` alone
    "command-name", "command-message", "command-contents", "local-command-stdout", "local-command-stderr",
    "local-command-caveat", "system-reminder", "task-notification", "user-prompt-submit-hook", "bash-input",
    "bash-stdout", "bash-stderr", "ide_opened_file", "ide_selection", "ide_diagnostics", "environment_context",
    "user_instructions", "INSTRUCTIONS", "persisted-output", "rawkomem", "memories", "system_warning", "turn_aborted",
)  # fmt: skip
ARGUMENTS = "command-args"
NOTIFICATION = "<task-notification>"  # opens a message of which nothing is a person's
NOTICES = (  # beginnings of texts that a host sends in the person's place
    "[request interrupted", "this session is being continued from a previous conversation", "caveat: the messages",
    "the user just ran /", "please continue the conversation from where", "the conversation history before this point",
    "another language model started to solve this problem", "base directory for this skill:", "api error:",
)  # fmt: skip
PLACEHOLDERS = ("[Image", "[Pasted text", "[Attached", "[File")  # what hosts show for what is attached
FENCES = ("```", "~~~")
TRACES = (
    "Traceback ", 'File "', "goroutine ", "panic:", "Caused by:", "npm ERR!", "error[", "error:", "warning:", "fatal:",
    "Error:", "FAILED ", "E   ", "diff --git", "index ", "@@ ", "+++ ", "--- ", "commit ", "Author:", "Date:", "> ",
    "#include", "import ", "package ", "func ", "def ", "class ", "const ", "let ", "var ", "return ", "export ", "}",
    "SELECT ", "INSERT ", "modified: ", "new file: ", "deleted: ",
)  # fmt: skip  # beginnings of lines that programs print or that are code
PROMPTS = ("$ ", "% ", "❯ ", "➜ ", "PS C:", ">>> ", "root@", "# ./")  # of shells, at the beginning of a line
CODE_ENDS = ("{", "};", ");", "},", "],", "=>", ") {", "):", "\\")
BOXES = range(0x2500, 0x2600)  # lines, blocks and shapes that programs draw with
MIN_PROSE_WORDS, MIN_STOP_SHARE = 4, 0.3  # of a line that a person wrote among output
MAX_SIGN_SHARE = 0.25  # of a line of prose
MAX_READ_CHARS = 40_000  # of a prompt: people ask before or after what they paste
MAX_ASK_CHARS = 2_000  # of a longer text its beginning and its end are the ask
END_CHARS = 800  # … so much of each
MAX_SENTENCES = 12  # that are compared on their own
MIN_SENTENCE_WORDS = 4  # a shorter one is read with its neighbor


@record
class Said:
    """A prompt taken apart."""

    ask: str = ""  # in the person's words
    paste: str = ""  # output, logs, diffs, code
    command: str = ""  # the name of a slash command
    is_host: bool = False  # nobody asked anything: the host wrote all of it


def read_prompt(text: str) -> Said:
    """Return what a person asks in a prompt, apart from what they pasted and what the host added."""
    if len(text) > MAX_READ_CHARS:
        text = f"{text[: MAX_READ_CHARS // 2]}\n{text[-MAX_READ_CHARS // 2 :]}"
    if text.lstrip().startswith(NOTIFICATION):
        return Said(is_host=True)
    text, arguments, had_tags = _without_markup(text)
    text = _without_placeholders(text).strip()
    if text.lower().startswith(NOTICES):
        return Said(is_host=True)
    command, text = _command(text)
    ask, paste = _parted(f"{text}\n{arguments}".strip() if arguments else text)
    return Said(_ends(ask), paste, command, is_host=had_tags and not ask)


def sentences_of(ask: str) -> list[str]:
    """Return the sentences of an ask, short ones joined; of many, the first and the last."""
    parts: list[str] = []
    for line in ask.split("\n"):
        line = line.strip().lstrip("-*•> ").strip()
        for mark in ".?!":
            line = line.replace(f"{mark} ", f"{mark}\n")
        parts += [part for part in line.split("\n") if any(map(str.isalnum, part))]
    joined: list[str] = []
    for part in parts:
        if joined and (len(joined[-1].split()) < MIN_SENTENCE_WORDS or len(part.split()) < MIN_SENTENCE_WORDS):
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    half = MAX_SENTENCES // 2
    return joined if len(joined) <= MAX_SENTENCES else joined[:half] + joined[-half:]


def _without_markup(text: str) -> tuple[str, str, bool]:
    """Return a text without the host's tags and what is in them, the arguments of a command, and whether it had any."""
    arguments, before = "", text
    if "<" not in text:
        return text, "", False
    for tag in (ARGUMENTS, *HOST_TAGS):
        start = text.find(f"<{tag}")
        while start >= 0 and text[start + len(tag) + 1 : start + len(tag) + 2] in (">", " ", "\n"):
            end = text.find(f"</{tag}>", start)
            inside = text[text.find(">", start) + 1 : end if end >= 0 else len(text)]
            arguments += inside if tag == ARGUMENTS else ""
            text = text[:start] + (text[end + len(tag) + 3 :] if end >= 0 else "")
            start = text.find(f"<{tag}", start)
    return text, arguments.strip(), text != before


def _without_placeholders(text: str) -> str:
    for mark in PLACEHOLDERS if "[" in text else ():
        start = text.find(mark)
        while start >= 0:
            end = text.find("]", start)
            text = text[:start] + (text[end + 1 :] if end >= 0 else "")
            start = text.find(mark, start)
    return text


def _command(text: str) -> tuple[str, str]:
    """Return the name of a slash command and what follows it; an absolute path is none."""
    first = text.split(None, 1)[0] if text.startswith("/") else ""
    name = first[1:]
    if not name or not all(c.isalnum() or c in ":_-" for c in name):
        return "", text
    return name, text[1 + len(name) :].strip()


def _parted(text: str) -> tuple[str, str]:
    """Return the lines that a person wrote, and those that they pasted."""
    ask: list[str] = []
    paste: list[str] = []
    fence, console, after_blank, listed = "", False, True, False
    for line in text.split("\n"):
        bare = line.strip()
        if fence or bare.startswith(FENCES):
            fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
            paste.append(line)
        elif not bare:
            after_blank = True
            (paste if console else ask).append("")
            continue
        elif _is_prompt(bare):
            console = True
            paste.append(line)
        else:
            if console and after_blank and is_prose(bare):
                console = False
            is_item = bare[0] in "-*•" or bare.lstrip("0123456789")[:1] in (".", ")")
            printed = console or _is_output(bare) or (line.startswith(("    ", "\t")) and not (is_item or listed))
            listed = not printed and (is_item or (listed and line[0] in " \t"))
            (paste if printed else ask).append(line)
        after_blank = False
    return "\n".join(ask).strip(), "\n".join(paste).strip()


def is_prose(line: str) -> bool:
    """Return whether a line reads like a person's: enough words, among them function words."""
    words = language().words(line)
    stops = sum(map(language().is_stop, words))
    return len(words) >= MIN_PROSE_WORDS and (stops >= MIN_STOP_SHARE * len(words) or line.endswith("?"))


def _is_prompt(line: str) -> bool:
    if line.startswith(PROMPTS):
        return True
    bracket = line.find("]") if line[0] == "[" else -1
    inside = line[1:bracket]
    return bracket > 0 and ("~" in inside or "/" in inside) and inside[:1].isdigit()


def _is_output(line: str) -> bool:
    """Return whether a line looks like a log, a trace, a diff, a table or code."""
    first = line[0]
    if line.startswith(TRACES) or line.endswith(CODE_ENDS) or (line.startswith("at ") and ":" in line):
        return True
    if not first.isascii() and not first.isalnum() and first not in "“”‘’«»„¿¡•–—…":
        return True
    if any(ord(c) in BOXES for c in line[:200] if not c.isascii()) or (first == "|" and line.count("|") > 1):
        return True
    start = line.split(None, 1)[0]
    if _is_place(start) or (sum(map(str.isdigit, line[:12])) >= 5 and any(c in ":-/" for c in line[:12])):
        return True
    if "\t" in line or (first in '{["' and line[-1] in ",}]{["):
        return True
    signs = sum(c.isascii() and not (c.isalnum() or c in " '.,?!-") for c in line)
    return len(line) >= 12 and signs > MAX_SIGN_SHARE * len(line)


def _is_place(word: str) -> bool:
    """Return whether a word is a place in a file, such as `src/app.go:12:4:`."""
    parts = word.split(":")
    return len(parts) > 1 and parts[1].isdigit() and "." in parts[0]


def _ends(ask: str) -> str:
    """Return a text; of a long one its beginning and its end, cut between lines or words."""
    if len(ask) <= MAX_ASK_CHARS:
        return ask
    head, tail = ask[:END_CHARS], ask[-END_CHARS:]
    head = head[: max(head.rfind("\n"), head.rfind(" "))]
    return f"{head}\n{tail[min(max(0, tail.find(sign)) for sign in (' ', chr(10))) :].strip()}"
