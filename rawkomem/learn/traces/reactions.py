"""Recognize whether a person is content with the agent's work, and whether a command runs tests or only reads."""

from __future__ import annotations

import re

MAX_REACTION_WORDS = 40  # first words that are read; later words describe the next task
WRONG = re.compile(
    r"^(?:no(?:pe)?(?:[,.!;:]|\s+(?:that|this|it|you|don['’]?t|not)\b|$))"
    r"|^(?:wrong|revert|undo|stop|roll (?:it )?back)\b"
    r"|\bstill (?:fail|broken|wrong|crash|not\b|doesn|does not|the same|getting|see|there|an? error|red\b)"
    r"|\b(?:doesn|didn|isn|don)['’]?t (?:work|help|compile|build|run|right)"
    r"|\b(?:does|did|is|are) not (?:work|right|what)|\bnot working\b"
    r"|\b(?:that|this|it)(?:['’]s| is| was) (?:all |completely |just )?(?:wrong|broken|worse|not\b)"
    r"|\b(?:you|it) broke\b|\b(?:revert|undo) (?:that|this|it|all|your|the)\b|\btests? (?:still )?(?:fail|are red)",
    re.IGNORECASE,
)
RIGHT = re.compile(
    r"^(?:yes|yep|yeah|ok(?:ay)?|good|nice|great|cool|perfect|awesome|excellent|amazing|done|super|lgtm)\b"
    r"|\b(?:thanks|thank you|thx|perfect|lgtm|well done|good job|great job|awesome|excellent)\b"
    r"|\blooks? (?:good|great|right)\b|\b(?:it|that|this|everything|all|now) works?\b|^works\b"
    r"|\bworks (?:now|well|great|fine|perfectly|for me|as)\b|\b(?:fixed|solved) (?:it|now|the)\b"
    r"|^(?:ship|merge|commit|push) (?:it|this|that)\b",
    re.IGNORECASE,
)
PARTS = re.compile(r"&&|\|\||[;|\n]")  # separators of the commands of a line
HIDDEN = re.compile(r"\|(?!\|)|\|\|\s*(?:true|:|echo)|;\s*\S")  # hides the exit code of the command before it
FAILURES = re.compile(
    r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|^(?:FAIL|FAILED)\b|result: FAILED", re.MULTILINE
)
BEFORE = re.compile(  # may come before the name of a program
    r"^(?:\w+=\S*\s+|(?:sudo|time|command|npx|bunx|exec|nice)\s+|timeout\s+\S+\s+"
    r"|(?:uv|poetry|pdm|pipenv|hatch|rye) run\s+|(?:pnpm|yarn|bundle) exec\s+|python[\d.]*\s+(?:-m\s+)?|(?:\S*/)(?=\w))"
)
TESTS = re.compile(
    r"(?:pytest|py\.test|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|pest|ctest|unittest|nextest|bats)\b"
    r"|(?:npm|pnpm|yarn|bun|deno) (?:run )?(?:test|check)|npm t\b|cargo nextest\b|manage\.py test\b"
    r"|(?:go|cargo|dotnet|swift|mix|rails|flutter|dart|zig build) test\b|(?:mvnw?|gradlew?) .*\b(?:test|verify|check)\b"
    r"|(?:make|just|task|rake|sbt|lein|stack|cabal|bazel|ant) (?:\S+ )*?(?:test|check|spec)"
    r"|(?:playwright|cypress|nx|turbo|ng) (?:run )?(?:test|run)\b"
)
SHELL = re.compile(r"^(?:\S*/)?(?:ba|z|da)?sh -l?c (?P<quote>['\"]?)(?P<line>.*?)(?P=quote)$", re.DOTALL)
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
LOOKS = re.compile(  # commands that only read
    r"(?:ls|ll|cat|cd|pwd|echo|head|tail|less|more|find|fd|tree|grep|rg|ag|wc|file|stat|du|df|which|type|env|printenv"
    r"|whoami|date|sort|uniq|cut|jq|diff|cmp|ps|true|test|\[|sleep|history|man|bat|nl|tr|column)(?=\s|$)(?!.*(?<![\d&])>>?\s*(?!/dev/null)[^&\s])"
    r"|sed -n\b|awk\b|git (?:-C \S+ )?(?:status|diff|log|show|branch|blame|remote|rev-parse|ls-files|grep)\b|rawkomem\b"
    r"|\S+ (?:--version|-V|--help)$"
)


def is_content(ask: str) -> bool | None:
    """Return whether a person is content with the work so far; None if the words do not show it."""
    said = " ".join(ask.split()[:MAX_REACTION_WORDS])
    if WRONG.search(said):
        return False
    return True if RIGHT.search(said) else None


def is_test(command: str) -> bool:
    """Tell whether a command line runs tests."""
    return any(TESTS.match(part) for part in _programs(command))


def only_looks(command: str) -> bool:
    """Tell whether a line has only commands that read, like `ls` and `git status`."""
    return all(LOOKS.match(part) for part in _programs(command))


def has_failed(command: str, failed: bool | None, output: str) -> bool | None:
    """Return whether a command failed. If a pipe or a later command hides its exit code, its output decides."""
    if failed or not HIDDEN.search(command):
        return failed
    return bool(FAILURES.search(output)) or failed


def _programs(command: str) -> list[str]:
    """Return the commands of a line, without what may come before the program's name, like `sudo`."""
    within = SHELL.match(command.strip())
    bare = QUOTED.sub("''", within["line"] if within else command)
    parts = [" ".join(part.split()) for part in PARTS.split(bare)]
    return [_program(part) for part in parts if part]


def _program(part: str) -> str:
    while (shorter := BEFORE.sub("", part, count=1)) != part:
        part = shorter
    return part
