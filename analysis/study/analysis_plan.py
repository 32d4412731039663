"""What a study decides about its analysis before anybody looks: `[analysis]` of a study file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Strict, field_validator

from analysis.errors import InvalidInput
from analysis.study.base import Earlier, Must, Number, Sparse, refusal
from analysis.study.change_weights import ChangeWeights

#: Level of intervals.
LEVEL = 0.95
#: Largest difference of mean height that still counts as equal (set before looking at results).
MARGIN = 0.03
#: Largest difference at any single visual change.
BAND_MARGIN = 0.10
#: Largest accuracy above guessing that still counts as indistinguishable.
DISCRIMINATION_MARGIN = 0.10
#: d' that still counts as indistinguishable: one just noticeable difference, in every task.
D_PRIME_MARGIN = 1.0
#: What an observer does with the pictures of a trial.
ObserverModel = Literal["differencing", "independent"]
OBSERVER_MODEL: ObserverModel = "differencing"
#: What a curve is the mean over: people and categories, each of which counts equally; people alone; or answers.
Estimand = Literal["categories", "people", "answers"]
#: How curves are drawn: by the product's estimator, as the paper prints it, or as the program beside the paper does.
CurveKind = Literal["spline", "paper", "paper-code"]
#: Visual change and weight, as files and JSON have them.
ChangeWeight = Annotated[tuple[Annotated[float, Number], Annotated[float, Number]], Strict(False)]
#: Share of qualified answers that say yes to both questions, above which a picture is accepted.
VALIDATION_THRESHOLD = 0.5


class AnalysisPlan(Sparse):
    """Settings of `findings.analysing.analyse` that a study fixes. What was stated is stored; the rest has defaults."""

    level: Annotated[float, Field(gt=0, lt=1, description="level of intervals"), Number] = LEVEL
    margin: Annotated[
        float, Field(gt=0, lt=1, description="how far apart the areas of equivalent corruptions may be"), Number
    ] = MARGIN
    band_margin: Annotated[
        float, Field(gt=0, lt=1, description="how far apart the curves of equivalent corruptions may be"), Number
    ] = BAND_MARGIN
    d_prime_margin: Annotated[
        float | None,
        Field(gt=0, lt=4, description="largest d' at which people count as unable to tell corruptions apart"),
        Number,
        Earlier(2, None),
    ] = D_PRIME_MARGIN
    observer_model: Annotated[
        ObserverModel,
        Field(
            description="how d' follows from answers: observers compare how different the pictures are, or judge each "
            "picture on its own (`independent`)"
        ),
        Earlier(2, "independent"),
    ] = OBSERVER_MODEL
    discrimination_margin: Annotated[
        float,
        Field(
            gt=0,
            lt=0.5,
            description="how far from chance the comparisons of equivalent corruptions may be answered, in plans of "
            "version 1; later ones have `d_prime_margin`",
        ),
        Number,
    ] = DISCRIMINATION_MARGIN
    estimand: Annotated[
        Estimand,
        Field(
            description="what curves are the mean over: people, each counting once, and categories, each counting "
            "equally (`categories`); `people` alone; or `answers`"
        ),
        Earlier(3, "people"),
        Earlier(2, "answers"),
    ] = "categories"
    curve: Annotated[
        CurveKind,
        Field(
            description="how curves are drawn: `spline`; `paper`, as VCR prints it (Algorithm 1); or `paper-code`, as "
            "the program beside the paper does, for replication alone. Published curves have no intervals, and "
            "verdicts do not rest on them ([paper-mode.md](paper-mode.md))"
        ),
    ] = "spline"
    validation_threshold: Annotated[
        float, Field(gt=0, lt=1, description="share of yes that accepts a picture"), Number
    ] = VALIDATION_THRESHOLD
    count_longer_windows: Annotated[
        bool,
        Field(
            description="whether sessions count whose participants asked for a longer answer window "
            "(`setup.longer_window_ms`); the flow of sessions states their number either way"
        ),
    ] = True
    recruiter_weights: Annotated[
        dict[str, float],
        Field(
            description="several recruiters: how much the people of each count together in everything that is pooled; "
            "in proportion to `recruitment.places` if left out ([several-recruiters.md](several-recruiters.md))"
        ),
        Must("a table: recruiter = weight above 0"),
    ] = {}
    change_weights: Annotated[
        tuple[ChangeWeight, ...],
        Strict(False),
        Field(
            description="weights over visual change beside equal ones: rows `[Δv, weight]` from Δv 0 to 1, linear "
            "between, e.g. `[[0, 0], [0.6, 1], [1, 3]]` ([paper-mode.md](paper-mode.md#weights-over-visual-change))"
        ),
        Must("a list of [Δv, weight]"),
    ] = ()
    change_weights_name: Annotated[
        str, Field(max_length=80, description="what these weights stand for, as results name them")
    ] = ""
    borrow: Annotated[
        dict[str, str],
        Field(description='compare also with another human curve: `borrow = { glass_blur = "gaussian_blur" }`'),
        Must('a table: corruption = "corruption whose human curve is borrowed"'),
    ] = {}

    @classmethod
    def called(cls) -> str:
        return "[analysis]"

    @field_validator("change_weights")
    @classmethod
    def _of_the_whole_axis(cls, points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        try:
            if points:
                ChangeWeights(points)
        except InvalidInput as error:
            raise refusal(f"{{place}}: {error}") from error
        return points

    @field_validator("recruiter_weights")
    @classmethod
    def _above_nothing(cls, weights: dict[str, float]) -> dict[str, float]:
        for name, weight in weights.items():
            if not weight > 0.0:
                raise refusal(f"{{place}}.{name} must be a number above 0, not {weight:g}.")
        return weights

    def settings(self) -> dict[str, object]:
        """Arguments of `analyse`, defaults filled in; shares are fractions. The trials say which sessions count."""
        values = {name: getattr(self, name) for name in type(self).model_fields if name != "count_longer_windows"}
        return {name: float(value) if isinstance(value, int) else value for name, value in values.items()}
