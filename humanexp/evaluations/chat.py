"""Adapter ``openai:URL#MODEL``: a model behind an address that takes OpenAI's chat completions with pictures.

A budget keeps what asking has cost, over restarts, and says where it must stop.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import requests
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError
from requests.auth import AuthBase

from analysis import __version__, opencv as cv2
from analysis.errors import ObserverUnavailable
from analysis.labels.space import NO_ANSWER
from analysis.observers.port import Answer
from analysis.observers.questions import ForcedChoice
from analysis.observers.scoring import read_answer
from humanexp.addresses import is_loopback
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import write_whole

#: Tokens of a question whose price is not known yet: a picture and the options.
USUAL_TOKENS_IN = 1500


class CapReached(ObserverUnavailable):
    """The next call could go over the cap."""


@dataclass(frozen=True, slots=True)
class Caps:
    """How far asking may go.

    Attributes
    ----------
    most_calls : int
        Calls over the whole evaluation, attempts that failed included; 0 for no limit.
    most_cost : float
        In the currency of the prices; 0 for no limit.
    price_in, price_out : float
        Of a million tokens of questions and of replies.
    """

    most_calls: int = 0
    most_cost: float = 0.0
    price_in: float = 0.0
    price_out: float = 0.0

    def cost_of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


@dataclass
class Budget:
    """A file with a line a call: written before it is sent, so that a killed process forgets none.

    A call of which nothing more is known counts with the most that it can have cost.
    """

    file: Path
    caps: Caps
    #: tokens that a reply can have at most
    most_tokens_out: int
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    _open: int = 0
    _largest_in: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        for line in lines:
            self._take(line)

    def _take(self, line: str) -> None:
        try:
            told = json.loads(line)
        except ValueError:  # cut off by a kill
            return
        if told == "sent":
            self.calls += 1
            self._open += 1
            return
        self._open -= 1
        self.tokens_in += told[0]
        self.tokens_out += told[1]
        self._largest_in = max(self._largest_in, told[0])

    @property
    def cost(self) -> float:
        """Of all calls, with the most for those that are open."""
        open_in = self._open * (self._largest_in or USUAL_TOKENS_IN)
        return self.caps.cost_of(self.tokens_in + open_in, self.tokens_out + self._open * self.most_tokens_out)

    @contextmanager
    def call(self) -> Iterator[list[int]]:
        """One attempt: yields a list that takes the tokens in and out, if the reply tells them. Raises CapReached."""
        with self._lock:
            self._check()
            self._write("sent")
        tokens: list[int] = []
        try:
            yield tokens
        finally:
            if len(tokens) == 2:
                with self._lock:
                    self._write(tokens)

    def _check(self) -> None:
        caps = self.caps
        if caps.most_calls and self.calls >= caps.most_calls:
            raise CapReached(
                f"The cap of {caps.most_calls} calls is reached. Answers so far are kept: raise --most-calls and start "
                "the evaluation again, and it goes on."
            )
        next_one = caps.cost_of(self._largest_in or USUAL_TOKENS_IN, self.most_tokens_out)
        if caps.most_cost and self.cost + next_one > caps.most_cost:
            raise CapReached(
                f"The next call could go over the cap of {caps.most_cost:.2f}: {self.cost:.2f} is spent. Answers so "
                "far are kept: raise --most-cost and start the evaluation again, and it goes on."
            )

    def _write(self, told: str | list[int]) -> None:
        line = json.dumps(told)
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")
            stream.flush()
            os.fsync(stream.fileno())
        self._take(line)


SCHEME = "openai"
#: To connect, and until an answer is there: a local model may take long.
TIMEOUT_S = (10, 300)
#: Bytes of a reply that are read.
_MOST_BYTES = 1_000_000
#: Attempts at one question before the evaluation stops, to be gone on with later.
ATTEMPTS = 8
#: Longest wait between two attempts, whatever the service asks for.
_MOST_PAUSE_S = 60.0
_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_MOST_SAID = 300
#: Of a reply: one word, or a sentence around it.
MOST_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Address:
    """Where a model is asked."""

    url: str
    model: str

    @property
    def host(self) -> str:
        """Host and port, as the setting OBSERVER_HOSTS lists it."""
        return urlsplit(self.url).netloc

    @property
    def is_here(self) -> bool:
        return is_loopback(urlsplit(self.url).hostname or "")


def address_of(spec: str) -> Address:
    """Read an adapter string. Raises InvalidRequest, with the form that it must have."""
    scheme, _, reference = spec.partition(":")
    url, _, model = reference.partition("#")
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    is_whole = bool(model.strip()) and bool(parts.hostname)
    is_plain = not parts.query and parts.username is None and parts.password is None
    if scheme != SCHEME or not is_safe or not is_whole or not is_plain:
        raise InvalidRequest(
            f"{spec!r} names no model: write openai:https://host/v1#MODEL. Plain http:// is for models on this machine "
            "alone, and a key never stands in the address.",
            fields={"spec": "openai:URL#MODEL"},
        )
    return Address(url.rstrip("/"), model.strip())


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore")
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    model_config = ConfigDict(extra="ignore")
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    model_config = ConfigDict(extra="ignore")
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Reply(BaseModel):
    """What is read of a reply; the whole is kept."""

    model_config = ConfigDict(extra="ignore")
    choices: list[_Choice]
    usage: _Usage | None = None
    model: str = ""
    system_fingerprint: str | None = None


class _Key(AuthBase):
    """As an object: a header alone would be replaced by what a .netrc file says about the host."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


