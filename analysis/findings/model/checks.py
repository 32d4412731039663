"""The same numbers otherwise: other choices of trials, published levels, coverage, judged pictures."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, JsonValue

from analysis.entry import Entry
from analysis.findings.model.comparisons import Word
from analysis.findings.model.entry import ComparisonName, CurveName, Interval, Property

ChoiceKind = Literal["headline", "screening", "timing", "misses", "set aside"]


class ChoiceCurve(CurveName):
    """People's area under another choice of trials."""

    area: float
    n: int


class ChoiceComparison(ComparisonName):
    """A classifier beside people under another choice of trials."""

    hmri: float
    mrsi: float


class ChoiceVerdict(Entry):
    """A classifier beside people over all corruptions under another choice of trials."""

    classifier: str
    word: Word
    statement: str


class Choice(Entry):
    """Headline numbers under one choice of sessions and trials."""

    choice: str
    kind: ChoiceKind
    #: None without a table of them
    sessions: int | None
    answers: int
    curves: tuple[ChoiceCurve, ...]
    comparisons: tuple[ChoiceComparison, ...]
    #: on accuracy, over all corruptions; empty without refits
    verdicts: tuple[ChoiceVerdict, ...] = ()


class Ranks(Entry):
    """Places of a classifier by each measure."""

    fixed: int
    accuracy: int
    consistency: int | None = None


class FunctionLevels(Entry):
    """A classifier on one corruption function, by fixed levels and by areas."""

    corruption: str
    fixed_accuracy: float
    area_accuracy: float
    area_consistency: float | None
    #: None in findings that ranked over all functions alone
    ranks: Ranks | None = None


class LevelModel(Entry):
    """A classifier by fixed levels and by areas."""

    classifier: str
    fixed_accuracy: float
    area_accuracy: float
    area_consistency: float | None
    by_function: tuple[FunctionLevels, ...]
    ranks: Ranks


class RankChange(Entry):
    """A classifier whose place by fixed levels is another than by areas."""

    model_config = ConfigDict(validate_by_name=True)

    classifier: str
    property: Property
    from_: int = Field(alias="from")
    to: int


class Swap(Entry):
    """Two classifiers whose order differs."""

    property: Property
    ahead_at_levels: str
    ahead_by_area: str


class Reversal(Entry):
    """Two classifiers that stand in one order by fixed levels and in the other by areas.

    Attributes
    ----------
    corruption : str or None
        None over all functions.
    property : {"accuracy", "consistency"}
        Of the areas; at levels it is accuracy.
    ahead_at_levels, ahead_by_area : str
    at_levels : float
        Accuracy at the levels, the first minus the second, above 0.
    at_levels_interval : tuple of float
    over_change : float
        Mean over bins of visual change, the second minus the first, from the answers themselves.
    over_change_interval : tuple of float
    p : float
        That not both are so, corrected over all pairs, functions and properties.
    is_shown : bool
        Whether the order is surely reversed.
    """

    corruption: str | None
    property: Property
    ahead_at_levels: str
    ahead_by_area: str
    at_levels: float
    at_levels_interval: Interval
    over_change: float
    over_change_interval: Interval
    p: float
    is_shown: bool


class Levels(Entry):
    """Fixed levels beside areas."""

    functions: tuple[str, ...]
    models: tuple[LevelModel, ...]
    rank_changes: tuple[RankChange, ...]
    swaps: tuple[Swap, ...]
    #: over all functions and on each, with what pictures leave open
    reversals: tuple[Reversal, ...] = ()
    #: as `analysis.visual_change.coverage.SetComparison` writes it
    coverage: dict[str, JsonValue] | None


class Reach(Entry):
    """How far up the axis the stimuli of a corruption reach."""

    corruption: str
    n: int
    originals: int
    targets_missed: int
    largest: float
    largest_worst_original: float
    covered: int
    bins: int
    paper_covered: int
    paper_bins: int


class JudgedImage(Entry):
    """A picture that people judged."""

    stimulus: str
    wanted: str
    n: int
    shows: float
    usable: float
    yes_to_both: float
    agreement: float
    accepted: bool
    accepted_one_coin: bool
    certainty: float


class Judgements(Entry):
    """All judged pictures together; without answers of qualified people there are numbers of people alone."""

    people: int
    qualified: int
    answers: int
    threshold: float
    agreement: float | None = None
    agreement_shows: float | None = None
    agreement_usable: float | None = None
    mean_image_agreement: float | None = None
    accepted_share: float | None = None
    accepted_share_one_coin: float | None = None
    decided_otherwise: int | None = None
    #: agreement on both questions of people who guess, and what 97.5 of 100 such studies stay below
    agreement_by_guessing: float | None = None
    agreement_by_guessing_upper: float | None = None

    @property
    def is_like_guessing(self) -> bool:
        """Whether people agree no more than people who guess may."""
        upper = self.agreement_by_guessing_upper
        return self.agreement is not None and upper is not None and self.agreement <= upper


class JudgedLabel(Entry):
    """All pictures that were compared with one wanted label."""

    wanted: str
    pictures: int
    answers: int
    shows: float
    usable: float
    yes_to_both: float
    agreement: float
    accepted: int


class Validation(Entry):
    """Do people agree that a picture shows the wanted category?"""

    images: tuple[JudgedImage, ...]
    overall: Judgements
    #: in order of labels; none in findings of earlier versions
    labels: tuple[JudgedLabel, ...] = ()
