"""What observers answered, and how fast."""

from __future__ import annotations

from typing import Literal

from analysis.entry import Entry
from analysis.findings.model.curves import Line


class Observer(Entry):
    """Somebody who answered."""

    name: str
    kind: Literal["human", "classifier"]


class Accuracy(Entry):
    """An observer in one condition."""

    observer: str
    condition: str
    trials: int
    correct: int
    accuracy: float


class HumanAccuracy(Entry):
    """People in one condition."""

    condition: str
    mean_over_observers: float
    observers: int


class Favourite(Entry):
    """The wrong answer given most, and its share of the wrong answers."""

    response: str
    share: float


class Confusion(Entry):
    """Answers by true category, over all or in a range of the axis."""

    population: str
    corruption: str
    low: float | None
    high: float | None
    categories: tuple[str, ...]
    responses: tuple[str, ...]
    #: a row a true category
    counts: tuple[tuple[int, ...], ...]
    favourite: Favourite | None


class TimeBin(Entry):
    """Response times in a tenth of the axis."""

    v: float
    n: int
    median_ms: float
    lower_ms: float
    upper_ms: float
    median_right_ms: float | None
    median_wrong_ms: float | None


class ResponseTimes(Entry):
    """People's response times on one corruption; times of different kinds of input are never pooled."""

    population: str
    corruption: str
    bins: tuple[TimeBin, ...]
    #: pointer, touch or key; None where nobody kept it
    input_kind: str | None = None


class ParticipantBin(Entry):
    """A participant's answers in a tenth of the axis."""

    v: float
    n: int
    rate: float


class Participant(Entry):
    """One participant on one corruption; on all of them where it is None."""

    participant: str
    corruption: str | None
    n: int
    accuracy: float
    median_rt_ms: float | None
    bins: tuple[ParticipantBin, ...]
    area: float | None
    band: Line | None
    #: what the answers behind `median_rt_ms` were given with: what the participant used most; None where not kept
    input_kind: str | None = None
