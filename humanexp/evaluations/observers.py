"""From an adapter string to an observer that is asked in words, and whether it may be asked.

Of adapter ``vlm:FOLDER``, a vision-language model on this machine that scores labels, what it scored is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from analysis import __version__
from analysis.classifiers.networks import Precision
from analysis.errors import ObserverUnavailable
from analysis.observers import vision_language
from analysis.observers.port import Answer
from analysis.observers.protocol import AskProtocol
from analysis.observers.questions import Question
from analysis.observers.scoring import LabelScores, decide, text_of
from analysis.observers.vision_language import VisionLanguageModel
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path, write_whole
from humanexp.evaluations import chat, plugged_observers
from humanexp.evaluations.budget import Budget, Caps
from humanexp.evaluations.chat import Address, ChatObserver, address_of
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.plugged_observers import PluggedObserver, plugged
from humanexp.evaluations.written_observers import WRITTEN, WritingObserver


@dataclass(frozen=True)
class ScoringObserver:
    """A local model, as `analysis.observers.port.Observer`.

    What is kept are scores, which follow from model, picture and question; every temperature and repeat decides from
    the same ones.
    """

    model: VisionLanguageModel
    #: folder of scores that were computed already
    kept: Path
    #: 0: the likeliest label; above: one drawn with its share at this temperature
    temperature: float = 0.0
    #: one question at a time computes: a second one would need the memory again
    _turn: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def digest(self) -> str:
        """Of the model and how it decides."""
        return hashlib.sha256(f"{self.model.digest} {self.temperature!r}".encode()).hexdigest()

    @property
    def preprocessing(self) -> str:
        return self.model.preprocessing

    @property
    def is_repeatable(self) -> bool:
        return True

    @property
    def versions(self) -> dict[str, str]:
        precision = {"precision": self.model.precision}
        return {"humanexp": __version__, **self.model.versions, **precision}

    def is_known(self, picture: NDArray[np.uint8], question: Question) -> bool:
        return self._file(self._asked(picture, question)).exists()

    def answer(self, picture: NDArray[np.uint8], question: Question) -> Answer:
        asked = self._asked(picture, question)
        file = self._file(asked)
        was_known = file.exists()
        if was_known:
            scores = _read(file)
        else:
            with self._turn:
                scores = self.model.scores(picture, question)
            write_whole(file, json.dumps(asdict(scores)).encode())
        drawn = hashlib.sha256(f"{asked} {self.temperature!r} {question.repeat}".encode()).digest()
        rng = np.random.default_rng(int.from_bytes(drawn[:16], "big"))
        found = decide(scores, question.labels, temperature=self.temperature, rng=rng)
        return Answer(
            kind=found.kind,
            label=found.label,
            text=text_of(found, question),
            tokens_in=scores.tokens_in,
            tokens_out=scores.tokens_out[question.labels.index(found.label)] if found.kind == "label" else 0,
            fingerprint=self.model.digest[:16],
            was_known=was_known,
            scores=scores,
        )

    def _asked(self, picture: NDArray[np.uint8], question: Question) -> str:
        """Digest of all that determines the scores."""
        asked = {
            "model": self.model.digest,
            "text": question.text,
            "shape": picture.shape,
            "picture": hashlib.sha256(picture.tobytes()).hexdigest(),
        }
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()

    def _file(self, asked: str) -> Path:
        return self.kept / asked[:2] / f"{asked}.json"


def _read(file: Path) -> LabelScores:
    kept = json.loads(file.read_bytes())
    return LabelScores(tuple(kept["log_probabilities"]), kept["tokens_in"], tuple(kept["tokens_out"]))


#: Replies and scores of all runs, below MEDIA_ROOT.
KEPT = "evaluations/replies"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What a model on this machine computes with; a server has its own."""

    device: str = "cpu"
    precision: Precision = "float32"


AnyObserver: TypeAlias = "ChatObserver | ScoringObserver | WritingObserver | PluggedObserver"


def is_local(spec: str) -> bool:
    """Whether an adapter string names a model on this machine."""
    return spec.startswith(f"{vision_language.SCHEME}:")


def is_scored(spec: str) -> bool:
    """Whether it names one whose labels are scored, instead of one that writes."""
    return is_local(spec) and not spec.endswith(WRITTEN)


