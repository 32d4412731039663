"""Fit a performance curve to trials, or many in any executor."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from analysis import __version__
from analysis.arrays import FloatArray, IntArray
from analysis.compute import SerialExecutor
from analysis.curves.bands import Bands, WholeBand, band_grid, make_bands, whole_band
from analysis.curves.binning import Bin, bin_trials
from analysis.curves.bootstrap import UNITS, Bootstrap, ClusteredTrials, Scheme, refit
from analysis.curves.config import Anchor, CurveConfig, CurveSettings, Sample, read_sample
from analysis.curves.curve import CurveFit
from analysis.curves.extrapolation import Extent, extent_of, extrapolated_share, gaps_of_any
from analysis.curves.methods import DEFAULT_METHOD, curve_method
from analysis.curves.methods.base import AnchorUse, Cells, ChosenFit, CurveMethod
from analysis.curves.resampling_cells import (
    SchemeChoice,
    answered_cells,
    choose_scheme,
    clustered_trials,
    counted_trials,
    occupied_cells,
    scheme_by_hand,
)
from analysis.curves.spline import SplineBasis
from analysis.curves.trials import CleanTrials, Ids, TrialColumns
from analysis.curves.uncertainty import identified_interval, spread_of_functions
from analysis.curves.weighting import WeightedMean
from analysis.errors import InvalidInput, TooFewResponses

#: Changes when the same trials would give another curve.
CURVE_VERSION = "curves-4"


def fit_curve(
    visual_change: ArrayLike,
    correct: ArrayLike,
    settings: CurveSettings | None = None,
    *,
    participants: Ids | None = None,
    images: Ids | None = None,
    weights: ArrayLike | None = None,
    categories: Ids | None = None,
    clean: CleanTrials | None = None,
    noise: CleanTrials | None = None,
    **options: Any,
) -> CurveFit:
    """Fit a monotone performance curve over visual change.

    Parameters
    ----------
    visual_change : array-like, shape (n,)
        Visual change of each trial's stimulus, in [0, 1] (or any other abscissa along which performance falls, brought
        to [0, 1] by `scale_abscissa`).
    correct : array-like, shape (n,)
        Outcome of each trial: right or wrong, or a share in [0, 1].
    settings : CurveSettings, optional
    participants, images : sequence, shape (n,), optional
        Ids of participants and of originals; what is given is resampled.
    weights : array-like, shape (n,), optional
        How much each answer counts, above 0: the curve is then that of weighted means. Smoothness is chosen by the
        number of equal answers that they are worth.
    categories : sequence, shape (n,), optional
        Category of each trial: the curve is then the mean in which categories count equally
        (`analysis.curves.categories`), and where one of them lacks answers the interval of the area includes whatever
        its fall leaves open.
    clean, noise : CleanTrials, optional
        Trials at visual change 0 and on pure noise, for soft anchors.
    **options
        Settings by their names, in place of those of ``settings``.

    Returns
    -------
    CurveFit

    Raises
    ------
    InvalidInput
        If an array has another length, a value is out of range, or the arguments contradict each other.
    UnknownName
        If there is no such method.
    TooFewResponses
        If fewer than two different visual changes (a soft anchor counts as one) hold trials.

    Notes
    -----
    By default a binomial monotone P-spline on bin means, smoothness by AIC. Differs from VCR 3.2, which fits a quantile
    spline to bin rates (``method="paper"``); the authors' program (``"paper-code"``) fits yet another one.
    """
    settings = replace(settings or CurveSettings(), **options)
    method = curve_method(settings.method)
    basis = method.basis(settings.segments, settings.degree)
    table = TrialColumns.read(visual_change, correct, participants, images, "trial", weights, categories)
    choice = choose_scheme(table) if settings.scheme is None else scheme_by_hand(settings.scheme, table)
    config = CurveConfig(
        n_bins=method.n_bins if settings.n_bins is None else settings.n_bins,
        segments=basis.segments,
        degree=basis.degree,
        label_space=settings.label_space,
        own_chance=settings.own_chance,
        level=settings.level,
        simultaneous_level=settings.simultaneous_level,
        n_bootstrap=settings.n_bootstrap,
        scheme=choice.scheme if settings.n_bootstrap else None,
        method=settings.method,
        bin_rule=method.bin_rule,
        smallest_bin=method.smallest_bin if settings.smallest_bin is None else settings.smallest_bin,
        change_weights=settings.change_weights,
    )
    if method.anchors == "none" and (settings.anchor is not None or settings.right_anchor is not None):
        raise InvalidInput(f"The method {settings.method} holds its curve at no end: leave the anchors out.")
    sample = read_sample(table, settings, clean=clean, noise=noise)
    return _described(_draw(method, basis, sample, config), choice, settings.rng)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A curve through the bins of a sample, before anything is said of its errors."""

    method: CurveMethod
    basis: SplineBasis
    sample: Sample
    config: CurveConfig
    bins: tuple[Bin, ...]
    cells: Cells
    #: Cell of every trial, as of `occupied_cells`.
    cell_of: IntArray
    chosen: ChosenFit
    coefficients: FloatArray


