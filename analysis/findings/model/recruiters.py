"""Several recruiters in one study: their people, beside each other, and what is pooled."""

from __future__ import annotations

from analysis.claims.recruiters import RecruitersWord
from analysis.entry import Entry
from analysis.findings.model.entry import Interval, Pair


class RecruiterCrowd(Entry):
    """The people of one recruiter.

    Attributes
    ----------
    recruiter : str
        Its kind: never an account, never an id of anybody.
    people, sessions, answers : int
        Who counts, and their answers to corrupted pictures.
    weight : float or None
        Share of the pooled estimates that these people make together; None where the plan fixes none.
    attentive : float
        Lower bound of the share of their answers that came from looking.
    areas : dict of corruption to float
        Mean accuracy over everything that they measured, without a curve.
    intervals : dict of corruption to tuple of float
        At the level of the analysis.
    """

    recruiter: str
    people: int
    sessions: int
    answers: int
    weight: float | None
    attentive: float
    areas: dict[str, float]
    intervals: dict[str, Interval]


class RecruiterPair(Entry):
    """The crowds of two recruiters beside each other; see `analysis.differences.recruiters.CrowdsBeside`.

    Attributes
    ----------
    difference, interval
        Of mean accuracy, the first minus the second, averaged over corruptions; at 90 %.
    statement : str
        The word, with what it rests on, as it is printed.
    """

    pair: Pair
    word: RecruitersWord
    statement: str
    difference: float
    interval: Interval
    standard_error: float
    p_adjusted: float
    margin: float
    attentive: float
    people: tuple[int, int]
    corruptions: tuple[str, ...]
    alike: bool
    different: bool


class RepeatsBound(Entry):
    """What a share of people who took part twice, unnoticed, could do at most to a pooled area."""

    corruption: str
    share: float
    people: int
    shift: float
    width: float
    width_at_most: float
    statement: str


class RecruiterFindings(Entry):
    """What there is to say of the recruiters of a study that has several; the pooled estimates are the curves.

    Attributes
    ----------
    left_out : int
        Sessions that count by the rules, of recruiters to which the plan gives no weight: in no estimate.
    notes : tuple of str
        What must stand beside all of it.
    """

    crowds: tuple[RecruiterCrowd, ...]
    pairs: tuple[RecruiterPair, ...]
    repeats: tuple[RepeatsBound, ...]
    left_out: int
    notes: tuple[str, ...]
