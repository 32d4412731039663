"""A model behind chat completions of which all is known: how often it sees, refuses, babbles, takes the first."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np

from analysis.labels.files import default_labels


@dataclass
class FakeModel:
    """Answers follow from picture and question alone, so that a second evaluation gets the very same."""

    #: pixels' digest -> category and visual change
    truth: Mapping[str, tuple[str, float]]
    right: Callable[[float], float]
    first_option: float = 0.0
    refuses: float = 0.0
    babbles: float = 0.0
    #: of the attempts: too many calls, a reply cut off, a connection closed
    too_many: float = 0.0
    cut: float = 0.0
    closed: float = 0.0
    keys: list[str] = field(default_factory=list)
    #: questions that were answered whole, by what was asked
    answered: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    url: str = ""
    _attempts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reply_to(self, body: dict, key: str) -> tuple[int, bytes | None]:
        parts = body["messages"][0]["content"]
        text = next(part["text"] for part in parts if part["type"] == "text")
        picture = next(part["image_url"]["url"] for part in parts if part["type"] == "image_url").partition(",")[2]
        asked = hashlib.sha256(f"{text}{picture}".encode()).hexdigest()
        with self._lock:
            self.keys.append(key)
            self.calls += 1
            self._attempts[asked] += 1
            trouble = _rng(f"{asked} {self._attempts[asked]}").random()
        reply = json.dumps(
            {
                "model": body["model"],
                "choices": [{"message": {"content": self.words(asked, text, picture)}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 300, "completion_tokens": 3},
            }
        ).encode()
        if trouble < self.too_many:
            return 429, b'{"error": {"message": "slow down"}}'
        if trouble < self.too_many + self.cut:
            return 200, reply[: len(reply) // 2]
        if trouble < self.too_many + self.cut + self.closed:
            return 0, None
        with self._lock:
            self.answered[asked] += 1
        return 200, reply

    def words(self, asked: str, text: str, picture: str) -> str:
        pixels = cv2.imdecode(np.frombuffer(base64.b64decode(picture), np.uint8), cv2.IMREAD_COLOR_RGB)
        category, change = self.truth[hashlib.sha256(pixels.tobytes()).hexdigest()]
        rng = _rng(asked)
        kind = rng.random()
        if kind < self.refuses:
            return "I'm sorry, I cannot help with that."
        if kind < self.refuses + self.babbles:
            return "lorem ipsum"
        if rng.random() < self.first_option:
            return text.splitlines()[1].partition(",")[0].removeprefix("A. ")
        if rng.random() < self.right(change):
            return f"It is a {category}."
        return str(rng.choice([one for one in default_labels().ids if one != category]))

    @contextmanager
    def listening(self) -> Iterator[FakeModel]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, reply = model.reply_to(body, self.headers.get("Authorization", ""))
                if reply is None:
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                if status == 429:
                    self.send_header("Retry-After", "0")
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://").removesuffix("/v1")


def _rng(seed: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))
