"""For which kinds of study a set of pictures is enough. Which kinds there are, the app that plans studies says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.functional import Promise


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Whether a set of pictures is enough for one kind of study."""

    study: str | Promise
    verdict: Literal["yes", "smaller", "no"]
    #: what one person's session takes, or why none fits
    text: str


Ask = Callable[[int], Sequence[Answer]]
_ASKED: list[Ask] = []


def register(ask: Ask) -> None:
    """`ask` is given the number of originals."""
    _ASKED.append(ask)


def answers_for(n_originals: int) -> list[Answer]:
    return [answer for ask in _ASKED for answer in ask(n_originals)]
