"""A model behind chat completions of which all is known: how often it sees, refuses, babbles, takes the first.

Requests and replies are those of OpenAI's chat completions: it refuses what that service refuses, in its words.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cv2
import numpy as np
import requests
from requests.adapters import BaseAdapter
from urllib3 import HTTPResponse

from analysis.labels.files import default_labels

#: Arguments of chat completions that may be in a call here; any other one is refused as the service refuses it.
KNOWN = frozenset(
    {"model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "n", "seed", "stop", "user"}
)
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


@dataclass
class FakeModel:
    """Answers follow from picture and question alone, so that a second evaluation gets the very same.

    At a temperature above 0, or without one, each call draws anew.
    """

    #: pixels' digest -> category and visual change
    truth: Mapping[str, tuple[str, float]]
    right: Callable[[float], float]
    first_option: float = 0.0
    refuses: float = 0.0
    babbles: float = 0.0
    #: of the answers: all options in a list, and thoughts that take all tokens
    lists: float = 0.0
    thinks_too_long: float = 0.0
    #: of the attempts: too many calls, a reply cut off, a connection closed
    too_many: float = 0.0
    cut: float = 0.0
    closed: float = 0.0
    #: what a call that came too soon has to wait, in which all others are too many as well
    pause_s: float = 0.0
    #: arguments that this model does not take
    refused: Collection[str] = ()
    #: arguments that this server takes beyond those of the service
    beyond: Collection[str] = ()
    #: answers after which it calls itself otherwise, and what becomes of its sight then
    renamed_after: int | None = None
    later: Callable[[float], float] | None = None
    #: what it says of its tokens; None: what is true
    usage: Mapping[str, object] | str | None = None
    #: pixels' digests of pictures on which the server fails
    fails_on: Collection[str] = ()
    seed: int = 0
    keys: list[str] = field(default_factory=list)
    #: questions that were answered whole, by what was asked
    answered: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    url: str = ""
    #: what was wrong with requests, in the order of their calls
    faults: list[str] = field(default_factory=list)
    bodies: list[dict] = field(default_factory=list)
    _attempts: Counter[str] = field(default_factory=Counter)
    _draws: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open_at: float = 0.0

    def reply_to(self, body: dict, key: str) -> tuple[int, bytes | None, dict[str, str]]:
        """Status, content (None: the connection is closed) and headers."""
        with self._lock:
            self.keys.append(key)
            self.calls += 1
        refusal = self._refusal(body)
        if refusal is not None:
            with self._lock:
                self.faults.append(refusal["message"])
            return 400, json.dumps({"error": refusal}).encode(), {}
        parts = body["messages"][0]["content"]
        text = next(part["text"] for part in parts if part["type"] == "text")
        picture = " ".join(part["image_url"]["url"].partition(",")[2] for part in parts if part["type"] == "image_url")
        asked = hashlib.sha256(f"{text}{picture}".encode()).hexdigest()
        with self._lock:
            self._attempts[asked] += 1
            trouble = _rng(f"{self.seed} trouble {asked} {self._attempts[asked]}").random()
            self.bodies.append({name: value for name, value in body.items() if name != "messages"})
            if time.monotonic() < self._open_at:
                return self._too_many()
            if trouble < self.too_many:
                self._open_at = time.monotonic() + self.pause_s
                return self._too_many()
        if _digest(picture) in self.fails_on:
            return 500, b'{"error": {"message": "The server had an error", "type": "server_error"}}', {}
        reply = self._whole(body, asked, text, picture)
        if trouble < self.too_many + self.cut:
            return 200, reply[: len(reply) // 2], {}
        if trouble < self.too_many + self.cut + self.closed:
            return 0, None, {}
        with self._lock:
            self.answered[asked] += 1
        return 200, reply, {}

    def _too_many(self) -> tuple[int, bytes, dict[str, str]]:
        error = {
            "message": "Rate limit reached, see account/billing",
            "type": "requests",
            "code": "rate_limit_exceeded",
        }
        return 429, json.dumps({"error": error}).encode(), {"retry-after": f"{self.pause_s:g}"}

    def _refusal(self, body: Mapping[str, object]) -> dict[str, object] | None:
        """Why a request is not one, as the service says it."""

        def wrong(message: str, param: str | None = None, code: str | None = None) -> dict[str, object]:
            return {"message": message, "type": "invalid_request_error", "param": param, "code": code}

        for name in body:
            if name in self.refused:
                hint = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                message = f"Unsupported parameter: '{name}' is not supported with this model.{hint}"
                return wrong(message, name, "unsupported_parameter")
            if name not in KNOWN and name not in self.beyond:
                return wrong(f"Unrecognized request argument supplied: {name}")
        if "max_tokens" in body and "max_completion_tokens" in body:
            return wrong("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
        if not 0 <= float(str(body.get("temperature", 1))) <= 2:
            return wrong("Invalid 'temperature'", "temperature", "decimal_above_max_value")
        if body.get("reasoning_effort", "none") not in EFFORTS:
            return wrong("Invalid value", "reasoning_effort", "invalid_value")
        messages = body.get("messages")
        if not isinstance(body.get("model"), str) or not isinstance(messages, list) or not messages:
            return wrong("you must provide a model parameter", "model")
        for part in messages[0]["content"]:
            url = part.get("image_url", {}).get("url", "")
            if part["type"] == "image_url" and chunks_of(url) != ["IHDR", "IDAT", "IEND"]:
                return wrong(f"Invalid image: {chunks_of(url)}", "messages", "invalid_image")
        return None

    def _whole(self, body: Mapping[str, object], asked: str, text: str, picture: str) -> bytes:
        """A chat completion with every field that the service's have."""
        most = int(str(body.get("max_tokens") or body.get("max_completion_tokens") or 4096))
        draws = float(str(body.get("temperature", 1))) > 0
        with self._lock:
            draw = f"{asked} {self._draws[asked]}" if draws else asked
            self._draws[asked] += 1
            count = self.answered.total()
        is_later = self._is_later
        is_cut = _rng(f"{self.seed} {draw} thoughts").random() < self.thinks_too_long
        content = "" if is_cut else self.words(draw, text, picture)
        thought = most if is_cut else 0
        out = most if is_cut else min(3, most)
        model = f"{body['model']}-2026-{'09' if is_later else '01'}-01"
        return json.dumps(
            {
                "id": f"chatcmpl-{asked[:24]}",
                "object": "chat.completion",
                "created": 1790000000 + count,
                "model": model,
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": content, "refusal": None, "annotations": []},
                        "logprobs": None,
                        "finish_reason": "length" if is_cut else "stop",
                    }
                ],
                "usage": self.usage
                or {
                    "prompt_tokens": 300,
                    "completion_tokens": out,
                    "total_tokens": 300 + out,
                    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
                    "completion_tokens_details": {"reasoning_tokens": thought, "audio_tokens": 0},
                },
                "service_tier": "default",
                "system_fingerprint": f"fp_{'b2' if is_later else 'a1'}",
            }
        ).encode()

    @property
    def _is_later(self) -> bool:
        return self.renamed_after is not None and self.answered.total() >= self.renamed_after

    def words(self, asked: str, text: str, picture: str) -> str:
        category, change = self.truth.get(_digest(picture), ("", 1.0))
        rng = _rng(f"{self.seed} {asked}" if self.seed else asked)
        kind = rng.random()
        if kind < self.refuses:
            return "I'm sorry, I cannot help with that."
        if kind < self.refuses + self.babbles:
            return "lorem ipsum"
        options = text.splitlines()[1]
        if kind < self.refuses + self.babbles + self.lists:
            return f"It could be any of these: {options}."
        if rng.random() < self.first_option:
            return options.partition(",")[0].removeprefix("A. ")
        right = self.later if self.later and self._is_later else self.right
        if category and rng.random() < right(change):
            return f"It is a {category}."
        return str(rng.choice([one for one in default_labels().ids if one != category]))

    @contextmanager
    def listening(self) -> Iterator[FakeModel]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, reply, headers = model.reply_to(body, self.headers.get("Authorization", ""))
                if self.path != "/v1/chat/completions" or self.headers["Content-Type"] != "application/json":
                    status, reply, headers = 404, b'{"error": {"message": "Invalid URL"}}', {}
                if reply is None:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply)))
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


