"""What a researcher asks of a plan; every number has a default, and what makes no study is refused on construction."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from analysis.errors import InvalidInput
from analysis.similarity.discrimination import DiscriminationForm

CorruptionOrder = Literal["interleaved", "blocked"]


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidInput(f"{name} must be a whole number from {low} to {high}, not {value!r}.")


def _known(kind: type, values: Mapping[str, Any], what: str) -> None:
    names = {field.name for field in dataclasses.fields(kind)}
    unknown = sorted(set(values) - names)
    if unknown:
        raise InvalidInput(f"{what} has no setting {unknown[0]!r}; it has: {', '.join(sorted(names))}.")


@dataclass(frozen=True, kw_only=True)
class DiscriminationDesign:
    """The optional block in which corruptions are compared, at equal visual change.

    Parameters
    ----------
    form : {"same-different", "abx"}
        Two pictures, "same corruption or not?"; or three, A and B of two corruptions and X of one of them: "whose?"
    trials : int
        Comparisons a session. Either answer is right in half of them.
    sentinels : int
        Plain comparisons by the measured rule, of two functions outside the compared ones that differ plainly
        (`analysis.design.plain`). A session with nothing else should have 16.
    practice : int
        Plain comparisons with feedback before the block.
    pairs : tuple of (str, str)
        Which corruptions are compared; empty = every pair of the study's corruptions.
    """

    form: DiscriminationForm = "same-different"
    trials: int = 20
    sentinels: int = 4
    practice: int = 4
    pairs: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.form not in get_args(DiscriminationForm):
            raise InvalidInput(
                f"discrimination.form must be one of {', '.join(get_args(DiscriminationForm))}, not {self.form!r}."
            )
        _whole("discrimination.trials", self.trials, 2, 1000)
        _whole("discrimination.sentinels", self.sentinels, 0, 100)
        _whole("discrimination.practice", self.practice, 0, 100)
        if self.trials % 2:
            raise InvalidInput(
                f"discrimination.trials must be even (either answer is right in half of them), not {self.trials}."
            )
        for pair in self.pairs:
            if pair[0] == pair[1]:
                raise InvalidInput(f"discrimination.pairs takes pairs of two different corruptions, not {list(pair)}.")

    @property
    def task(self) -> str:
        """Name of the task as trials carry it."""
        return "abx" if self.form == "abx" else "discrimination"

    @property
    def pictures(self) -> int:
        """Pictures of one trial, each of an original of its own."""
        return 3 if self.form == "abx" else 2

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> DiscriminationDesign:
        _known(cls, values, "discrimination")
        try:
            pairs = tuple((str(first), str(second)) for first, second in values.get("pairs", ()))
        except (TypeError, ValueError) as error:
            raise InvalidInput('discrimination.pairs takes pairs of names, as [["a", "b"]].') from error
        return cls(**{**values, "pairs": pairs})


#: Most screens of a validation session, practice aside (ImageNet-D, supplement: up to 20 pictures).
MOST_SCREENS = 20
Shown = Literal["all", "clean", "corrupted"]


@dataclass(frozen=True, kw_only=True)
class ValidationDesign:
    """A study that asks of every picture whether it shows its category, and could be used as one.

    Parameters
    ----------
    new_pictures : int
        New pictures a session; two screens in ten are for the other roles.
    second_showings : int
        How many of the new pictures come a second time.
    positive, negative : int
        Clean, easy pictures asked about with their own category, and with one that they plainly lack.
    practice : int
        Screens that show the right answers.
    answers_per_picture : int
        People who judge one picture.
    shown : {"all", "clean", "corrupted"}
        Which stimuli of the set are judged.

    Notes
    -----
    The defaults are those of ImageNet-D (supplement): 16 + 1 + 1 + 2 screens, two of practice, 10 workers a picture.
    """

    new_pictures: int = 16
    second_showings: int = 2
    positive: int = 1
    negative: int = 1
    practice: int = 2
    answers_per_picture: int = 10
    shown: Shown = "all"

    def __post_init__(self) -> None:
        _whole("validation.new_pictures", self.new_pictures, 4, MOST_SCREENS)
        _whole("validation.second_showings", self.second_showings, 0, self.new_pictures // 2)
        _whole("validation.positive", self.positive, 0, MOST_SCREENS)
        _whole("validation.negative", self.negative, 0, MOST_SCREENS)
        _whole("validation.practice", self.practice, 0, MOST_SCREENS)
        _whole("validation.answers_per_picture", self.answers_per_picture, 1, 1000)
        if self.shown not in get_args(Shown):
            raise InvalidInput(f"validation.shown must be one of {', '.join(get_args(Shown))}, not {self.shown!r}.")
        if self.screens > MOST_SCREENS:
            raise InvalidInput(
                f"A validation session has at most {MOST_SCREENS} screens beside practice, not {self.screens} "
                "(new_pictures + second_showings + positive + negative)."
            )

    @property
    def screens(self) -> int:
        return self.new_pictures + self.second_showings + self.positive + self.negative

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ValidationDesign:
        _known(cls, values, "validation")
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class DesignConfig:
    """What a session contains and how many sessions there are.

    Parameters
    ----------
    sessions : int
        Session plans asked for.
    sessions_per_participant : int
        How many sessions one person may do; pools are drawn that much larger.
    main_trials : int
        Corrupted pictures a session; 0 for a study of discrimination alone.
    minimum_main_trials : int
        Below this many main trials a session the study is refused rather than cut.
    practice_trials, qualification_trials : int
        Clean pictures with feedback; clean pictures that must be answered well. 16 = one a category.
    qualification_tries : int
        Rounds of qualification, each with pictures of its own; who passes one goes on. A rule set says how many.
    gold_trials : int or None
        Positive sentinels. None = 8, or 5 in a session with under 30 other trials.
    negative_trials : int or None
        Clean pictures of alternating superordinate groups. None = 6, or none in a short session.
    consistency_pairs : int
        Pictures shown twice.
    clean_trials : int or None
        Main originals shown clean, a session. None = as many as give every main original one clean answer and the
        study `clean_answers`, and at least as many as there are golds; at most half of the main trials.
    clean_per_original : int
        Most people to whom one main original is shown clean.
    clean_answers : int
        Clean answers aimed at over the study.
    light_visual_change : float
        Largest visual change of a consistency picture.
    answers_per_stimulus : int
        People who answer one corrupted picture; with more than 1, some pairs of people share some trials.
    overlap : float
        Share of the main trials that everybody sees, for error consistency between any two people. Their answers fall
        on few stimuli, so the curve gains less by them.
    corruption_order : {"interleaved", "blocked"}
        Whether corruptions alternate or follow one another in random order.
    block_trials : int
        Longest stretch between two breaks.
    discrimination : DiscriminationDesign or None
    validation : ValidationDesign or None
        A study of validation asks nothing else, and its other counts of trials are not used.
    """

    sessions: int = 40
    sessions_per_participant: int = 1
    main_trials: int = 40
    minimum_main_trials: int = 16
    practice_trials: int = 10
    qualification_trials: int = 0
    qualification_tries: int = 1
    gold_trials: int | None = None
    negative_trials: int | None = None
    consistency_pairs: int = 4
    clean_trials: int | None = None
    clean_per_original: int = 5
    clean_answers: int = 200
    light_visual_change: float = 0.3
    answers_per_stimulus: int = 1
    overlap: float = 0.0
    corruption_order: CorruptionOrder = "interleaved"
    block_trials: int = 40
    discrimination: DiscriminationDesign | None = None
    validation: ValidationDesign | None = None

    def __post_init__(self) -> None:
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if value is not None:
                _whole(name, value, low, high)
        for name in ("light_visual_change", "overlap"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise InvalidInput(f"{name} must lie in [0, 1], not {value!r}.")
        if self.overlap and not self.main_trials:
            raise InvalidInput("overlap is a share of the main trials, and there are none: leave it out.")
        if self.corruption_order not in get_args(CorruptionOrder):
            raise InvalidInput(f"corruption_order must be interleaved or blocked, not {self.corruption_order!r}.")
        if 0 < self.main_trials < self.minimum_main_trials:
            raise InvalidInput(
                f"main_trials is {self.main_trials}, under minimum_main_trials ({self.minimum_main_trials}): "
                "raise one or lower the other."
            )
        if self.validation is not None:
            if self.main_trials or self.discrimination is not None:
                raise InvalidInput(
                    "A validation study asks nothing else: set main_trials = 0, without a discrimination block."
                )
        elif self.main_trials == 0 and self.discrimination is None:
            raise InvalidInput("main_trials is 0 and there is no discrimination block: nothing would be asked.")

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> DesignConfig:
        """Inverse of `to_dict`; settings that are not given have their defaults, in a validation study main_trials 0.

        Raises
        ------
        InvalidInput
            If a setting is unknown or out of range.
        """
        _known(cls, values, "design")
        discrimination = values.get("discrimination")
        if isinstance(discrimination, Mapping):
            discrimination = DiscriminationDesign.from_dict(discrimination)
        validation = values.get("validation")
        given = dict(values)
        if isinstance(validation, Mapping):
            validation = ValidationDesign.from_dict(validation)
            given.setdefault("main_trials", 0)
        return cls(**{**given, "discrimination": discrimination, "validation": validation})


_RANGES = (
    ("sessions", 1, 100_000),
    ("sessions_per_participant", 1, 100),
    ("main_trials", 0, 5000),
    ("minimum_main_trials", 1, 5000),
    ("practice_trials", 0, 200),
    ("qualification_trials", 0, 200),
    ("qualification_tries", 1, 5),
    ("gold_trials", 0, 200),
    ("negative_trials", 0, 200),
    ("consistency_pairs", 0, 100),
    ("clean_trials", 0, 1000),
    ("clean_per_original", 1, 1000),
    ("clean_answers", 0, 1_000_000),
    ("answers_per_stimulus", 1, 1000),
    ("block_trials", 5, 1000),
)
