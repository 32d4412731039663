"""Adapter ``vlm:FOLDER#written``: a vision-language model on this machine that writes its replies."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis import __version__
from analysis.observers.port import Answer
from analysis.observers.questions import Question
from analysis.observers.vision_language import VisionLanguageModel
from humanexp.core import clock
from humanexp.core.storage import write_whole
from humanexp.evaluations.replies import OWN, read_reply

#: At the end of an adapter string.
WRITTEN = "#written"


@dataclass(frozen=True)
class WritingObserver:
    """A local model whose replies are read as a server's are, as `analysis.observers.port.Observer`.

    A reply follows from model, pictures, question, repeat, temperature and length; drawn ones, too, by their seed.
    """

    model: VisionLanguageModel
    #: folder of replies that were written already
    kept: Path
    temperature: float
    #: of a reply
    most_tokens: int
    #: one question at a time computes: a second one would need the memory again
    _turn: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    @property
    def name(self) -> str:
        return f"{self.model.name}, written"

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self._settings).encode()).hexdigest()

    @property
    def preprocessing(self) -> str:
        return "by the model's own processor; replies written token by token"

    @property
    def is_repeatable(self) -> bool:
        return True

    @property
    def versions(self) -> dict[str, str]:
        return {"humanexp": __version__, **self.model.versions, "precision": self.model.precision}

    @property
    def _settings(self) -> list[Any]:
        return [self.model.digest, "written", self.temperature, self.most_tokens]

    def is_known(self, picture: NDArray[np.uint8], question: Question) -> bool:
        return self._file(self._asked(picture, question)).exists()

    def answer(self, picture: NDArray[np.uint8], question: Question) -> Answer:
        asked = self._asked(picture, question)
        file = self._file(asked)
        was_known = file.exists()
        if not was_known:
            with self._turn:
                found = self.model.written(
                    picture, question, temperature=self.temperature, most_tokens=self.most_tokens,
                    seed=int(asked[:15], 16),
                )  # fmt: skip
            reply = {
                "choices": [{"message": {"content": found.text}, "finish_reason": found.finish_reason}],
                "usage": {"prompt_tokens": found.tokens_in, "completion_tokens": found.tokens_out},
                "model": self.model.name,
                "system_fingerprint": self.model.digest[:16],
                OWN: {"granted": self._granted, "at": clock.now().isoformat()},
            }
            write_whole(file, json.dumps(reply).encode())
        return read_reply(json.loads(file.read_bytes()), question, was_known=was_known)

    @property
    def _granted(self) -> dict[str, str | float | int]:
        return {"max_tokens": self.most_tokens, "temperature": self.temperature, "thinking": "off"}

    def _asked(self, picture: NDArray[np.uint8], question: Question) -> str:
        """Digest of all that determines the reply."""
        asked = [*self._settings, question.text, question.repeat, picture.shape]
        return hashlib.sha256(json.dumps(asked).encode() + picture.tobytes()).hexdigest()

    def _file(self, asked: str) -> Path:
        return self.kept / asked[:2] / f"{asked}.json"
