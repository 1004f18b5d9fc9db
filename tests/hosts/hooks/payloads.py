"""What hosts write on stdin, one payload for each event, as docs/hosts.md tells; FOLDER stands for the project."""

FOLDER = "FOLDER"
TRANSCRIPT = "TRANSCRIPT"
ASK = "Please install the left-pad package with npm."


def claude(name: str, **more: object) -> dict:
    said = {
        "session_id": "3f2a9c10-0000-4000-8000-1234567890ab",
        "transcript_path": TRANSCRIPT,
        "cwd": FOLDER,
        "permission_mode": "default",
        "hook_event_name": name,
    }
    return {**said, **more}


def codex(name: str, **more: object) -> dict:
    return {**claude(name), "model": "gpt-5", **more}


def cursor(name: str, **more: object) -> dict:
    return {
        "conversation_id": "c0ffee00-1111-4222-8333-444455556666",
        "generation_id": "g1",
        "model": "auto",
        "hook_event_name": name,
        "cursor_version": "3.20.17",
        "workspace_roots": [FOLDER],
        "user_email": None,
        "transcript_path": TRANSCRIPT,
        **more,
    }


def copilot(**more: object) -> dict:
    return {"sessionId": "cp-1", "timestamp": 1786363200000, "cwd": FOLDER, **more}


def gemini(name: str, **more: object) -> dict:
    return {
        "session_id": "gm-1",
        "transcript_path": TRANSCRIPT,
        "cwd": FOLDER,
        "hook_event_name": name,
        "timestamp": "2026-08-10T12:00:00.000Z",
        **more,
    }


def vscode(name: str, **more: object) -> dict:
    return {
        "timestamp": "2026-08-10T12:00:00.000Z",
        "cwd": FOLDER,
        "sessionId": "vs-1",
        "hookEventName": name,
        "transcript_path": TRANSCRIPT,
        **more,
    }


NOTICE = {"systemMessage": "rawkomem: added “Use pnpm”"}  # what the host shows to the person
# (host, event) → (what it writes, how it is answered: CONTEXT stands for the text)
CALLS: dict[tuple[str, str], tuple[dict, object]] = {
    ("claude", "session-start"): (
        claude("SessionStart", source="startup"),
        {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "CONTEXT"}},
    ),
    ("claude", "prompt"): (
        claude("UserPromptSubmit", prompt_id="p1", prompt=ASK),
        {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "CONTEXT"}, **NOTICE},
    ),
    ("claude", "compact"): (claude("PreCompact", trigger="auto"), ""),
    ("claude", "turn-end"): (claude("Stop", stop_hook_active=False, last_assistant_message="Done."), ""),
    ("claude", "session-end"): (claude("SessionEnd", reason="prompt_input_exit"), ""),
    ("codex", "session-start"): (
        codex("SessionStart", source="startup"),
        {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "CONTEXT"}},
    ),
    ("codex", "prompt"): (
        codex("UserPromptSubmit", turn_id="t1", prompt=ASK, transcript_path=None),
        {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "CONTEXT"}, **NOTICE},
    ),
    ("codex", "turn-end"): (codex("Stop", turn_id="t1", stop_hook_active=False, last_assistant_message=None), ""),
    ("codex", "session-end"): (codex("SessionEnd", reason="other"), ""),
    ("opencode", "session-start"): ({"session_id": "oc-1", "source": "startup", "cwd": FOLDER}, "CONTEXT"),
    ("opencode", "prompt"): ({"session_id": "oc-1", "prompt": ASK, "cwd": FOLDER}, "CONTEXT"),
    ("opencode", "turn-end"): ({"session_id": "oc-1", "messages": [], "cwd": FOLDER}, ""),
    ("opencode", "session-end"): ({"session_id": "oc-1", "cwd": FOLDER}, ""),
    ("cursor", "session-start"): (
        cursor("sessionStart", session_id="c0ffee00-1111-4222-8333-444455556666", is_background_agent=False),
        {"additional_context": "CONTEXT"},
    ),
    ("cursor", "prompt"): (
        cursor("beforeSubmitPrompt", prompt=ASK, attachments=[]),
        {"continue": True, "additional_context": "CONTEXT"},
    ),
    ("cursor", "compact"): (cursor("preCompact", trigger="auto", is_first_compaction=True), ""),
    ("cursor", "turn-end"): (cursor("stop", status="completed", loop_count=0), ""),
    ("cursor", "session-end"): (cursor("sessionEnd", reason="window_close", duration_ms=5), ""),
    ("copilot", "session-start"): (copilot(source="startup", initialPrompt=ASK), {"additionalContext": "CONTEXT"}),
    ("copilot", "prompt"): (
        copilot(prompt=ASK, transformedPrompt=f"<x>\n{ASK}"),
        {"modifiedTransformedPrompt": f"CONTEXT\n<x>\n{ASK}"},
    ),
    ("copilot", "compact"): (copilot(trigger="auto", customInstructions=""), ""),
    ("copilot", "turn-end"): (copilot(transcriptPath=TRANSCRIPT, stopReason="end_turn"), ""),
    ("copilot", "session-end"): (copilot(reason="complete"), ""),
    ("gemini", "session-start"): (
        gemini("SessionStart", source="startup"),
        {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "CONTEXT"}},
    ),
    ("gemini", "prompt"): (
        gemini("BeforeAgent", prompt=ASK),
        {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "CONTEXT"}, **NOTICE},
    ),
    ("gemini", "turn-end"): (gemini("AfterAgent", prompt=ASK, prompt_response="Done.", stop_hook_active=False), ""),
    ("gemini", "session-end"): (gemini("SessionEnd", reason="exit"), ""),
    ("vscode", "session-start"): (
        vscode("SessionStart", source="new"),
        {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "CONTEXT"}},
    ),
    ("vscode", "prompt"): (
        vscode("UserPromptSubmit", prompt=ASK),
        {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "CONTEXT"}, **NOTICE},
    ),
    ("vscode", "turn-end"): (vscode("Stop", stop_hook_active=False), ""),
    ("vscode", "session-end"): (vscode("SessionEnd"), ""),
}
