"""How many sessions and trials went in, and how they were analysed."""

from __future__ import annotations

from pydantic import ConfigDict

from analysis.entry import Entry
from analysis.findings.model.entry import LEVEL, N_BOOTSTRAP
from analysis.spec.analysis_plan import (
    BAND_MARGIN,
    D_PRIME_MARGIN,
    DISCRIMINATION_MARGIN,
    MARGIN,
    OBSERVER_MODEL,
    Estimand,
    ObserverModel,
)


class Settings(Entry):
    """Arguments of `analysis.findings.analyse` that decide the numbers."""

    seed: int
    n_bootstrap: int = N_BOOTSTRAP
    level: float = LEVEL
    margin: float = MARGIN
    band_margin: float = BAND_MARGIN
    discrimination_margin: float = DISCRIMINATION_MARGIN
    #: None: that of an observer who judges every picture on its own, from `discrimination_margin`
    d_prime_margin: float | None = D_PRIME_MARGIN
    observer_model: ObserverModel = OBSERVER_MODEL
    validation_threshold: float | None = None
    borrow: dict[str, str] = {}
    sensitivity: bool = True
    #: findings of earlier versions, which do not say, are means over answers
    estimand: Estimand = "answers"
    #: by recruiter, where the plan fixes some
    recruiter_weights: dict[str, float] = {}


class TrialCounts(Entry):
    """Rows that went in."""

    rows: int
    in_all_sessions: int
    in_accepted_sessions: int
    predictions: int
    #: trials of any task and role that nobody could see and answer; no other count contains them
    set_aside: int = 0
    #: answers to sentinels of persons in accepted sessions, which enter no curve
    persons: int = 0


class Crowd(Entry):
    """How many people stand behind what is said of people, in the words of every page, table, report and file.

    Attributes
    ----------
    people : int
        Who answered in sessions that count.
    statement : str
        On how many of them verdicts rest, and how often those on few are wrong; that nothing is said of people at
        large, where they are too few; empty where nobody answered.
    provisional : str
        That fewer sessions count than were planned; empty otherwise.
    """

    people: int
    statement: str
    provisional: str


class SessionCounts(Entry):
    """Sessions as whoever collected them counted them; further counts are kept."""

    model_config = ConfigDict(extra="allow")

    opened: int = 0
    under_way: int | None = None
    completed: int | None = None
    submitted: int | None = None
    unverified: int = 0
    withdrawn: int = 0
    planned: int = 0
    accepted: int = 0
    #: by reason
    excluded: dict[str, int] = {}


class Exclusion(Entry):
    """Sessions that were excluded for one reason."""

    reason: str
    n: int


class Flow(Entry):
    """Sessions at each step.

    Each that was opened is withdrawn, unfinished, unverified, ended in practice, unjudged, accepted or excluded.

    Attributes
    ----------
    opened : int
        Sessions that were ever opened.
    finished : int
        Sessions in which every trial was answered, and that can count.
    submitted : int
        Finished sessions that were handed in.
    withdrawn : int
        Taken back by the participant, or ended by them; their answers are in no table.
    unfinished : int
        Begun, and neither finished nor withdrawn.
    left : int
        Among the unfinished: ended by the participant, whose answers stay.
    unjudged : int
        Finished, and not judged yet.
    accepted : int
        Sessions that count.
    excluded : tuple of Exclusion
        Judged sessions that do not count, by their first reason, the most frequent first.
    accepted_by_hand, excluded_by_hand : int
        Verdicts in which a person decided otherwise than the rules; they are among the accepted and the excluded.
    not_submitted : int
        Finished sessions that were not handed in; they are judged, too.
    unverified : int
        Every trial was answered, and whoever recruits the person has not listed the session: it cannot count.
    longer_window : int
        Finished and judged sessions in which the participant had asked for a longer answer window.
    practice_not_passed : int
        Ended with practice whose criterion was not met; no rule judges them, and they are not among the excluded.
    """

    opened: int
    finished: int
    submitted: int
    withdrawn: int
    unfinished: int
    unjudged: int
    accepted: int
    excluded: tuple[Exclusion, ...]
    accepted_by_hand: int = 0
    excluded_by_hand: int = 0
    not_submitted: int = 0
    unverified: int = 0
    practice_not_passed: int = 0
    left: int = 0
    longer_window: int = 0

    @property
    def excluded_total(self) -> int:
        """Judged sessions that do not count."""
        return sum(one.n for one in self.excluded)


class AskedCounts(Entry):
    """What became of trials or questions to a model that is asked in words.

    Attributes
    ----------
    asked : int
        All of them: `answered` + `refused` + `unreadable` + `missed`. An evaluation is complete only when every
        question has an answer, so none is lost to an error.
    answered : int
        With a label, right or wrong.
    refused, unreadable : int
        Replies that say that there will be no answer; that name no label, or several.
    missed : int
        Empty replies, and labels that score alike. Like the refused and unreadable ones, they count as wrong.
    """

    asked: int
    answered: int
    refused: int
    unreadable: int
    missed: int


class AskedAtChange(Entry):
    """Trials in a range of visual change: clean ones where both ends are 0, not measured where both are None."""

    low: float | None
    high: float | None
    trials: AskedCounts


class AskedObserver(Entry):
    """What became of the trials of a model that is asked in words.

    Attributes
    ----------
    observer : str
    trials : AskedCounts
        The first question about each stimulus, whose answer is in the curves.
    questions : AskedCounts
        All questions: of every wording, order and repeat.
    by_change : tuple of AskedAtChange
        The trials, clean ones first.
    """

    observer: str
    trials: AskedCounts
    questions: AskedCounts
    by_change: tuple[AskedAtChange, ...]
