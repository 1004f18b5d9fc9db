"""A language model on this machine's loopback that says one thing: in the dialects of four vendors, with streams, so that
real agents run against it. What it was asked is kept."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SAID = "Noted."
USED = {"input_tokens": 10, "output_tokens": 3}


class Model:
    """Listens until it is closed."""

    def __init__(self) -> None:
        self.asked: list[str] = []  # bodies of requests
        answering = type("Answering", (_Answering,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), answering)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

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
                plain, events = answer(asked.get("model", "loopback"))
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


def _anthropic(name: str) -> tuple[dict, list]:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": name,
        "stop_sequence": None,
        "usage": USED,
    }
    text = {"type": "text", "text": SAID}
    events = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": SAID}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": USED},
        {"type": "message_stop"},
    ]
    return {**message, "content": [text], "stop_reason": "end_turn"}, events


def _responses(name: str) -> tuple[dict, list]:
    content = [{"type": "output_text", "text": SAID, "annotations": []}]
    item = {"id": "item_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    response = {"id": "resp_1", "object": "response", "status": "completed", "model": name, "output": [item]}
    response["usage"] = {**USED, "total_tokens": 13}
    events = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {
            "type": "response.output_text.delta",
            "item_id": "item_1",
            "output_index": 0,
            "content_index": 0,
            "delta": SAID,
        },
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return response, events


def _chat(name: str) -> tuple[dict, list]:
    base = {"id": "chat_1", "object": "chat.completion", "model": name}
    whole = {"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}
    used = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}

    def piece(delta: dict, end: str | None) -> dict:
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        return {**base, "object": "chat.completion.chunk", "choices": [choice]}

    events = [piece({"role": "assistant", "content": SAID}, None), piece({}, "stop"), "[DONE]"]
    return {**base, "choices": [whole], "usage": used}, events


def _gemini(_: str) -> tuple[dict, list]:
    candidate = {"content": {"role": "model", "parts": [{"text": SAID}]}, "finishReason": "STOP", "index": 0}
    answer = {"candidates": [candidate]}
    answer["usageMetadata"] = {"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13}
    return answer, [answer]


DIALECTS = {
    "/messages": _anthropic,
    "/responses": _responses,
    "/chat/completions": _chat,
    "enerateContent": _gemini,
}
