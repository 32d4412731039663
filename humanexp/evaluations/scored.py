"""Adapter ``vlm:FOLDER``: a vision-language model on this machine that scores labels. What it scored is kept."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis import __version__
from analysis.observers.port import Answer
from analysis.observers.questions import ForcedChoice
from analysis.observers.scoring import LabelScores, decide, text_of
from analysis.observers.vision_language import VisionLanguageModel
from humanexp.core.storage import write_whole


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

    def is_known(self, picture: NDArray[np.uint8], question: ForcedChoice) -> bool:
        return self._file(self._asked(picture, question)).exists()

    def answer(self, picture: NDArray[np.uint8], question: ForcedChoice) -> Answer:
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

    def _asked(self, picture: NDArray[np.uint8], question: ForcedChoice) -> str:
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
