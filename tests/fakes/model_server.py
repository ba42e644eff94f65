"""A real HTTP server that speaks the OpenAI protocol from a script: good, bad and hostile replies, in order."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Scripted = str | tuple[str, Any]
"""A text that is streamed in pieces, or what is wrong with the reply and something to go with it."""


class _Server(ThreadingHTTPServer):
    script: list[Scripted]
    requests: list[dict[str, Any]]
    keys: list[str]
    turn: int


@contextmanager
def model_server(script: Sequence[Scripted]) -> Iterator[_Server]:
    """Its last reply is repeated for ever. `url` is what a client is given."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.script, server.requests, server.keys, server.turn = list(script), [], [], 0
    server.daemon_threads = True
    server.url = f"http://127.0.0.1:{server.server_address[1]}/v1"  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: Any) -> None:
        return None

    def do_POST(self) -> None:
        server = self.server
        server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        server.keys.append(self.headers.get("Authorization", ""))
        scripted = server.script[min(server.turn, len(server.script) - 1)]
        server.turn += 1
        kind, what = ("text", scripted) if isinstance(scripted, str) else scripted
        try:
            getattr(self, f"_{kind}")(what)
        except (BrokenPipeError, ConnectionResetError):
            return

    def _text(self, text: str, finish: str | None = "stop", usage: bool = True) -> None:
        self._begin()
        for start in range(0, len(text), 200):
            self._event({"delta": {"content": text[start : start + 200]}, "finish_reason": None})
        if finish:
            self._event({"delta": {}, "finish_reason": finish})
        if usage:
            counts = {"prompt_tokens": 1000, "completion_tokens": len(text), "total_tokens": 1000 + len(text)}
            self._send({**_FRAME, "choices": [], "usage": counts})
        if finish:
            self.wfile.write(b"data: [DONE]\n\n")

    def _status(self, code: int) -> None:
        body = b'{"error": {"message": "not now", "type": "x"}}'
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "0.01")
        self.end_headers()
        self.wfile.write(body)

    def _refusal(self, text: str) -> None:
        self._begin()
        self._event({"delta": {"refusal": text}, "finish_reason": None})
        self._event({"delta": {}, "finish_reason": "stop"})

    def _malformed(self, text: str) -> None:
        self._begin()
        self.wfile.write(text.encode())

    def _cut(self, text: str) -> None:
        self._text(text, finish=None, usage=False)

    def _at_the_limit(self, text: str) -> None:
        self._text(text, finish="length")

    def _slow(self, pause_s: float) -> None:
        self._begin()
        for _ in range(1000):
            self._event({"delta": {"content": "one moment "}, "finish_reason": None})
            time.sleep(pause_s)

    def _uncounted(self, text: str) -> None:
        self._text(text, usage=False)

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def _event(self, choice: dict[str, Any]) -> None:
        self._send({**_FRAME, "choices": [{"index": 0, **choice}]})

    def _send(self, content: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(content).encode() + b"\n\n")
        self.wfile.flush()


_FRAME = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}


def written(source: str, strategy: str = "doubles at once") -> str:
    """A reply as a model gives it."""
    return f"Let me think.\n\nStrategy: {strategy}\n\n```python\n{source}\n```\nThat is all."
