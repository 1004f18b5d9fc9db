"""Answer a host before or after its agent runs a command or writes a file: remind the agent, ask the person, or deny.

hook_entry.py has ended most calls already. On any error the hook prints nothing and exits 0, so the call passes; the error is in `hook.log`.
"""

from __future__ import annotations

import json
import os
import re
from functools import partial

from ..files.layout import Layout, sweep
from ..index.act_table import ActRule, ActTable, Tables, guarding, read_table
from ..learn.turns import calls_asked
from ..model.user_settings import LEARNING_GUARD
from ..model.values import TYPE_CHECKING, now
from ..text.acts import ASK, ASKED, DENIED, DENY, DONE_ANYWAY, REMIND, REMINDED, Act
from ..text.commands import file_writes
from ..text.paths import path_below
from .known_hosts import (
    AFTER,
    COMMAND,
    HOSTS,
    WRITE,
    Call,
    as_json,
    project_of,
    read_call,
    say,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

# where hosts put what a tool is asked to do; Cursor passes a command, or an edit, as the call itself
INPUT_KEYS = ("tool_input", "toolArgs")
# where hosts put the folder of a command, if it is not the agent's
FOLDER_KEYS = ("workdir", "dir_path", "directory")
MAX_COPY_MS = 1_500  # within which the copies of a hook run
MAX_REMINDERS = 2  # of one call; the next call that fits gets the others
# of a guard ASK, if the host cannot ask the person: the call is refused once in a session
ASK_AGENT = "ask-agent"
LEADS = {
    DENY: "A memory of this project denies this call. Do not repeat it; do what the memory says.",
    ASK: "A memory of this project asks the person to decide about this call.",
    ASK_AGENT: "A memory of this project asks the person to decide about this call. Ask them; if they agree, repeat it.",
}


WORD = re.compile(r"[^\W\d_]{3,}")
GLOB_SIGN = re.compile(r"[*?!\[\]{},]")


def run_act(folder: str, arguments: list[str], data: bytes, known: Tables) -> None:
    """Answer a call with this JSON before or after an act; `known` are tables that were read just now."""
    name, event = arguments[:2]
    layouts: list[Layout] = []
    try:
        if os.environ.get(LEARNING_GUARD):
            return
        layouts = guarding(project_of(folder, None), folder)
        call = read_call(name, event, data)
        layouts = guarding(project_of(folder, call), folder)
        if layouts and (response := answer_act(layouts, call, known)) is not None:
            say(as_json(response))
    except Exception as failure:  # the call must pass after any error
        for layout in layouts[:1]:
            _warn_of(layout, name, event)(f"{type(failure).__name__}: {failure}")


def answer_act(
    layouts: Sequence[Layout], call: Call, known: Mapping[Layout, ActTable]
) -> object:
    """Return the answer in the host's format; None if no memory applies, or the host acts on no answer here.

    Of several repositories, the first one that denies or asks is the answer, else the first one that reminds.
    """
    host = HOSTS[call.host]
    is_after = call.event == AFTER
    fitting = {
        layout: _fitting_rules(layout, call, known.get(layout)) for layout in layouts
    }
    for guard in (DENY, ASK, ASK_AGENT) if not is_after else ():
        for layout, rules in fitting.items():
            chosen = rules.get(guard, [])
            if guard == ASK_AGENT and chosen:
                chosen = _not_told(layout, call, chosen) if call.session else []
            if chosen:
                what = DENIED if guard == DENY else ASKED
                _note(layout, what, chosen, f"{call.session} {now()}")
                texts = [LEADS[guard], *("\n".join(rule.lines) for rule in chosen)]
                decision = ASK if guard == ASK else DENY
                return host.act(call, decision, _limited(call, texts, "\n\n"))
    if host.reminds_after != is_after:
        return None
    for layout, rules in fitting.items():
        if REMIND in rules and (texts := _reminders(layout, call, rules[REMIND])):
            return host.act(call, REMIND, _limited(call, texts, ""))
    return None


def _fitting_rules(
    layout: Layout, call: Call, table: ActTable | None
) -> dict[str, list[ActRule]]:
    """Return the memories of a repository that apply to a call, by their guard."""
    acts = [*acts_of(call, layout.project)]
    if not acts:
        return {}
    table = table or read_table(layout, sweep(layout).digest)
    rules = table.rules if table else _made_again(layout, call)
    fitting: dict[str, list[ActRule]] = {}
    kind = COMMAND if acts[0].command else WRITE
    for rule in rules:
        if any(map(rule.holds_for, acts)):
            is_asked = rule.guard != ASK or kind in HOSTS[call.host].asks
            fitting.setdefault(rule.guard if is_asked else ASK_AGENT, []).append(rule)
    return fitting


def _reminders(layout: Layout, call: Call, rules: list[ActRule]) -> list[str]:
    """Return the reminders that the session has not received, and record them."""
    acts = [*acts_of(call, layout.project)]
    chosen = _not_told(layout, call, _nearest_first(rules, acts))
    if call.session:
        _note_reminders(layout, rules, chosen, call.session)
    return [rule.reminder for rule in chosen]


def _nearest_first(rules: list[ActRule], acts: list[Act]) -> list[ActRule]:
    """Return the rules with the narrowest patterns first; of those, the ones that share most words with the acts.

    Rules that no person vouches for come last, so that they do not displace others.
    """
    written = " ".join(f"{act.path} {act.text}" for act in acts)
    words = {*WORD.findall(written.lower())}

    def turn(rule: ActRule) -> tuple[bool, bool, int, int]:
        literal = max(
            (len(GLOB_SIGN.sub("", path)) for path in rule.applies.paths), default=0
        )
        shared = words.intersection(WORD.findall(" ".join(rule.lines).lower()))
        is_wide = not (rule.applies.commands or rule.applies.text)
        return rule.is_doubted, is_wide, -literal, -len(shared)

    return sorted(rules, key=turn)


def acts_of(call: Call, project: str) -> Iterator[Act]:
    """Yield the command that a call of a tool runs, and each file of the project that the call writes, also through links."""
    tool_input = next(
        (call.fields[key] for key in INPUT_KEYS if key in call.fields), None
    )
    if isinstance(tool_input, str) and tool_input.startswith("{"):
        tool_input = json.loads(tool_input)
    folder = call.folder or project
    if isinstance(tool_input, dict):
        named = (tool_input.get(key) for key in FOLDER_KEYS)
        own = next((one for one in named if isinstance(one, str)), "")
        folder = os.path.join(folder, own)
    for did in calls_asked("", call.fields if tool_input is None else tool_input):
        written = [] if did.written is None else [(did.file, did.written)]
        if did.command:
            yield Act(did.command)
            written = [*file_writes(did.command, partial(_is_folder, folder))]
        for file, text in written:
            full = os.path.join(folder, os.path.expanduser(file))
            paths = (
                path_below(os.path.normpath(full), project),
                # a link in the project may lead to a file that a memory names
                path_below(os.path.realpath(full), os.path.realpath(project)),
            )
            for path in dict.fromkeys(filter(None, paths)):
                yield Act(path=path, text=text)


def _is_folder(start: str, path: str) -> bool:
    return os.path.isdir(os.path.join(start, os.path.expanduser(path)))


def _made_again(layout: Layout, call: Call) -> list[ActRule]:
    from ..repository import Repository  # only after memories or commits changed
    from ..repository.acts import act_rules

    warn = _warn_of(layout, call.host, call.event)
    return act_rules(Repository(layout, warn, via="agent").core)


def _not_told(layout: Layout, call: Call, rules: list[ActRule]) -> list[ActRule]:
    """Return the rules that the session has not received since its context was last empty, and record them."""
    from ..files.session_records import note_told, told_to  # opens the records

    # a sub-agent has a context of its own; two hooks of one host may both run
    session = f"{call.session} {call.fields.get('agent_id', '')}".strip()
    apart = call.host if HOSTS[call.host].is_apart(call) else ""
    known = told_to(layout, session).keys
    keys = {f"act:{apart}:{rule.key}": rule for rule in rules}
    new = [key for key in keys if key not in known][:MAX_REMINDERS]
    if new:
        note_told(layout, session, 0, new)
    return [keys[key] for key in new]


def _note(layout: Layout, what: str, rules: list[ActRule], source: str) -> None:
    from ..files.session_records import note_effects  # opens the records

    note_effects(layout, what, [rule.id for rule in rules], source)


def _note_reminders(
    layout: Layout, fitting: list[ActRule], chosen: list[ActRule], session: str
) -> None:
    """Record the reminders of this call; rules of which the session was reminded by an earlier call are done anyway."""
    from ..files.session_records import reminded_before  # opens the records

    # with reminders in this answer, a copy of this hook may have given the others just now
    known = reminded_before(layout, session, MAX_COPY_MS if chosen else 0)
    again = [rule for rule in fitting if rule.id in known]
    _note(layout, DONE_ANYWAY, again, session)
    _note(layout, REMINDED, chosen, session)


def _limited(call: Call, texts: list[str], between: str) -> str:
    """Return the texts that fit into an answer of the host."""
    most = HOSTS[call.host].max_context_bytes
    while len(texts) > 1 and len(between.join(texts).encode()) > most:
        texts = texts[:-1]
    return between.join(texts)


def _warn_of(layout: Layout, host: str, event: str) -> Callable[[str], None]:
    def warn(message: str) -> None:
        from .hook_calls import note_failure

        note_failure(layout, host, event, message)

    return warn
