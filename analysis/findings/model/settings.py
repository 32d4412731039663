"""What decides the numbers of an analysis: stated in its findings, so that they can be made again."""

from __future__ import annotations

from typing import Self

from pydantic import field_validator

from analysis.entry import Entry
from analysis.errors import InvalidInput
from analysis.findings.model.entry import N_BOOTSTRAP
from analysis.observers.kinds import kind_named
from analysis.study.analysis_plan import (
    BAND_MARGIN,
    D_PRIME_MARGIN,
    DISCRIMINATION_MARGIN,
    LEVEL,
    MARGIN,
    OBSERVER_MODEL,
    AnalysisPlan,
    CurveKind,
    Estimand,
    ObserverModel,
)
from analysis.study.change_weights import ChangeWeights


class Settings(Entry):
    """What decides the numbers of an analysis, as its findings state it.

    Attributes
    ----------
    seed : int
        Of every resampling, at least 0: the same tables and settings give the same findings.
    n_bootstrap : int
        Refits per resampled unit; 0 leaves intervals, bands and similarity out.
    level : float
        Of intervals.
    margin, band_margin : float
        Margins of equivalence of mean accuracy, and of its windows.
    d_prime_margin : float or None
        Margin of equivalence of same/different and ABX. None, as in plans that were frozen before there was one: the
        d' at which an observer who judges every picture on its own is right in 1/2 + ``discrimination_margin``, and on
        that observer the verdict rests, whatever ``observer_model`` says.
    observer_model : {"differencing", "independent"}
        Observer of same/different and ABX on whose d' the verdict rests.
    validation_threshold : float or None
        Share of qualified answers that accepts a picture.
    borrow : dict of corruption to corruption
        Compare classifiers on the first also with the human curve of the second, labelled borrowed.
    sensitivity : bool
        Whether headline numbers are computed under other choices, too.
    estimand : {"categories", "people", "answers"}
        Whether curves are means in which people and categories count equally (of models: categories), people alone, or
        answers. They are the same where all gave equally many answers, equally many to each category.
    curve : {"spline", "paper", "paper-code"}
        How curves are drawn. Published ones have no refits: areas, HMRI and MRSI stand without intervals.
    change_weights : tuple of (float, float)
        Visual change and weight (`analysis.study.change_weights.ChangeWeights`): areas, HMRI and MRSI under them stand
        beside those under equal weights. Empty without any.
    change_weights_name : str
        What they stand for.
    recruiter_weights : dict of recruiter to float
        By which the people of each recruiter count together in everything about people; others are left out. Without
        any, everybody counts once.
    network_kinds : dict of str to str
        Kind of each network that has one, by its id in `analysis.observers.kinds.KINDS`: figures show networks by kind,
        and means over kinds are taken. Not stated where there is none.
    """

    seed: int
    n_bootstrap: int = N_BOOTSTRAP
    level: float = LEVEL
    margin: float = MARGIN
    band_margin: float = BAND_MARGIN
    discrimination_margin: float = DISCRIMINATION_MARGIN
    d_prime_margin: float | None = D_PRIME_MARGIN
    observer_model: ObserverModel = OBSERVER_MODEL
    validation_threshold: float | None = None
    borrow: dict[str, str] = {}
    sensitivity: bool = True
    #: findings of earlier versions, which do not say, are means over answers
    estimand: Estimand = "answers"
    curve: CurveKind = "spline"
    recruiter_weights: dict[str, float] = {}
    change_weights: tuple[tuple[float, float], ...] = ()
    change_weights_name: str = ""
    network_kinds: dict[str, str] = {}

    @field_validator("network_kinds")
    @classmethod
    def _known(cls, kinds: dict[str, str]) -> dict[str, str]:
        for kind in kinds.values():
            kind_named(kind)
        return kinds

    @property
    def weighting(self) -> ChangeWeights | None:
        """The weights over visual change, where there are some beside equal ones."""
        return ChangeWeights(self.change_weights, self.change_weights_name) if self.change_weights else None

    @field_validator("change_weights")
    @classmethod
    def _of_the_whole_axis(cls, points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        if points:
            ChangeWeights(points)
        return points

    @field_validator("seed")
    @classmethod
    def _not_negative(cls, seed: int) -> int:
        if seed < 0:
            raise InvalidInput(f"A seed is not negative, but {seed} was given.")
        return seed

    @classmethod
    def planned(cls, **chosen: object) -> Self:
        """Settings of a new analysis: whatever is not chosen is as a plan of today has it, and is stated, too."""
        values: dict[str, object] = {
            "n_bootstrap": N_BOOTSTRAP,
            "sensitivity": True,
            **AnalysisPlan().settings(),
            **chosen,
        }
        # Weights and kinds are stated where there are some; plans and exports may name that there are none.
        for name in ("recruiter_weights", "change_weights", "change_weights_name", "network_kinds"):
            if not values.get(name):
                values.pop(name, None)
        return cls.model_validate(values | {"borrow": values["borrow"] or {}})
