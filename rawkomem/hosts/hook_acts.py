"""Answer a host before or after its agent runs a command or writes a file: remind the agent, ask the person, or deny.

hook_entry.py has ended most calls already. On any error the hook prints nothing and exits 0, so the call passes; the error is in `hook.log`.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from functools import partial

from ..files.layout import Layout, sweep
from ..index.act_table import ActRule, ActTable, Tables, guarding, read_table
from ..learn.turns import calls_asked
from ..model.user_settings import LEARNING_GUARD
from ..model.values import TYPE_CHECKING, now
from ..text.acts import (
    ASK,
    ASKED,
    DENIED,
    DENY,
    DONE_ANYWAY,
    EXCLUDES,
    REMIND,
    REMINDED,
    Act,
    Applies,
    fits,
)
from ..text.commands import file_writes
from ..text.language import spell_out_names
from ..text.paths import ANY_FILE, path_below
from ..text.safe import FENCE_TAG
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
MAX_REMINDERS = 2  # texts in one answer; the next call that fits gets others
MAX_TITLES = 10  # of other rules that fit, in one answer
# fitting rules with the same pattern or the same word; what more of them have names none of them
MAX_SHARED = 3
MAX_READ_CHARS = 20_000  # of a call, in which words of rules are looked up
TITLES_NOTE = (
    "further memories of this project for this place; read the file of one that applies"
)
# of a guard ASK, if the host cannot ask the person: the call is refused once in a session
ASK_AGENT = "ask-agent"
LEADS = {
    DENY: "A memory of this project denies this call. Do not repeat it; do what the memory says.",
    ASK: "A memory of this project asks the person to decide about this call.",
    ASK_AGENT: "A memory of this project asks the person to decide about this call. Ask them; if they agree, repeat it.",
}


CODE_SPAN = re.compile(r"`([^`\n]{4,60})`")
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
    looked_up = {
        layout: _acts_and_rules(layout, call, known.get(layout)) for layout in layouts
    }

    def fitting(layout: Layout, guard: str) -> list[ActRule]:
        acts, rules = looked_up[layout]
        return [
            rule for rule in rules if rule.guard == guard and rule.holds_for_any(acts)
        ]

    # reminders come last: many of them must not keep a guard from its answer
    for guard in (DENY, ASK) if not is_after else ():
        for layout, (acts, _) in looked_up.items():
            chosen = fitting(layout, guard)
            kind = COMMAND if acts and acts[0].command else WRITE
            lead = ASK_AGENT if guard == ASK and kind not in host.asks else guard
            if lead == ASK_AGENT and chosen:
                chosen = _not_told(layout, call, chosen)[0] if call.session else []
            if chosen:
                what = DENIED if guard == DENY else ASKED
                _note(layout, what, chosen, f"{call.session} {now()}")
                texts = [LEADS[lead], *("\n".join(rule.lines) for rule in chosen)]
                decision = ASK if lead == ASK else DENY
                return host.act(call, decision, _limited(call, texts, "\n\n"))
    if host.reminds_after != is_after:
        return None
    for layout in layouts:
        reminders = fitting(layout, REMIND)
        if reminders and (texts := _reminders(layout, call, reminders)):
            return host.act(call, REMIND, _limited(call, texts, ""))
    return None


def _acts_and_rules(
    layout: Layout, call: Call, table: ActTable | None
) -> tuple[list[Act], list[ActRule]]:
    """Return the acts of a call in the project of a repository, and the rules of this repository if there are any acts."""
    acts = [*acts_of(call, layout.project)]
    if not acts:
        return [], []
    table = table or read_table(layout, sweep(layout).digest)
    return acts, table.rules if table else _made_again(layout, call)


def _reminders(layout: Layout, call: Call, rules: list[ActRule]) -> list[str]:
    """Return the texts of the rules that a call names, and the titles of the others that fit, and record them.

    A session gets each text and each title once; a text may follow a title.
    """
    named, others = _split_by_call(rules, [*acts_of(call, layout.project)])
    texts, titles = _not_told(layout, call, named, others)
    if call.session:
        _note_reminders(layout, rules, texts, call.session)
    reminders = [rule.reminder for rule in texts]
    return [*reminders, _titles(titles)] if titles else reminders


def _titles(rules: list[ActRule]) -> str:
    """Return the titles of rules with their files, in a fence."""
    from ..recall.render import fence_lines, mark_text, new_nonce  # slow to load

    lines = [f"- {mark_text(rule.title)} — {rule.lines[-1]}" for rule in rules]
    return fence_lines(FENCE_TAG, new_nonce(), TITLES_NOTE, lines)


def _split_by_call(
    rules: list[ActRule], acts: list[Act]
) -> tuple[list[ActRule], list[ActRule]]:
    """Return the rules that a call names, the nearest first, and the others that fit it.

    A call names a rule if few rules have its pattern, or if it has a word of the rule's title, or a piece of code of its text,
    that few rules have. Rules that no person vouches for come last, so that they do not displace others.
    """
    from ..text.conditions import specific_stems  # the usual call fits no rule

    patterns = {rule.key: _narrowest(rule, acts) for rule in rules}
    sharing = Counter(patterns.values())
    written = " ".join(f"{act.path} {act.command} {act.text}" for act in acts)
    written = written[:MAX_READ_CHARS]
    said = {*specific_stems(spell_out_names(written))}
    terms = {
        rule.key: {
            *said.intersection(specific_stems(rule.title)),
            *(
                one
                for one in CODE_SPAN.findall("\n".join(rule.lines))
                if one in written
            ),
        }
        for rule in rules
    }
    holding = Counter(term for found in terms.values() for term in found)
    telling = {term for term, count in holding.items() if count <= MAX_SHARED}
    shared = {key: len(telling & found) for key, found in terms.items()}

    def turn(rule: ActRule) -> tuple[bool, int, int]:
        length = len(GLOB_SIGN.sub("", patterns[rule.key]))
        return rule.is_doubted, -shared[rule.key], -length

    named: list[ActRule] = []
    others: list[ActRule] = []
    for rule in sorted(rules, key=turn):
        is_named = shared[rule.key] or sharing[patterns[rule.key]] <= MAX_SHARED
        (named if is_named else others).append(rule)
    return named, others


def _narrowest(rule: ActRule, acts: list[Act]) -> str:
    """Return the longest command or path of a rule that fits one of some acts, with the texts of the rule."""
    applies = rule.applies
    fitting = [
        "".join((*one.paths, *one.commands))
        for one in (
            *(Applies(paths=(path,)) for path in applies.paths if path[0] != EXCLUDES),
            *(Applies(commands=(command,)) for command in applies.commands),
        )
        if any(fits(one, act) for act in acts)
    ]
    narrow = max(fitting, key=lambda one: len(GLOB_SIGN.sub("", one)), default="")
    return " ".join((narrow, *applies.text))


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
            files = file_writes(did.command, partial(_is_folder, folder))
            written = [(file, did.command) for file in files]
        for file, text in written:
            if file == ANY_FILE:
                yield Act(path=file, text=text)
                continue
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


def _not_told(
    layout: Layout, call: Call, named: list[ActRule], others: Sequence[ActRule] = ()
) -> tuple[list[ActRule], list[ActRule]]:
    """Return the rules whose text, and those whose title the session gets now, and record them.

    Of the named rules, those for whose text there is no room count as others. A title is not handed over if the session has
    received the text, also with a prompt, or if no person vouches for the rule. Nothing is said of a rule that always
    applies and with which the session started.
    """
    from ..files.session_records import (  # opens the records
        AT_START,
        POINTER,
        note_told,
        told_to,
    )

    # a sub-agent has a context of its own; two hooks of one host may both run
    session = f"{call.session} {call.fields.get('agent_id', '')}".strip()
    apart = call.host if HOSTS[call.host].is_apart(call) else ""
    known = told_to(layout, session).keys
    start = f"act:{apart}:"
    received = {key.partition("@")[0] for key in known if not key.endswith(POINTER)}
    new = [
        rule
        for rule in (*named, *others)
        if start + rule.key not in known
        and not (rule.is_at_start and AT_START + rule.key in known)
    ]
    names = {rule.key for rule in named}
    texts = [rule for rule in new if rule.key in names][:MAX_REMINDERS]
    titles = [
        rule
        for rule in new
        if rule not in texts
        and rule.id not in received
        and not rule.is_doubted
        and f"{start}{rule.key}{POINTER}" not in known
    ][:MAX_TITLES]
    if texts or titles:
        keys = [start + rule.key for rule in texts]
        keys += [f"{start}{rule.key}{POINTER}" for rule in titles]
        note_told(layout, session, 0, keys)
    return texts, titles


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
