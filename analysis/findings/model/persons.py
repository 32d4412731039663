"""Who answered: machines among people, by what they answered to sentinel pictures."""

from __future__ import annotations

from analysis.entry import Entry
from analysis.findings.model.comparisons import Word
from analysis.findings.model.entry import Interval


class Caught(Entry):
    """At this share of false alarms: models of the registry caught in people's places, each without its family."""

    false_alarms: float
    #: mean over families of weights
    families: float
    #: of the model that is caught least
    least: float


class AreaWithout(Entry):
    """Area of people's curve on a corruption."""

    corruption: str
    area: float
    #: of people alone, with what the flags leave open; None where everybody may be a machine
    interval: Interval | None = None
    #: what machines may add to the area, at least and at most
    bias: Interval | None = None


class VerdictWithout(Entry):
    """A verdict on one corruption (empty: on all), as reported, and whether it stands however machines answered."""

    classifier: str
    corruption: str
    word: Word
    stands: bool


class PersonBound(Entry):
    """What follows if the sentinels catch at least this share of machines; without a bound at 0."""

    catch: float
    machines: int | None
    statement: str
    areas: tuple[AreaWithout, ...] = ()
    verdicts: tuple[VerdictWithout, ...] = ()


class WithoutSessions(Entry):
    """Results without the people who are most like machines."""

    people: int
    areas: tuple[AreaWithout, ...]
    verdicts: tuple[VerdictWithout, ...] = ()


class Persons(Entry):
    """What the sentinels say.

    Attributes
    ----------
    people, scored : int
        People, and those who answered sentinels.
    sentinels : int
        Answers of one person that count, on the median.
    families : tuple of str
        Families of sentinel pictures.
    models, weights : int
        Models of the registry, and families of weights.
    scores : tuple of float
        Log likelihood ratios, lowest first, without names.
    flagged : tuple of str
        Codes of people to look at; pages show them to whoever may see evidence.
    share : float
        Estimated share of machines.
    least_caught : str
        The model of the registry that is flagged least; empty with a single family of weights.
    """

    people: int
    scored: int
    sentinels: int
    families: tuple[str, ...]
    models: int
    weights: int
    scores: tuple[float, ...]
    flagged_people: int
    flagged: tuple[str, ...] = ()
    share: float
    share_interval: Interval
    caught: tuple[Caught, ...] = ()
    flag_catches: float | None = None
    flag_catches_least: float | None = None
    least_caught: str = ""
    bounds: tuple[PersonBound, ...] = ()
    without: tuple[WithoutSessions, ...] = ()
