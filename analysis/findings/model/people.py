"""How many sessions and trials went in, who sent the people, and what they answered to sentinels."""

from __future__ import annotations

from pydantic import ConfigDict

from analysis.claims.recruiters import RecruitersWord
from analysis.entry import Entry
from analysis.findings.model.comparisons import Word
from analysis.findings.model.entry import Interval, Pair


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
    #: answers that could enter curves, to pictures for which no label is right where others have a list
    without_truth: int = 0


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

    @property
    def excluded_total(self) -> int:
        """Sessions that do not count."""
        return sum(self.excluded.values())

    @property
    def finished(self) -> int | None:
        """Completed sessions; of earlier versions those that were handed in."""
        return self.completed or self.submitted


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
        All of them, controls left out: `answered` + `refused` + `unreadable` + `missed` + `outside` + `errors`.
    answered : int
        With a label, right or wrong.
    refused, unreadable : int
        Replies that say that there will be no answer; that name no label, or several.
    missed : int
        Empty replies, and labels that score alike. Like the refused and unreadable ones, they count as wrong.
    outside, errors : int
        Labels that were not offered; no answer from a server that answers others. They count as wrong, too.
    """

    asked: int
    answered: int
    refused: int
    unreadable: int
    missed: int
    outside: int = 0
    errors: int = 0


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
