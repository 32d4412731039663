"""Observers in words that other packages bring: entry points of the group ``humanexp.observers``.

The entry's name is the scheme, and its object a function from the reference and `AskProtocol` to something with `name`,
`digest`, `preprocessing`, `is_repeatable`, `versions` and `answer(picture, question)`, as in
`analysis.observers.port.Observer`. Answers are kept and calls are counted here.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from analysis import __version__
from analysis.classifiers.loading import SCHEMES
from analysis.errors import AnalysisError, ObserverUnavailable
from analysis.labels.space import NO_ANSWER
from analysis.observers import vision_language
from analysis.observers.port import Answer, AnswerKind
from analysis.observers.protocol import AskProtocol
from analysis.observers.questions import Question
from analysis.plugins import OBSERVERS, Plugin, plugin
from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.core.storage import write_whole
from humanexp.evaluations import chat
from humanexp.evaluations.budget import Budget

#: Schemes that are the product's own.
SHIPPED = (*SCHEMES, chat.SCHEME, vision_language.SCHEME)
_WANTED = ("name", "digest", "preprocessing", "is_repeatable", "versions", "answer")
_KEPT = tuple(one.name for one in fields(Answer) if one.name not in ("was_known", "scores"))


def plugged(spec: str) -> Plugin | None:
    """The plug-in that an adapter string names; None for the product's own schemes, and for none."""
    scheme, colon, _ = spec.partition(":")
    return plugin(OBSERVERS, scheme) if colon and scheme not in SHIPPED else None


@dataclass(frozen=True)
class PluggedObserver:
    """An observer of another package, as `analysis.observers.port.Observer`."""

    made: Any
    found: Plugin
    #: folder of answers that were given already
    kept: Path
    #: none: nothing is asked, and what is kept can be looked up
    budget: Budget | None = None

    @property
    def name(self) -> str:
        return str(self.made.name)

    @property
    def digest(self) -> str:
        """Of the observer, the package and its version."""
        return hashlib.sha256(f"{self.made.digest} {self.found.package} {self.found.version}".encode()).hexdigest()

    @property
    def preprocessing(self) -> str:
        return str(self.made.preprocessing)

    @property
    def is_repeatable(self) -> bool:
        return bool(self.made.is_repeatable)

    @property
    def versions(self) -> dict[str, str]:
        """Of the libraries that it names, and of its package."""
        return {
            "humanexp": __version__,
            **dict(self.made.versions),
            "plug-in": f"{self.found.title} ({self.found.name}:)",
        }

    def is_known(self, picture: NDArray[np.uint8], question: Question) -> bool:
        return self._file(picture, question).exists()

    def answer(self, picture: NDArray[np.uint8], question: Question) -> Answer:
        file = self._file(picture, question)
        if file.exists():
            return Answer(**json.loads(file.read_bytes()), was_known=True)
        if self.budget is None:
            raise ObserverUnavailable(f"{self.name} is not asked without a budget.")
        with self.budget.call() as tokens:
            given = self._asked(picture, question)
            tokens.extend((given.tokens_in, given.tokens_out))
        write_whole(file, json.dumps(_plain(given)).encode())
        return given

    def _asked(self, picture: NDArray[np.uint8], question: Question) -> Answer:
        try:
            given = self.made.answer(picture, question)
        except (AnalysisError, ApplicationError):
            raise
        except Exception as error:  # noqa: BLE001  the code of others may raise anything
            raise ObserverUnavailable(
                f"{self.name} of {self.found.title} fails ({type(error).__name__}: {error}). Answers so far are kept: "
                "start the evaluation again once that is repaired, and it goes on."
            ) from error
        known = question.labels if getattr(given, "kind", "") == "label" else (NO_ANSWER,)
        if not isinstance(given, Answer) or given.kind not in get_args(AnswerKind) or given.label not in known:
            raise ObserverUnavailable(
                f"{self.name} of {self.found.title} answers {given!r}, which is no answer to a question about "
                f"{', '.join(question.labels[:5])}. An answer is an analysis.observers.port.Answer, whose label is "
                "one of those that were offered."
            )
        return given

    def _file(self, picture: NDArray[np.uint8], question: Question) -> Path:
        """Named by all that determines the answer."""
        asked = {
            "observer": self.digest,
            "text": question.text,
            "labels": question.labels,
            "repeat": question.repeat,
            "shape": picture.shape,
            "picture": hashlib.sha256(picture.tobytes()).hexdigest(),
        }
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        return self.kept / digest[:2] / f"{digest}.json"


def _plain(given: Answer) -> dict[str, Any]:
    """What is kept of an answer."""
    return {name: getattr(given, name) for name in _KEPT} | {"granted": dict(given.granted)}


def load(found: Plugin, spec: str, protocol: AskProtocol, kept: Path, budget: Budget | None) -> PluggedObserver:
    """The observer behind an adapter string; runs the code of the package."""
    try:
        made = found.load()(spec.partition(":")[2], protocol)
    except (AnalysisError, ApplicationError) as error:
        raise InvalidRequest(str(error)) from error
    except (Exception, SystemExit) as error:  # noqa: BLE001  the code of others may raise anything
        raise InvalidRequest(f"{spec} of {found.title} fails ({type(error).__name__}: {error}).") from error
    missing = [attribute for attribute in _WANTED if not hasattr(made, attribute)]
    if missing:
        raise InvalidRequest(f"{spec} of {found.title} makes something without {', '.join(missing)}.")
    return PluggedObserver(made, found, kept, budget)


def check_may_be_asked(found: Plugin, spec: str, *, allow_upload: bool) -> None:
    """Refuse it without leave to send pictures: where its code sends them cannot be known here."""
    if not allow_upload:
        raise InvalidRequest(
            f"{spec} runs code of {found.title}, which may send the pictures to another machine: say --allow-upload if "
            "it may."
        )