def _draw(method: CurveMethod, basis: SplineBasis, sample: Sample, config: CurveConfig) -> _Drawn:
    main = sample.main
    bins = bin_trials(
        main.visual_change,
        main.correct,
        images=None if main.images is None else np.unique(main.images, return_inverse=True)[1].astype(np.int64),
        weights=main.weights,
        n_bins=config.n_bins,
        rule=config.bin_rule,
        smallest=config.smallest_bin,
    )
    if not bins:
        raise TooFewResponses(
            f"No bin holds the {config.smallest_bin} trials that the method {config.method} asks for."
        )
    cells, cell_of = occupied_cells(sample, bins, config)
    if len(cells.v) < 2:
        raise TooFewResponses(
            f"All {len(main.correct)} trials fall into one bin of visual change; a curve needs at least two."
        )
    chosen = method.fit(basis, cells)
    coefficients = np.minimum.accumulate(chosen.coefficients)
    coefficients.setflags(write=False)
    return _Drawn(method, basis, sample, config, bins, cells, cell_of, chosen, coefficients)


def _described(drawn: _Drawn, choice: SchemeChoice, rng: np.random.Generator | int | None) -> CurveFit:
    """The curve with where it was measured, and with its errors where refits are asked for."""
    sample, config, chosen = drawn.sample, drawn.config, drawn.chosen
    main = sample.main
    n_trials = sum(one.n for one in drawn.bins)
    area = float(np.clip(drawn.basis.integrals @ drawn.coefficients, 0.0, 1.0))
    extent = extent_of(drawn.basis, sample, counted_trials(sample, drawn.cell_of), config)
    bounds = extent.whole.bounds(drawn.coefficients)
    errors = _errors(drawn, extent, area, choice.scheme, _key(rng)) if config.n_bootstrap else _Errors()
    return CurveFit(
        config=config,
        anchor=_held(sample.left, drawn.method.anchors),
        coefficients=drawn.coefficients,
        bins=drawn.bins,
        smoothness=chosen.smoothness,
        effective_parameters=chosen.effective_parameters,
        dispersion=chosen.dispersion,
        deviance=chosen.deviance,
        n_trials=n_trials,
        n_originals=None if main.images is None else len(np.unique(main.images)),
        n_participants=None if main.participants is None else len(np.unique(main.participants)),
        area=area,
        area_standard_error=errors.area,
        area_interval=errors.area_interval,
        measured=extent.measured,
        measured_interval=errors.measured_interval,
        gaps=extent.gaps,
        category_gaps=extent.category_gaps,
        extrapolated=extrapolated_share(extent.gaps, extent.measured),
        area_bounds=(min(float(bounds[0]), area), max(float(bounds[1]), area)),
        bands=errors.bands,
        bootstrap=errors.bootstrap,
        data_digest=_digest(sample),
        code_version=f"{__version__}+{CURVE_VERSION}",
        right_anchor=_held(sample.right, drawn.method.anchors),
        n_dropped=len(main.correct) - n_trials,
        scheme_reason=choice.reason if config.n_bootstrap else "",
        weighted=_weighted(drawn, extent, errors),
    )


def _weighted(drawn: _Drawn, extent: Extent, errors: _Errors) -> WeightedMean | None:
    """The mean under the weights over visual change, where there are some."""
    weights = drawn.config.change_weights
    if extent.weighted is None or weights is None:
        return None
    value = float(np.clip(extent.weighted.design[0] @ drawn.coefficients, 0.0, 1.0))
    low, high = extent.weighted.bounds(drawn.coefficients)
    inner = [(start, end) for start, end in extent.gaps if extent.measured[0] <= start and end <= extent.measured[1]]
    return WeightedMean(
        value=value,
        interval=errors.weighted_interval,
        bounds=(min(float(low), value), max(float(high), value)),
        extrapolated=1.0 - weights.mass(*extent.measured) + sum(weights.mass(*gap) for gap in inner),
    )


@dataclass(frozen=True, eq=False)
class _Errors:
    """How sure a curve is: nothing is known of it without refits."""

    bootstrap: Bootstrap | None = None
    bands: Bands | None = None
    area: float | None = None
    area_interval: tuple[float, float] | None = None
    measured_interval: tuple[float, float] | None = None
    weighted_interval: tuple[float, float] | None = None


