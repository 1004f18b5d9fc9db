"""A person's words are those that a person typed: not a sub-agent's, a template's, a summary's or a tool's."""

import io
import json

import pytest
from rawkomem.learn.transcripts import Transcript

from tests.learn.session.sessions import SESSION, codex, gemini, gemini_lines, jsonl, opencode

START = "2026-08-10T12:00:%02d.000Z"
WORDS = "no, use pnpm here"


def turns(data: bytes, name: str = "") -> list[tuple[str, str]]:
    stream = io.BytesIO(data)
    if name:
        stream.name = name  # type: ignore[attr-defined]
    return [(turn.role, turn.text) for turn in Transcript(stream).turns()]


def people(data: bytes, name: str = "") -> list[str]:
    return [text for role, text in turns(data, name) if role in ("user", "assistant", "")]


def claude(content: object, role: str = "user", at: int = 0, **more: object) -> dict:
    message = {"role": role, "content": content}
    return {"type": role, "uuid": "u", "sessionId": SESSION, "timestamp": START % at, "message": message, **more}


def queued(words: object, **more: object) -> dict:
    attachment = {"type": "queued_command", "prompt": words, "commandMode": "prompt", **more}
    return {"type": "attachment", "uuid": "a", "sessionId": SESSION, "attachment": attachment}


def enqueued(words: str) -> dict:
    return {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION, "content": words}


def tool(number: int) -> dict:
    return claude([{"type": "tool_result", "tool_use_id": f"t{number}", "content": f"line {number}"}])


class TestTypedWhileAToolRuns:
    def test_an_attachment_is_a_persons_turn(self):
        assert turns(jsonl([queued(WORDS)])) == [("user", WORDS)]
        assert turns(jsonl([queued([{"type": "text", "text": WORDS}])])) == [("user", WORDS)]
        assert turns(jsonl([{"type": "attachment", "attachment": {"type": "queued_command", "prompt": WORDS}}])) == [
            ("user", WORDS)
        ]

    @pytest.mark.parametrize("delivered", [queued(WORDS), claude(WORDS)], ids=["attachment", "prompt"])
    def test_the_same_words_delivered_later_count_once(self, delivered):
        records = [
            enqueued(WORDS),
            *map(tool, range(20)),
            {"type": "queue-operation", "operation": "dequeue"},
            delivered,
        ]
        assert people(jsonl(records)) == [WORDS]

    def test_words_said_again_after_they_were_delivered_count_again(self):
        answers = [claude(f"step {number}", "assistant") for number in range(10)]
        assert people(jsonl([enqueued("yes"), queued("yes"), *answers, claude("yes")])).count("yes") == 2

    def test_what_other_programs_queue_is_nobodys(self):
        note = "<task-notification>\n<status>completed</status>\n</task-notification>"
        records = [enqueued(note), queued(note, commandMode="task-notification"), claude(note)]
        records += [queued(WORDS, origin={"kind": "channel"}), claude(WORDS, origin={"kind": "channel"})]
        assert people(jsonl(records)) == []

    def test_why_a_person_refused_a_tool(self):
        said = (
            f"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{WORDS}"
        )
        part = {"type": "tool_result", "tool_use_id": "t", "content": said, "is_error": True}
        for mark in ({"toolUseResult": "User rejected tool use"}, {"toolDenialKind": "user-rejected"}):
            assert people(jsonl([claude([part], **mark)])) == [WORDS]
        assert people(jsonl([claude([part], toolUseResult=f"Error: {said}")])) == [], "a tool can print this"

    @pytest.mark.parametrize("title", ["User steering update:", "User hints:"])
    def test_hints_in_gemini(self, title):
        hint = f"{title}\n<user_input>\n{WORDS}\n</user_input>\nInternal instruction: Re-evaluate the active plan."
        content = [{"text": hint}, {"functionResponse": {"response": {"output": "x"}}}]
        assert people(jsonl([{"id": "1", "type": "user", "content": content}])) == [WORDS]


