"""What retraining brought: areas, HMRI and MRSI before and after, with intervals of the difference."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.arrays import BoolArray, FloatArray
from analysis.claims.robustness import THESE_WEIGHTS
from analysis.curves.bootstrap import Bootstrap, pair_spread
from analysis.curves.curve import CurveFit
from analysis.curves.resampling import cluster_words, multiplicities
from analysis.errors import OriginalsOverlap, TableRefused, TooFewResponses
from analysis.findings.fits import FitSettings, fit_outcomes
from analysis.findings.model.entry import Property
from analysis.findings.observations import CLEAN, Observations, read_predictions, read_trials
from analysis.findings.outcomes import PROPERTIES, classifier_outcomes, human_outcomes
from analysis.metrics import compare
from analysis.study.analysis_plan import LEVEL

if TYPE_CHECKING:
    import pandas as pd

#: Cells of the sum over visual change in which leads are taken; exact to about 1e-6.
_CELLS = 500
#: Visual changes at which the curves are kept.
_GRID = np.linspace(0.0, 1.0, 101)
_CURVES = ("area",)
_AGAINST_PEOPLE = ("area", "hmri", "mrsi")


def before_and_after(
    before: pd.DataFrame,
    after: pd.DataFrame,
    trials: pd.DataFrame | None = None,
    *,
    training: Collection[str] = (),
    trained_on: Collection[str] = (),
    seed: int = 0,
    n_bootstrap: int = 1000,
    level: float = LEVEL,
) -> dict[str, Any]:
    """Compare a network's predictions before and after retraining, on originals that it was not trained on.

    Parameters
    ----------
    before, after : pandas.DataFrame
        Columns of `analysis.tables.stimuli.PREDICTIONS`; the same stimuli, one classifier each.
    trials : pandas.DataFrame, optional
        People's trials, columns of `analysis.tables.trials.TRIALS`; without them only areas are compared.
    training : collection of str
        Names of the originals that the network was trained on.
    trained_on : collection of str
        Names of the corruptions that it was trained on, which the result marks.
    seed, n_bootstrap, level
        Of the bootstrap over originals; one seed draws the same originals before, after, and for people.

    Returns
    -------
    dict
        Plain values, floats unrounded: ``clean`` (accuracy on clean pictures), and ``rows``, one a corruption and
        property, each with ``before``, ``after``, ``difference`` (after minus before) and its ``interval``, by
        quantity: ``area`` (R-hat), and with people ``hmri`` and ``mrsi``; its ``curves`` on a grid of visual change
        (``visual_change``, ``before``, ``after``, ``people`` or None); ``intervals_are``, what they are about.

    Raises
    ------
    OriginalsOverlap
        If a prediction is on an original of training.
    TableRefused
        If the tables hold other stimuli, or more than one classifier or label space.
    """
    first, second, label_space = _paired(before, after)
    shared = set(first.original.tolist()) & set(training)
    if shared:
        raise OriginalsOverlap(
            f"{len(shared)} originals of evaluation were trained on, for example {min(shared)}: leave them out."
        )
    people = None if trials is None else read_trials(trials)
    settings = FitSettings(seed=seed, n_bootstrap=n_bootstrap, level=level)
    corruptions = sorted(set(first.corruption.tolist()) - {CLEAN})
    notes: list[str] = []
    rows = []
    for subject in PROPERTIES:
        for corruption in corruptions:
            try:
                row = _row(first, second, people, corruption, subject, settings, label_space)
            except TooFewResponses as error:
                notes.append(f"{corruption}, {subject}: {error}")
                continue
            if row is not None:
                rows.append({**row, "trained_on": corruption in trained_on})
    return {
        "clean": _clean(first.clean, second.clean, settings),
        "rows": rows,
        "originals": len(set(first.original.tolist())),
        "stimuli": len(first),
        "level": level,
        "seed": seed,
        "n_bootstrap": n_bootstrap,
        "intervals_are": THESE_WEIGHTS,
        "notes": notes,
    }


def _paired(before: pd.DataFrame, after: pd.DataFrame) -> tuple[Observations, Observations, int]:
    first, spaces = read_predictions(before)
    second, others = read_predictions(after)
    if len(spaces) != 1 or len(others) != 1 or [*spaces.values()] != [*others.values()]:
        raise TableRefused("Before and after are one classifier each, in one label space.")
    if first.stimulus.tolist() != second.stimulus.tolist():
        raise TableRefused("Before and after hold predictions on different stimuli: predict the same ones.")
    return first, second, next(iter(spaces.values()))


def _row(
    first: Observations,
    second: Observations,
    people: Observations | None,
    corruption: str,
    subject: Property,
    settings: FitSettings,
    label_space: int,
) -> dict[str, Any] | None:
    fits = []
    for own in (first, second):
        outcomes = classifier_outcomes(own, own, corruption, subject, None)
        if outcomes is None:
            return None
        fits.append(fit_outcomes(outcomes, settings, label_space=label_space))
    answers = None if people is None else human_outcomes(people, corruption, subject, None)
    human = None if answers is None else fit_outcomes(answers, settings)
    estimates = [_quantities(human, fit) for fit in fits]
    row: dict[str, Any] = {
        "corruption": corruption,
        "property": subject,
        "stimuli": fits[0].n_trials,
        "human_area": None if human is None else human.area,
        "before": estimates[0],
        "after": estimates[1],
        "difference": {name: estimates[1][name] - estimates[0][name] for name in estimates[0]},
        "interval": None,
        "curves": {
            "visual_change": _GRID.tolist(),
            "before": _heights(fits[0]),
            "after": _heights(fits[1]),
            "people": None if human is None else _heights(human),
        },
    }
    if settings.n_bootstrap:
        names = _CURVES if human is None else _AGAINST_PEOPLE
        lower, upper = difference_interval(human, fits[0], fits[1], settings.level)
        row["interval"] = {name: [float(low), float(high)] for name, low, high in zip(names, lower, upper, strict=True)}
    return row


def _heights(fit: CurveFit) -> list[float]:
    """The curve on the grid that is kept."""
    heights: list[float] = (fit.basis.design(_GRID) @ fit.coefficients).tolist()
    return heights


def _quantities(human: CurveFit | None, fit: CurveFit) -> dict[str, float]:
    if human is None:
        return {"area": fit.area}
    found = compare(human, fit)
    return {"area": fit.area, "hmri": found.hmri, "mrsi": found.mrsi}


def difference_interval(
    human: CurveFit | None, before: CurveFit, after: CurveFit, level: float
) -> tuple[FloatArray, FloatArray]:
    """Interval of after minus before, for these two sets of weights: areas, and against people HMRI and MRSI.

    Parameters
    ----------
    human, before, after : CurveFit
        With refits; those of the networks on the same originals and of one seed.
    level : float

    Returns
    -------
    tuple of ndarray, shape (3,), or (1,) without people
        Lower and upper ends.

    Raises
    ------
    TooFewResponses
        Without refits.

    Notes
    -----
    Percentiles of joint refits: both networks' refits stand side by side as one curve, so that `pair_spread` draws the
    same originals for both, and for people. A lead is never negative, so noise makes that of every refit positive, and
    a network that reaches people's curve would seem to gain a lead. A lead that the simultaneous band of the difference
    from people does not show may be 0: beside one that is shown, it counts as 0 at the end of the interval that this
    moves outwards; where neither is shown, the interval reaches to 0.
    """
    first, second = before.bootstrap, after.bootstrap
    if first is None or second is None:
        raise TooFewResponses("There are no refits to take an interval from.")
    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    design = before.basis.design((edges[1:] + edges[:-1]) / 2.0)
    both = Bootstrap(
        first.scheme,
        first.key,
        {unit: np.hstack([draws, second.draws[unit]]) for unit, draws in first.draws.items()},
    )
    estimate = np.concatenate([before.coefficients, after.coefficients])
    size = len(before.coefficients)

    def quantities(people: FloatArray | None, coefficients: FloatArray) -> FloatArray:
        """Area, and against people HMRI - 1 and MRSI: 0 without a lead."""
        curve: FloatArray = coefficients @ design.T
        area: FloatArray = curve.mean(axis=1)
        if people is None:
            return area[:, None]
        heights = people @ design.T
        gap = heights - curve
        human_area, human_lead = heights.mean(axis=1), np.maximum(gap, 0.0).mean(axis=1)
        lead = np.maximum(-gap, 0.0).mean(axis=1)
        missed = np.divide(human_lead, human_area, out=np.zeros_like(human_lead), where=human_area > 0.0)
        mrsi = np.divide(lead, area, out=np.zeros_like(lead), where=area > 0.0)
        return np.stack([area, -missed, mrsi], axis=1)

    was, became = (_shown(human, network, design, level) for network in (before, after))
    lost, gained = was & ~became, became & ~was
    falls = np.array([False, True, False])[: len(was)]
    # Which leads count, before and after, at either end.
    counted = ((~(gained & falls), ~(lost & ~falls)), (~(gained & ~falls), ~(lost & falls)))

    def change(people: FloatArray, networks: FloatArray) -> FloatArray:
        shown = None if human is None else people
        old, new = quantities(shown, networks[:, :size]), quantities(shown, networks[:, size:])
        return np.stack([new * counts_new - old * counts_old for counts_old, counts_new in counted], axis=1)

    against = human.bootstrap if human is not None and human.bootstrap is not None else both
    fixed = estimate if human is None else human.coefficients
    ends = pair_spread(against, both, fixed, estimate, change).percentile_interval(level)
    lower, upper = ends[0][0], ends[1][1]
    neither = ~(was | became)
    return np.where(neither, np.minimum(lower, 0.0), lower), np.where(neither, np.maximum(upper, 0.0), upper)


def _shown(human: CurveFit | None, network: CurveFit, design: FloatArray, level: float) -> BoolArray:
    """Whether each quantity is shown not to be 0: its area, that people lead somewhere, that the network does.

    The band leaves half of what the interval may miss: whatever it shows by mistake, the interval then excludes.
    """
    if human is None or human.bootstrap is None or network.bootstrap is None:
        return np.array([True])
    pair = (human.bootstrap, network.bootstrap, human.coefficients, network.coefficients)
    gap = pair_spread(*pair, lambda people, others: (others - people) @ design.T)
    reach = gap.critical_value((1.0 + level) / 2.0) * np.maximum(gap.standard_error, 1e-3)
    return np.array([True, bool(np.any(gap.estimate < -reach)), bool(np.any(gap.estimate > reach))])


def _clean(first: Observations, second: Observations, settings: FitSettings) -> dict[str, Any]:
    """Accuracy on clean pictures before and after, with the interval of the difference."""
    if not len(first):
        return {"n": 0, "before": None, "after": None, "difference": None, "interval": None}
    change = second.correct - first.correct
    result: dict[str, Any] = {
        "n": len(first),
        "before": float(first.correct.mean()),
        "after": float(second.correct.mean()),
        "difference": float(change.mean()),
        "interval": None,
    }
    if settings.n_bootstrap:
        names, codes = np.unique(first.original, return_inverse=True)
        weights = multiplicities(settings.seed, cluster_words("image", names.tolist()), settings.n_bootstrap)[codes]
        counts = np.maximum(weights.sum(axis=0), 1)
        tail = (1.0 - settings.level) / 2.0
        bounds = np.quantile(change @ weights / counts, [tail, 1.0 - tail])
        result["interval"] = [float(bound) for bound in bounds]
    return result