def is_asked(spec: str) -> bool:
    """Whether an adapter string names an observer that is asked in words."""
    return is_local(spec) or spec.startswith(f"{chat.SCHEME}:") or plugged(spec) is not None


def with_whole_path(spec: str) -> str:
    """The adapter string with a whole path, since the job may run in another folder."""
    if not is_local(spec):
        return spec
    found = f"{vision_language.SCHEME}:{_folder(spec).resolve()}{'' if is_scored(spec) else WRITTEN}"
    most = EvaluationRun._meta.get_field("spec").max_length or 0
    if len(found) > most:
        raise InvalidRequest(f"{found} is longer than {most} characters: move the folder to a shorter path.")
    return found


def observer_of(spec: str, protocol: AskProtocol, machine: Machine, budget: Budget | None = None) -> AnyObserver:
    """The observer behind an adapter string; nothing is sent or loaded yet."""
    if is_local(spec):
        if protocol.thinking == "on":
            raise InvalidRequest(
                "A model on this machine is scored, and writes no thoughts: leave out --thinking on, or ask it through "
                "a server (openai:URL#MODEL)."
            )
        try:
            model = VisionLanguageModel(_folder(spec), machine.device, machine.precision)
        except ObserverUnavailable as error:
            raise InvalidRequest(str(error)) from error
        if is_scored(spec):
            return ScoringObserver(model, media_path(KEPT), protocol.temperature)
        return WritingObserver(model, media_path(KEPT), protocol.temperature, protocol.most_tokens)
    if (found := plugged(spec)) is not None:
        return plugged_observers.load(found, spec, protocol, media_path(KEPT), budget)
    address = address_of(spec)
    key = os.environ.get(_hosts().get(address.host, ""), "")
    return ChatObserver(
        address, media_path(KEPT), budget, key, temperature=protocol.temperature, most_tokens=protocol.most_tokens,
        thinking=protocol.thinking,
    )  # fmt: skip


def check_caps(spec: str, caps: Caps) -> None:
    """Refuse another machine without a cap of calls, and a cap of cost without prices."""
    if is_local(spec):
        if caps != Caps():
            raise InvalidRequest("A model on this machine costs nothing: leave out caps and prices.")
        return
    address = None if plugged(spec) is not None else address_of(spec)
    if address is not None and not address.is_here and not caps.most_calls:
        raise InvalidRequest(f"{address.host} is another machine: say with --most-calls how often it may be asked.")
    if caps.most_cost and not (caps.price_in or caps.price_out):
        raise InvalidRequest("A cap of cost needs prices: give --price-in and --price-out, per million tokens.")


def check_may_compare(spec: str, observer: AnyObserver, question: Question, pictures: int) -> None:
    """Refuse an observer that takes one picture a question; whether a server's model takes several, it says itself."""
    if isinstance(observer, PluggedObserver):
        raise InvalidRequest(f"{spec} runs code that answers about one picture a question: it cannot compare pictures.")
    if isinstance(observer, ScoringObserver | WritingObserver):
        try:
            observer.model.check_pictures(question, pictures)
        except ObserverUnavailable as error:
            raise InvalidRequest(str(error)) from error


def check_may_be_asked(spec: str, *, allow_upload: bool) -> None:
    """Refuse a host that the operator has not named, and pictures that nobody allowed to leave."""
    if is_local(spec):
        return
    if (found := plugged(spec)) is not None:
        plugged_observers.check_may_be_asked(found, spec, allow_upload=allow_upload)
        return
    address: Address = address_of(spec)
    if address.host not in _hosts():
        raise InvalidRequest(
            f"{address.host} is not in OBSERVER_HOSTS: whoever runs the server lists there which hosts may be asked, "
            "with the variable that holds the key (api.example.com=EXAMPLE_KEY)."
        )
    if not allow_upload:
        raise InvalidRequest(
            f"The pictures of the set would be sent to {address.host}: say --allow-upload if they may."
        )


def _folder(spec: str) -> Path:
    return Path(spec.partition(":")[2].removesuffix(WRITTEN)).expanduser()


def _hosts() -> dict[str, str]:
    """Hosts that may be asked, each with the name of the variable that holds its key."""
    pairs = (entry.partition("=") for entry in settings.OBSERVER_HOSTS)
    return {host.strip(): variable.strip() for host, _, variable in pairs}