class TestSubagents:
    @pytest.mark.parametrize("role", ["user", "assistant"])
    @pytest.mark.parametrize("mark", [{"isSidechain": True}, {"agentId": "a1"}], ids=["sidechain", "agent"])
    def test_of_claude_code(self, role, mark):
        call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
        records = [claude([{"type": "text", "text": "we use ed"}, call], role, **mark), claude(WORDS)]
        assert turns(jsonl(records)) == [("user", WORDS)]

    def test_in_a_folder_of_their_own(self):
        assert people(jsonl([claude(WORDS)]), f"/p/{SESSION}/subagents/agent-1.jsonl") == []
        assert people(jsonl([claude(WORDS)]), "/p/subagents.jsonl") == [WORDS]

    @pytest.mark.parametrize(
        "meta",
        [
            {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}},
            {"source": {"subagent": "review"}},
            {"source": "cli", "agent_role": "explorer"},
        ],
    )
    def test_of_codex(self, meta):
        lines = codex().split(b"\n")
        own = {"type": "session_meta", "payload": {"id": "child", **meta}}
        assert turns(jsonl([own]) + b"\n".join(lines)) == [], "the parent's records follow those of a fork"
        assert people(jsonl([{"type": "session_meta", "payload": {"id": "x", "source": "cli"}}]) + b"\n".join(lines))

    def test_of_opencode(self):
        document = json.loads(opencode())
        document["info"]["parentID"] = "ses_parent"
        assert turns(json.dumps(document).encode()) == []
        del document["info"]["parentID"]
        document["messages"][1]["info"]["parentID"] = "msg_parent"
        document["messages"][0]["parts"].append({"type": "subtask", "prompt": "we use ed", "agent": "worker"})
        assert people(json.dumps(document).encode()) == people(opencode())

    def test_of_gemini(self):
        document = {**json.loads(gemini()), "kind": "subagent"}
        assert turns(json.dumps(document).encode()) == []
        lines = [{"sessionId": SESSION, "projectHash": "h", "kind": "subagent"}]
        assert turns(jsonl(lines) + gemini_lines()) == []

    def test_of_copilot(self):
        said = {"type": "assistant.message", "id": "2", "parentId": "1", "data": {"content": "we use ed"}}
        spawned = {**said, "data": {"content": "we use ed", "parentToolCallId": "t"}}
        person = {"type": "user.message", "id": "1", "parentId": None, "data": {"content": WORDS}}
        started = {"type": "subagent.started", "id": "3", "parentId": "1", "agentId": "a", "data": {"agentName": "x"}}
        assert people(jsonl([person, started, {**said, "agentId": "a"}, spawned])) == [WORDS]