def _errors(drawn: _Drawn, extent: Extent, area: float, scheme: Scheme, key: int) -> _Errors:
    basis, cells, chosen, config = drawn.basis, drawn.cells, drawn.chosen, drawn.config
    clustered = clustered_trials(drawn.sample, drawn.cell_of)
    draws = refit(
        drawn.method, basis, cells, chosen, clustered, UNITS[scheme], key=key, n_replicates=config.n_bootstrap
    )
    bootstrap = Bootstrap(scheme, key, draws)
    bands = make_bands(
        basis,
        drawn.coefficients,
        bootstrap,
        _around(drawn, clustered, extent, scheme, key),
        level=config.level,
        simultaneous_level=config.simultaneous_level,
    )
    beside = extent.influence
    spread = spread_of_functions(
        np.vstack([mean.design for mean in extent.means]),
        drawn.method,
        basis,
        cells,
        chosen,
        clustered,
        scheme,
        None if beside is None else beside[drawn.cell_of >= 0],
    )
    estimates = [area, *(float(np.clip(one.design[0] @ drawn.coefficients, 0.0, 1.0)) for one in extent.means[1:])]
    intervals = []
    for place, (mean, estimate) in enumerate(zip(extent.means, estimates, strict=True)):
        columns = [3 * place + 1, 3 * place + 2]
        low, high = identified_interval(mean.bounds(drawn.coefficients), spread.part(columns), config.level)
        if extent.category_gaps:
            # Where categories are missing the curve is that of the others, which may be easier or harder than all.
            low, high = min(low, estimate), max(high, estimate)
        intervals.append((low, high))
    return _Errors(bootstrap, bands, float(spread.standard_error[0]), *intervals)


def _around(drawn: _Drawn, trials: ClusteredTrials, extent: Extent, scheme: Scheme, key: int) -> WholeBand:
    """The band of the whole curve, around the default method's fit: others are not smooth in the answers."""
    basis, smooth = drawn.basis, drawn.chosen
    cells, answers = answered_cells(drawn.cells, trials)
    if drawn.config.method != DEFAULT_METHOD:
        basis = curve_method(DEFAULT_METHOD).basis(None, None)
        smooth = curve_method(DEFAULT_METHOD).fit(basis, cells)
    return whole_band(
        basis,
        cells,
        smooth,
        answers,
        scheme,
        v=band_grid(),
        estimate=np.clip(drawn.basis.design(band_grid()) @ drawn.coefficients, 0.0, 1.0),
        gaps=gaps_of_any(extent.gaps, extent.category_gaps),
        level=drawn.config.simultaneous_level,
        key=key,
    )


def _held(anchor: Anchor, use: AnchorUse) -> Anchor:
    """The anchor as the method used it: held at the rate of its trials, or drawn towards it."""
    return replace(anchor, kind="fixed") if use == "hard" and anchor.kind == "soft" else anchor


def _digest(sample: Sample) -> str:
    """sha256 over trials and anchors."""
    held = [sample.left.kind, repr(sample.left.value if sample.left.kind == "fixed" else None)]
    right = [] if sample.right.kind == "none" else [sample.right.kind, repr(sample.right.value)]
    return hashlib.sha256(":".join([*held, *sample.digests, *right]).encode()).hexdigest()


def _key(rng: np.random.Generator | int | None) -> int:
    """64-bit key of a bootstrap; the same integer gives the same key everywhere."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(0, 1 << 63))
    seed = 0 if rng is None else int(rng)
    if seed < 0:
        raise InvalidInput(f"A seed is not negative, but {seed} was given.")
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> np.uint64(1))


def fit_curves(
    samples: Mapping[str, Mapping[str, Any]], *, executor: Executor | None = None, **options: Any
) -> dict[str, CurveFit]:
    """Fit one curve a sample.

    Parameters
    ----------
    samples : mapping of name to keyword arguments of `fit_curve`
        At least ``visual_change`` and ``correct``.
    executor : Executor, optional
        Where they are fitted (`analysis.compute.executor`); here, without one. The curves are the same: resampling
        follows from an integer ``rng`` and the names of clusters alone.
    **options
        Keyword arguments of `fit_curve` for all samples.

    Returns
    -------
    dict of name to CurveFit
        In the order of ``samples``.

    Raises
    ------
    FitError, InvalidInput
        Of the first sample that cannot be fitted.
    """
    pool = SerialExecutor() if executor is None else executor
    futures = {name: pool.submit(fit_curve, **{**options, **sample}) for name, sample in samples.items()}
    return {name: future.result() for name, future in futures.items()}
