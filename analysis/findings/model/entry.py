"""What every part of the findings has in common."""

from __future__ import annotations

from typing import Literal, TypeAlias

from analysis.entry import Entry

#: The population of all people.
HUMANS = "humans"
#: Refits per resampled unit where no number is chosen.
N_BOOTSTRAP = 1000

Property = Literal["accuracy", "consistency"]
Interval: TypeAlias = tuple[float, float]
Pair: TypeAlias = tuple[str, str]
Numbers: TypeAlias = tuple[float, ...]


class CurveName(Entry):
    """Names a curve of one population."""

    population: str
    corruption: str
    property: Property


class ComparisonName(Entry):
    """Names a classifier beside people."""

    classifier: str
    corruption: str
    property: Property


class Twin(Entry):
    """HMRI and MRSI of simulated twins: models that answer by people's own curve, in drawn studies of this size.

    Attributes
    ----------
    draws : int
    hmri, mrsi : float
        Medians.
    hmri_range, mrsi_range : tuple of float
        From the 5 to the 95 % quantile.
    shared : float
        Correlation of what lies behind two people's answers to one picture.
    shared_by : {"stimuli", "originals", "nothing"}
        What it was estimated from: answers to one stimulus, to stimuli of one original where there are too few of
        these (less is shared then), or neither: the twin has its own difficulties.
    statement : str
        The same as it is printed.
    """

    draws: int
    hmri: float
    hmri_range: Interval
    mrsi: float
    mrsi_range: Interval
    shared: float
    shared_by: Literal["stimuli", "originals", "nothing"]
    statement: str