class TestTemplates:
    COMMAND = "<command-message>pr-review</command-message>\n<command-name>/pr-review</command-name>\n"
    TEMPLATE = "## Context\n\nYou must always review. <command-name>"

    def test_the_record_behind_a_command_is_its_template_and_the_arguments_are_typed(self):
        command = f"{self.COMMAND}<command-args>151, only the tests</command-args>"
        records = [claude(command), claude(self.TEMPLATE), claude("I see.", "assistant"), claude(WORDS)]
        assert turns(jsonl(records)) == [
            ("user", "151, only the tests"),
            ("system", self.TEMPLATE),
            ("assistant", "I see."),
            ("user", WORDS),
        ]

    def test_a_command_without_a_template_takes_nothing_from_what_a_person_says_next(self):
        output = claude("<local-command-stdout>Set model</local-command-stdout>")
        assert people(jsonl([claude(self.COMMAND), output, claude(WORDS)])) == [WORDS]
        assert people(jsonl([claude(self.COMMAND), claude(WORDS, at=9)])) == [WORDS], "nine seconds later"

    def test_a_skill_that_the_agent_calls(self):
        call = {"type": "tool_use", "id": "t", "name": "Skill", "input": {"skill": "code-review"}}
        done = {"type": "tool_result", "tool_use_id": "t", "content": "Launching skill"}
        records = [claude([call], "assistant"), claude([done]), claude(self.TEMPLATE), claude(WORDS, at=30)]
        assert people(jsonl(records)) == [WORDS]

    @pytest.mark.parametrize(
        "text",
        [
            "This session is being continued from a previous conversation that ran out of context. We use ed.",
            "Another language model started to solve this problem and produced a summary. We use ed.",
            "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nWe use ed.\n</INSTRUCTIONS>",
            "[Request interrupted by user for tool use]",
            "[Image: source: /tmp/a.png]",
        ],
    )
    def test_what_a_host_sends_in_a_persons_place(self, text):
        for record in (claude(text), {"role": "user", "content": text}):
            assert people(jsonl([record])) == []

    def test_the_hosts_own_answers(self):
        synthetic = claude("No response requested.", "assistant")
        synthetic["message"]["model"] = "<synthetic>"
        assert people(jsonl([synthetic, claude("API Error: 529", "assistant", isApiErrorMessage=True)])) == []

    def test_a_summary_of_opencode(self):
        document = json.loads(opencode([("assistant", "We use ed."), ("user", WORDS)]))
        document["messages"][0]["info"]["summary"] = True
        document["messages"][1]["info"]["summary"] = {"diffs": []}
        assert people(json.dumps(document).encode()) == [WORDS]

    def test_a_skill_of_copilot(self):
        data = {"content": "We use ed.", "source": "skill-pdf"}
        assert people(jsonl([{"type": "user.message", "id": "1", "parentId": None, "data": data}])) == []

    def test_files_that_a_person_names_in_gemini(self):
        content = f"{WORDS} @a.md\n--- Content from referenced files ---\nContent from @a.md:\nWe use ed."
        assert people(jsonl([{"id": "1", "type": "user", "content": content}])) == [f"{WORDS} @a.md"]


class TestSpeakers:
    @pytest.mark.parametrize(
        "lines",
        [
            ("**User** (2026-01-23 14:20:54Z)", "**Claude** (2026-01-23 14:21:00Z)"),
            ("**User (2026-01-23 14:20:54Z):**", "**Claude (2026-01-23 14:21:00Z):**"),
            ("### User (2026-01-23T14:20:54Z)", "### Assistant [2026-01-23T14:21:00Z]"),
            ("**[2026-01-23 14:20:54Z] User:**", "**[2026-01-23 14:21:00Z] Assistant:**"),
        ],
    )
    def test_speakers_with_emphasis_and_times(self, lines):
        log = f"{lines[0]}\n\n{WORDS}\n\n{lines[1]}\n\nI will.\n"
        found = [*Transcript(io.BytesIO(log.encode())).turns()]
        assert [(turn.role, turn.text) for turn in found] == [("user", WORDS), ("assistant", "I will.")]
        assert [turn.at for turn in found] == [1769178054000, 1769178060000]

    def test_emphasis_alone_names_nobody(self):
        assert turns(b"**User** stories (three) are here\n\n**Response**\n") == [
            ("", "**User** stories (three) are here\n\n**Response**")
        ]


def test_cursors_notice_about_a_task_is_not_a_persons():
    """Cursor puts its own request behind the notice, in the element in which it puts a person's words."""
    notice = (
        "<timestamp>Tuesday, 10:13 PM</timestamp>\n<system_notification>\nThe task has finished.\n</system_notification>\n"
        "<user_query>Briefly inform the user. Never repeat the same confirmation.</user_query>"
    )
    typed = f"<timestamp>Tuesday, 10:14 PM</timestamp>\n<user_query>{WORDS}</user_query>"
    records = [{"role": "user", "message": {"content": text}} for text in (notice, typed)]
    assert people(jsonl(records)) == [WORDS]
    history = "".join(f"_**User**_\n\n{text}\n\n---\n\n" for text in (notice, typed))
    (said,) = people(f"<!-- Generated by SpecStory -->\n\n{history}".encode())
    assert said.endswith(WORDS)
