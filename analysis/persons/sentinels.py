"""Families of sentinel pictures in which people and machines differ. A new one is a `Sentinel` and one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InvalidInput, UnknownName
from analysis.spec.persons import MOST_PERSON_TRIALS

Picture = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class Sentinel:
    """A family of sentinel pictures.

    Parameters
    ----------
    name : str
        Lower-case identifier, as stored with every trial.
    label : str
        Name for people.
    version : str
        Counted up whenever the pictures change for equal originals.
    make : callable, optional
        ``(picture) -> picture`` from an ordinary RGB photograph, shape (h, w, 3); None where a lab brings the pictures.
        It raises `analysis.errors.PictureRefused` for a photograph that does not lend itself.
    has_lure : bool
        Whether each picture has a second category that machines tend to name.
    source : str
        Where it is from.
    """

    name: str
    label: str
    version: str
    make: Callable[[Picture], Picture] | None = None
    has_lure: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        if not (self.name.isidentifier() and self.name.islower()):
            raise InvalidInput(f"A sentinel's name must be lower-case letters, digits and _, not {self.name!r}.")


#: Every family by name.
SENTINELS: dict[str, Sentinel] = {}


def register_sentinel(sentinel: Sentinel) -> Sentinel:
    """Make a family known under its name.

    Raises
    ------
    InvalidInput
        If another family has the name.
    """
    if SENTINELS.get(sentinel.name, sentinel) != sentinel:
        raise InvalidInput(f"There is a family of sentinels called {sentinel.name!r} already. Choose another name.")
    SENTINELS[sentinel.name] = sentinel
    return sentinel


def find_sentinel(name: str) -> Sentinel:
    """The family of this name.

    Raises
    ------
    UnknownName
        If there is none.
    """
    if name not in SENTINELS:
        raise UnknownName(
            f"There is no family of sentinels called {name!r}; there are: {', '.join(sorted(SENTINELS))}."
        )
    return SENTINELS[name]


@dataclass(frozen=True)
class SentinelCost:
    """What sentinels cost a study: trials, and the people's time at the study's pay, in minor units of its currency."""

    trials: int
    seconds: int
    pay: int


def sentinel_cost(per_session: int, sessions: int, *, trial_ms: int, pay_per_hour: int) -> SentinelCost:
    """What so many sentinels cost.

    Parameters
    ----------
    per_session : int
        0 to 4.
    sessions : int
    trial_ms : int
        How long one trial takes, breaks and fixation included.
    pay_per_hour : int
        In minor units, such as cents.

    Returns
    -------
    SentinelCost
        Seconds and pay are rounded up.

    Raises
    ------
    InvalidInput
        If there are more than 4 a session, or any number is negative.
    """
    if not 0 <= per_session <= MOST_PERSON_TRIALS:
        raise InvalidInput(f"A session has 0 to {MOST_PERSON_TRIALS} sentinels, not {per_session}.")
    if min(sessions, trial_ms, pay_per_hour) < 0:
        raise InvalidInput("Sessions, time and pay are not negative.")
    trials = per_session * sessions
    return SentinelCost(trials, -(-trials * trial_ms // 1000), -(-trials * trial_ms * pay_per_hour // 3_600_000))