class InProcess(BaseAdapter):
    """Takes requests to the model without a socket."""

    def __init__(self, model: FakeModel) -> None:
        super().__init__()
        self.model = model

    def send(self, request: requests.PreparedRequest, *args: object, **kwargs: object) -> requests.Response:
        del args, kwargs
        status, reply, headers = self.model.reply_to(json.loads(request.body or b""), "")
        if reply is None:
            raise requests.ConnectionError("closed")
        response = requests.Response()
        response.status_code, response.url, response.request = status, request.url or "", request
        response.headers.update(headers)
        response.raw = HTTPResponse(io.BytesIO(reply), status=status, headers=headers, preload_content=False)
        return response

    def close(self) -> None:
        pass


def chunks_of(url: str) -> list[str]:
    """Kinds of the parts of a PNG in a data URL: a name or metadata would be in others than these three."""
    header, _, content = url.partition(",")
    data = base64.b64decode(content)
    if header != "data:image/png;base64" or data[:8] != b"\x89PNG\r\n\x1a\n":
        return ["no PNG"]
    found, place = [], 8
    while place < len(data):
        kind = data[place + 4 : place + 8].decode()
        if not found or found[-1] != kind:
            found.append(kind)
        place += 12 + int.from_bytes(data[place : place + 4], "big")
    return found


def _digest(picture: str) -> str:
    pixels = cv2.imdecode(np.frombuffer(base64.b64decode(picture), np.uint8), cv2.IMREAD_COLOR_RGB)
    return hashlib.sha256(pixels.tobytes()).hexdigest()


def _rng(seed: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))
