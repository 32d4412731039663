"""A claim: something that the product publishes, and how often it may be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Claim:
    """A sentence or an interval, declared once for every page, figure, table, report and JSON that shows it.

    Parameters
    ----------
    name : str
        By which simulations and surfaces refer to it: lower case, hyphens.
    statement : str
        What is said, as a reader meets it; names of numbers stand in braces.
    estimand : str
        The quantity that it is about.
    conditions : str
        Exposure, task, crowd and screening for which it is said, and what the method takes for granted.
    promise : {"false claims at most", "covers in at least", "comes true in at least"}
        What the rate counts: studies that say it although it is not so, intervals that contain the truth, or studies in
        which what was foretold happens.
    rate : float
        In [0, 1].
    """

    name: str
    statement: str
    estimand: str
    conditions: str
    promise: Literal["false claims at most", "covers in at least", "comes true in at least"]
    rate: float
