"""A language model on this machine's loopback that follows a script: in the dialects of four vendors, with streams, so
that real agents run against it. What it was asked is kept."""

import itertools
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SAID = "Noted."
USED = {"input_tokens": 10, "output_tokens": 3}
SHELLS = ("Bash", "bash", "exec_command", "shell_command", "run_shell_command")  # as the hosts name theirs
NUMBERS = itertools.count(1)


@dataclass
class Step:
    """What the model does in one answer: it says a text, or calls a tool."""

    text: str = SAID
    tool: str = ""  # the end of its name; "shell" is that of the host
    given: dict = field(default_factory=dict)
    number: int = field(default_factory=lambda: next(NUMBERS))


def say(text: str) -> Step:
    return Step(text)


def shell(command: str) -> Step:
    return Step(tool="shell", given={"command": command, "description": "Runs a command"})


def remember(title: str, text: str, quote: str = "", **given: object) -> Step:
    """Call the tool of our MCP server."""
    quoted = {"quote": quote} if quote else {}
    return Step(tool="remember", given={"title": title, "text": text, **quoted, **given})


class Model:
    """Listens until it is closed. It takes one step of its script for each request that offers tools."""

    def __init__(self) -> None:
        self.asked: list[str] = []  # bodies of requests
        self.script: list[Step] = []
        self._lock = threading.Lock()
        answering = type("Answering", (_Answering,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), answering)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def step(self, offered: list[tuple[str, str]]) -> Step:
        """Return the next step, with the name of the tool as it is offered; a text where it is not offered."""
        with self._lock:
            if not offered or not self.script:
                return Step()
            wanted = self.script[0]
            names = [pair for pair in offered if _is_meant(wanted.tool, pair[1])]
            names.sort(key=lambda pair: len(pair[1]))  # write before todowrite
            if wanted.tool and not names:
                return Step(f"There is no tool {wanted.tool} among {[name for _, name in offered]}.")
            self.script.pop(0)
            return Step(wanted.text, ".".join(filter(None, names[0])), wanted.given) if wanted.tool else wanted

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, *_) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._say(json.dumps({"object": "list", "data": [{"id": "loopback", "object": "model"}]}))

    def do_POST(self) -> None:
        body = self._body().decode("utf-8", "replace")
        self.model.asked.append(body)
        asked = json.loads(body or "{}")
        for ending, answer in DIALECTS.items():
            if ending in self.path:
                plain, events = answer(asked.get("model", "loopback"), self.model.step([*_offered(asked)]))
                streams = asked.get("stream") or "stream" in self.path
                self._say(_stream(events) if streams else json.dumps(plain), streams)
                return
        self._say("{}")

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _say(self, text: str, stream: bool = False) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if stream else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _stream(events: list[dict | str]) -> str:
    lines = []
    for event in events:
        if isinstance(event, dict) and "type" in event:
            lines.append(f"event: {event['type']}")
        lines.append(f"data: {event if isinstance(event, str) else json.dumps(event)}\n")
    return "\n".join(lines) + "\n"


def _is_meant(tool: str, name: str) -> bool:
    return name in SHELLS if tool == "shell" else name.endswith(tool)


def _offered(asked: dict) -> Iterator[tuple[str, str]]:
    """Yield the namespace and the name of each tool that a request offers."""
    for tool in asked.get("tools") or ():
        if "functionDeclarations" in tool:
            yield from (("", one["name"]) for one in tool["functionDeclarations"])
        elif tool.get("type") == "namespace":
            yield from ((tool["name"], one.get("name", "")) for one in tool["tools"])
        else:
            yield "", tool.get("function", tool).get("name", "")


def _anthropic(name: str, step: Step) -> tuple[dict, list]:
    message = {
        "id": f"msg_{step.number}",
        "type": "message",
        "role": "assistant",
        "model": name,
        "stop_sequence": None,
        "usage": USED,
    }
    if step.tool:
        block = {"type": "tool_use", "id": f"toolu_{step.number}", "name": step.tool, "input": step.given}
        empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(step.given)}
    else:
        block = {"type": "text", "text": step.text}
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": step.text}
    end = "tool_use" if step.tool else "end_turn"
    events = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": end, "stop_sequence": None}, "usage": USED},
        {"type": "message_stop"},
    ]
    return {**message, "content": [block], "stop_reason": end}, events


def _responses(name: str, step: Step) -> tuple[dict, list]:
    made = {"id": f"item_{step.number}", "status": "completed"}
    if step.tool:
        space, _, tool = step.tool.rpartition(".")
        given = {"cmd": step.given["command"]} if tool == "exec_command" else step.given
        call = {"call_id": f"call_{step.number}", "name": tool, "arguments": json.dumps(given)}
        item = {**made, "type": "function_call", **call, **({"namespace": space} if space else {})}
        if tool == "apply_patch":
            item = {
                **made,
                "type": "custom_tool_call",
                "call_id": call["call_id"],
                "name": tool,
                "input": given["patch"],
            }
    else:
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        item = {**made, "type": "message", "role": "assistant", "content": content}
    response = {"id": f"resp_{step.number}", "object": "response", "status": "completed", "model": name}
    response = {**response, "output": [item], "usage": {**USED, "total_tokens": 13}}
    events = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return response, events


def _chat(name: str, step: Step) -> tuple[dict, list]:
    base = {"id": f"chat_{step.number}", "object": "chat.completion", "model": name}
    said: dict = {"role": "assistant", "content": step.text}
    if step.tool:
        function = {"name": step.tool, "arguments": json.dumps(step.given)}
        call = {"index": 0, "id": f"call_{step.number}", "type": "function", "function": function}
        said = {"role": "assistant", "content": None, "tool_calls": [call]}
    end = "tool_calls" if step.tool else "stop"
    whole = {"index": 0, "message": said, "finish_reason": end}
    used = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}

    def piece(delta: dict, end: str | None) -> dict:
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        return {**base, "object": "chat.completion.chunk", "choices": [choice]}

    return {**base, "choices": [whole], "usage": used}, [piece(said, None), piece({}, end), "[DONE]"]


def _gemini(_: str, step: Step) -> tuple[dict, list]:
    part = {"functionCall": {"name": step.tool, "args": step.given}} if step.tool else {"text": step.text}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    answer = {"candidates": [candidate]}
    answer["usageMetadata"] = {"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13}
    return answer, [answer]


DIALECTS = {"/messages": _anthropic, "/responses": _responses, "/chat/completions": _chat, "enerateContent": _gemini}
