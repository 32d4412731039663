"""Adapter ``openai:URL#MODEL``: a model behind an address that takes OpenAI's chat completions with pictures."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import requests
from numpy.typing import NDArray
from pydantic import ValidationError
from requests.auth import AuthBase

from analysis import __version__, opencv as cv2
from analysis.errors import ObserverUnavailable
from analysis.observers.port import Answer
from analysis.observers.protocol import MOST_TOKENS, Thinking
from analysis.observers.questions import Question
from humanexp.addresses import is_loopback
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import write_whole
from humanexp.evaluations.budget import Budget
from humanexp.evaluations.granting import Terms, Wish
from humanexp.evaluations.replies import OWN, Reply, read_reply

SCHEME = "openai"
#: To connect, and until an answer is there: a local model may take long.
TIMEOUT_S = (10, 300)
#: Bytes of a reply that are read.
_MOST_BYTES = 1_000_000
#: Attempts at one question before the evaluation stops, to be gone on with later.
ATTEMPTS = 8
#: Before the second attempt; doubled before each further one.
PAUSE_S = 1.0
#: Longest wait between two attempts, whatever the service asks for.
_MOST_PAUSE_S = 60.0
_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_MOST_SAID = 300
#: Of a service whose account is empty: waiting does not help.
_NO_MONEY = b"insufficient_quota"
#: Questions in a row that may come to nothing before the service is taken to be down.
_MOST_FAILURES = 8
#: First answers that must not all have ended in thoughts.
_FIRST_ANSWERS = 20


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


class _Key(AuthBase):
    """As an object: a header alone would be replaced by what a .netrc file says about the host."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


class _QuestionFailed(ObserverUnavailable):
    """The server gave this question no answer."""


