"""Language models for the tests: a real server on the loopback that answers as it is told, and one in the process."""

import json

from rawkomem.llm import EndpointLlm
from rawkomem.model.user_settings import LlmSettings

from tests.embed.server import Answer, Server

QUICK = (0.01, 0.01, 0.01)  # pauses before a retry


def says(text: str, **more) -> Answer:
    """A chat completion with a text."""
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    return Answer({"choices": [{"index": 0, "message": message, "finish_reason": "stop", **more}]})


def says_json(value: object) -> Answer:
    return says(json.dumps(value))


def refuses(status: int, words: str = "no", **headers: str) -> Answer:
    return Answer({"error": {"message": words}}, status, headers)


def opened(server: Server, **more) -> EndpointLlm:
    return EndpointLlm(LlmSettings(**{"endpoint": server.url, "model": "tiny", "timeout": 5.0, **more}), QUICK)