class _Again(Exception):
    """The attempt came to nothing; the next one may not."""

    def __init__(self, why: str, *, pause_s: float | None = None, is_free: bool = False) -> None:
        super().__init__(why)
        self.pause_s = pause_s
        #: the service said itself that it did nothing
        self.is_free = is_free


@dataclass(frozen=True)
class ChatObserver:
    """A model behind an address, as `analysis.observers.port.Observer`."""

    address: Address
    #: folder of replies that were paid for already
    kept: Path
    #: none: nothing is asked, and what is kept can be looked up
    budget: Budget | None = None
    key: str = field(default="", repr=False)
    temperature: float = 0.0
    #: of a reply
    most_tokens: int = MOST_TOKENS
    #: before the second attempt; doubled before each further one
    pause_s: float = 1.0

    @property
    def name(self) -> str:
        return self.address.model

    @property
    def digest(self) -> str:
        """Of the address, the model and the decoding: which weights are behind them, nobody here can know."""
        return hashlib.sha256(json.dumps(self._settings, sort_keys=True).encode()).hexdigest()

    @property
    def preprocessing(self) -> str:
        return "sent whole, as PNG at its own size; the server scales or tiles it as its model does"

    @property
    def is_repeatable(self) -> bool:
        return self.address.is_here

    @property
    def versions(self) -> dict[str, str]:
        return {"humanexp": __version__}

    @property
    def _settings(self) -> dict[str, Any]:
        return {
            "url": self.address.url,
            "model": self.address.model,
            "temperature": self.temperature,
            "max_tokens": self.most_tokens,
        }

    def is_known(self, picture: NDArray[np.uint8], question: ForcedChoice) -> bool:
        return self._file(_png(picture), question).exists()

    def answer(self, picture: NDArray[np.uint8], question: ForcedChoice) -> Answer:
        png = _png(picture)
        file = self._file(png, question)
        was_known = file.exists()
        if was_known:
            reply = json.loads(file.read_bytes())
        else:
            reply = self._asked(png, question)
            write_whole(file, json.dumps(reply).encode())
        return _read(_Reply.model_validate(reply), question, was_known=was_known)

    def _file(self, png: bytes, question: ForcedChoice) -> Path:
        """Named by all that determines the reply."""
        asked = {
            **self._settings,
            "text": question.text,
            "repeat": question.repeat,
            "picture": hashlib.sha256(png).hexdigest(),
        }
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        return self.kept / digest[:2] / f"{digest}.json"

    def _asked(self, png: bytes, question: ForcedChoice) -> dict[str, Any]:
        picture = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        body = {
            "model": self.address.model,
            "temperature": self.temperature,
            "max_tokens": self.most_tokens,
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "image_url", "image_url": {"url": picture}},
                        {"type": "text", "text": question.text},
                    ],
                }
            ],
        }
        for attempt in range(ATTEMPTS):
            try:
                return self._tried(body)
            except _Again as failed:
                last = failed
                if attempt + 1 < ATTEMPTS:
                    pause = failed.pause_s if failed.pause_s is not None else self.pause_s * 2**attempt
                    time.sleep(min(pause, _MOST_PAUSE_S) * random.uniform(0.5, 1.0))  # noqa: S311 - not a secret
        raise ObserverUnavailable(
            f"{self.address.host} gave no answer in {ATTEMPTS} attempts ({last}). Answers so far are kept: start the "
            "evaluation again later, and it goes on."
        )

    def _tried(self, body: dict[str, Any]) -> dict[str, Any]:
        if self.budget is None:
            raise ObserverUnavailable(f"{self.address.host} is not asked without a budget.")
        with self.budget.call() as tokens:
            try:
                reply = self._sent(body)
            except _Again as failed:
                tokens.extend((0, 0) if failed.is_free else ())
                raise
            usage = _Reply.model_validate(reply).usage or _Usage()
            tokens.extend((usage.prompt_tokens, usage.completion_tokens))
        return reply

    @cached_property
    def _connections(self) -> requests.Session:
        session = requests.Session()
        session.auth = _Key(self.key)
        return session

    def _sent(self, body: dict[str, Any]) -> dict[str, Any]:
        try:
            with self._connections.post(
                f"{self.address.url}/chat/completions", json=body, timeout=TIMEOUT_S, allow_redirects=False, stream=True
            ) as response:
                content = response.raw.read(_MOST_BYTES, decode_content=True)
                status, wanted = response.status_code, response.headers.get("Retry-After", "")
        except (requests.RequestException, OSError) as error:
            raise _Again(type(error).__name__) from error
        if status in _TRANSIENT:
            pause_s = float(wanted) if wanted.isdigit() else None
            raise _Again(f"status {status}", pause_s=pause_s, is_free=status == 429)
        if status != 200:
            return self._refused(status, content)
        try:
            reply: dict[str, Any] = json.loads(content)
            if not _Reply.model_validate(reply).choices:
                raise _Again("a reply without an answer")
        except (ValueError, ValidationError) as error:
            raise _Again("a reply that is cut off or no chat completion") from error
        return reply

    def _refused(self, status: int, content: bytes) -> dict[str, Any]:
        """A service that will not show a picture to its model answers so; anything else is wrong with the call."""
        said = content.decode("utf-8", "replace")[:_MOST_SAID]
        if status == 400 and any(word in said.lower() for word in ("content_policy", "content_filter", "safety")):
            return {"choices": [{"message": {"refusal": said}, "finish_reason": "content_filter"}]}
        if status in (401, 403):
            raise ObserverUnavailable(
                f"{self.address.host} does not take the key (status {status}): name the variable that holds it in "
                "OBSERVER_HOSTS, and set it where the job runner starts."
            )
        raise ObserverUnavailable(
            f"{self.address.host} refuses the call (status {status}): {said or 'no reason given'}. Check the address, "
            "the name of the model, and that it takes pictures."
        )


def _png(picture: NDArray[np.uint8]) -> bytes:
    return bytes(cv2.imencode(".png", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))[1].tobytes())


def _read(reply: _Reply, question: ForcedChoice, *, was_known: bool) -> Answer:
    choice = reply.choices[0]
    text = choice.message.content or ""
    found = read_answer(text, question.labels, question.style, question.space)
    said = choice.message.refusal or text
    has_refused = bool(choice.message.refusal) or choice.finish_reason == "content_filter"
    usage = reply.usage or _Usage()
    return Answer(
        kind="refusal" if has_refused else found.kind,
        label=NO_ANSWER if has_refused else found.label,
        text=said,
        tokens_in=usage.prompt_tokens,
        tokens_out=usage.completion_tokens,
        fingerprint=" ".join(part for part in (reply.model, reply.system_fingerprint) if part),
        was_known=was_known,
    )