@dataclass
class _Course:
    """How asking goes."""

    answers: int = 0
    #: of them, those that ended in thoughts
    empty: int = 0
    #: questions in a row without an answer
    failures: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


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
    thinking: Thinking = "server"
    _course: _Course = field(default_factory=_Course, compare=False, repr=False)

    @property
    def name(self) -> str:
        return f"{self.address.model}, thinking" if self.thinking == "on" else self.address.model

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
            **({} if self.thinking == "server" else {"thinking": self.thinking}),
        }

    @cached_property
    def _terms(self) -> Terms:
        return Terms(Wish(self.temperature, self.most_tokens, self.thinking))

    def is_known(self, picture: NDArray[np.uint8], question: Question) -> bool:
        return self._file(_pngs(picture), question).exists()

    def answer(self, picture: NDArray[np.uint8], question: Question) -> Answer:
        pngs = _pngs(picture)
        file = self._file(pngs, question)
        if file.exists():
            return read_reply(json.loads(file.read_bytes()), question, was_known=True)
        try:
            reply = self._asked(pngs, question)
        except _QuestionFailed as failed:
            self._check_failure(failed)
            return Answer(kind="error", text=str(failed))
        write_whole(file, json.dumps(reply).encode())
        answer = read_reply(reply, question, was_known=False)
        self._check_thoughts(answer)
        return answer

    def _check_failure(self, failed: _QuestionFailed) -> None:
        """Raise unless the server answers other questions; what failed is asked again when the evaluation is."""
        course = self._course
        with course.lock:
            course.failures += 1
            if not course.answers or course.failures >= _MOST_FAILURES:
                raise failed

    def _check_thoughts(self, answer: Answer) -> None:
        """Raise where the model never comes to say anything, before all is paid for."""
        course = self._course
        with course.lock:
            course.failures = 0
            course.answers += 1
            course.empty += answer.finish_reason == "length" and answer.kind == "miss"
            if course.answers == course.empty == _FIRST_ANSWERS:
                raise ObserverUnavailable(
                    f"{self.address.model} spent all {self.most_tokens} tokens of its first {_FIRST_ANSWERS} replies "
                    "before it said anything, as models do that think first. Ask with --thinking on, which gives more."
                )

    def _file(self, pngs: Sequence[bytes], question: Question) -> Path:
        """Named by all that determines the reply."""
        asked = {
            **self._settings,
            "text": question.text,
            "repeat": question.repeat,
            "picture": " ".join(hashlib.sha256(png).hexdigest() for png in pngs),
        }
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        return self.kept / digest[:2] / f"{digest}.json"

    def _asked(self, pngs: Sequence[bytes], question: Question) -> dict[str, Any]:
        pictures = [f"data:image/png;base64,{base64.b64encode(png).decode()}" for png in pngs]
        content = [
            *({"type": "image_url", "image_url": {"url": picture}} for picture in pictures),
            {"type": "text", "text": question.text},
        ]
        messages = [{"role": "user", "content": content}]
        attempt = 0
        while True:
            sent = self._terms.parameters()
            try:
                reply = self._tried({"model": self.address.model, **sent, "messages": messages})
            except _Otherwise as refused:
                if not self._terms.learn(sent, refused.content):
                    raise self._refusal(400, refused.content) from refused
            except _Again as failed:
                attempt += 1
                if attempt == ATTEMPTS:
                    raise self._gave_up(failed) from failed
                # what a service asks for is not cut short; other pauses differ, so that not all come back at once
                pause = PAUSE_S * 2 ** (attempt - 1) if failed.pause_s is None else failed.pause_s
                spread = random.uniform(0.5, 1.0) if failed.pause_s is None else random.uniform(1.0, 1.2)  # noqa: S311 - not a secret
                time.sleep(min(pause, _MOST_PAUSE_S) * spread)
            else:
                return {**reply, OWN: {"granted": self._terms.granted(sent), "at": clock.now().isoformat()}}

    def _gave_up(self, failed: _Again) -> ObserverUnavailable:
        said = (
            f"{self.address.host} gave no answer in {ATTEMPTS} attempts ({failed}). Answers so far are kept: start the "
            "evaluation again later, and it goes on."
        )
        return ObserverUnavailable(said) if failed.is_free else _QuestionFailed(said)

    def _tried(self, body: dict[str, Any]) -> dict[str, Any]:
        if self.budget is None:
            raise ObserverUnavailable(f"{self.address.host} is not asked without a budget.")
        with self.budget.call() as tokens:
            try:
                reply = self._sent(body)
            except _Again as failed:
                tokens.extend((0, 0) if failed.is_free else ())
                raise
            except _Otherwise:
                tokens.extend((0, 0))
                raise
            # of a server that does not tell, the most that it can have cost is counted
            usage = Reply.model_validate(reply).counted
            tokens.extend((usage.prompt_tokens, usage.completion_tokens) if usage else ())
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
                status, pause_s = response.status_code, _wanted_pause(response.headers)
        except (requests.RequestException, OSError) as error:
            raise _Again(type(error).__name__) from error
        if status == 429 and _NO_MONEY in content:
            raise self._refusal(status, content)
        if status in _TRANSIENT:
            raise _Again(f"status {status}", pause_s=pause_s, is_free=status == 429)
        if status != 200:
            return self._refused(status, content)
        try:
            reply: dict[str, Any] = json.loads(content)
            if not Reply.model_validate(reply).choices:
                raise _Again("a reply without an answer")
        except (ValueError, ValidationError) as error:
            raise _Again("a reply that is cut off or no chat completion") from error
        return reply

    def _refused(self, status: int, content: bytes) -> dict[str, Any]:
        """A service that will not show a picture to its model answers so; anything else is wrong with the call."""
        said = content.decode("utf-8", "replace")[:_MOST_SAID]
        if status == 400 and any(word in said.lower() for word in ("content_policy", "content_filter", "safety")):
            usage = {"prompt_tokens": 0, "completion_tokens": 0}
            return {"choices": [{"message": {"refusal": said}, "finish_reason": "content_filter"}], "usage": usage}
        if status in (400, 422):
            raise _Otherwise(content)
        raise self._refusal(status, content)

    def _refusal(self, status: int, content: bytes) -> ObserverUnavailable:
        said = content.decode("utf-8", "replace")[:_MOST_SAID]
        if status in (401, 403):
            return ObserverUnavailable(
                f"{self.address.host} does not take the key (status {status}): name the variable that holds it in "
                "OBSERVER_HOSTS, and set it where the job runner starts."
            )
        if status == 429:
            return ObserverUnavailable(
                f"{self.address.host} has no more money for this key: {said}. Answers so far are kept: top up, start "
                "the evaluation again, and it goes on."
            )
        kind = _QuestionFailed if status in (400, 413, 422) else ObserverUnavailable
        return kind(
            f"{self.address.host} refuses the call (status {status}): {said or 'no reason given'}. Check the address, "
            "the name of the model, and that it takes pictures."
        )


class _Otherwise(Exception):
    """The call is refused as it is; one with other parameters may not be."""

    def __init__(self, content: bytes) -> None:
        super().__init__("refused")
        self.content = content


def _wanted_pause(headers: Mapping[str, str]) -> float | None:
    """Seconds that a service asks to wait: as a number, in milliseconds, or until a date."""
    for name, of_a_second in (("retry-after-ms", 1000.0), ("Retry-After", 1.0)):
        try:
            return max(0.0, float(headers.get(name, "")) / of_a_second)
        except ValueError:
            continue
    try:
        until = parsedate_to_datetime(headers.get("Retry-After", ""))
        return max(0.0, (until - clock.now()).total_seconds())
    except (ValueError, TypeError):
        return None


def _pngs(shown: NDArray[np.uint8]) -> list[bytes]:
    """A PNG of each picture; there are several where the array has a dimension more."""
    pictures = [shown] if shown.ndim == 3 else list(shown)
    return [bytes(cv2.imencode(".png", cv2.cvtColor(one, cv2.COLOR_RGB2BGR))[1].tobytes()) for one in pictures]
