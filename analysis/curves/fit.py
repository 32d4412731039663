"""Fit a performance curve to trials."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

import analysis
from analysis.curves.bands import ClusteredTrials, make_bands, normal_quantile, refit
from analysis.curves.basis import SplineBasis, spline_basis
from analysis.curves.binning import Bin, bin_index, bin_trials
from analysis.curves.bootstrap import UNITS, Bootstrap, Scheme, Unit, spread_of
from analysis.curves.curve import OVERLAP_LEVEL, Anchor, CurveConfig, CurveFit
from analysis.curves.spline import select_smoothness
from analysis.errors import InvalidInput, TooFewResponses

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Ids = Sequence[object] | NDArray[np.generic]

#: Changes when the same trials would give another curve.
CURVE_VERSION = "curves-1"


@dataclass(frozen=True, eq=False)
class CleanTrials:
    """Trials on clean pictures: the observations at visual change 0 of a soft anchor.

    Parameters
    ----------
    correct : array-like, shape (n,)
        Outcomes in [0, 1].
    participants, images : sequence, shape (n,), optional
        Ids of participants and originals, from the same name space as the curve's.
    """

    correct: ArrayLike
    participants: Ids | None = None
    images: Ids | None = None


def fit_curve(
    visual_change: ArrayLike,
    correct: ArrayLike,
    *,
    participants: Ids | None = None,
    images: Ids | None = None,
    anchor: float | Literal["soft"] | None = None,
    n_bootstrap: int = 0,
    rng: np.random.Generator | int | None = None,
    clean: CleanTrials | None = None,
    scheme: Scheme | None = None,
    n_bins: int = 40,
    segments: int = 20,
    degree: int = 3,
    label_space: int = 16,
    level: float = 0.95,
    simultaneous_level: float = OVERLAP_LEVEL,
) -> CurveFit:
    """Fit a monotone performance curve over visual change.

    Parameters
    ----------
    visual_change : array-like, shape (n,)
        Visual change of each trial's stimulus, in [0, 1].
    correct : array-like, shape (n,)
        Outcome of each trial: right or wrong, or a share in [0, 1].
    participants, images : sequence, shape (n,), optional
        Ids of participants and of originals; what is given is resampled.
    anchor : None, float or "soft"
        None leaves s(0) free; a number fixes it; "soft" adds clean trials as observations at visual change 0: those
        in ``clean``, or else the trials whose visual change is exactly 0.
    n_bootstrap : int
        Refits per resampled unit; 0 for no intervals and bands.
    rng : numpy Generator, int or None
        Source of the bootstrap. Curves fitted with one integer (None counts as 0) are resampled jointly: the same
        original or participant is drawn equally often in all of them.
    clean : CleanTrials, optional
    scheme : {"two-way", "image", "participant", "naive"}, optional
        What is resampled; by default everything that has ids (both: two-way; none: naive).
    n_bins, segments, degree, label_space, level, simultaneous_level
        See `CurveConfig`.

    Returns
    -------
    CurveFit

    Raises
    ------
    InvalidInput
        If an array has another length, a value is out of range, or the arguments contradict each other.
    TooFewResponses
        If fewer than two different visual changes (a soft anchor counts as one) hold trials.

    Notes
    -----
    Binomial monotone P-spline on bin means, smoothness by AIC. Differs from VCR 3.2, which fits a least-squares spline
    to bin rates and takes a running minimum.
    """
    if scheme is None:
        scheme = _default_scheme(participants is not None, images is not None)
    config = CurveConfig(
        n_bins=n_bins,
        segments=segments,
        degree=degree,
        label_space=label_space,
        level=level,
        simultaneous_level=simultaneous_level,
        n_bootstrap=n_bootstrap,
        scheme=scheme if n_bootstrap else None,
    )
    table = _TrialArrays.read(visual_change, correct, participants, images, "trial")
    main, anchors, held = _with_anchor(table, anchor, clean)
    start_value = held.value if held.kind == "fixed" else None

    image_codes = _codes(main.images)
    bins = bin_trials(main.visual_change, main.correct, images=image_codes, n_bins=n_bins)
    basis = spline_basis(segments, degree)
    abscissae, totals, counts, cell = _cells(main, anchors, bins, n_bins)
    if len(abscissae) < 2:
        raise TooFewResponses(
            f"All {len(main.correct)} trials fall into one bin of visual change; a curve needs at least two."
        )
    design = basis.step_design(abscissae)
    chosen = select_smoothness(basis, design, totals, counts, start_value=start_value)
    coefficients = np.minimum.accumulate(np.clip(chosen.coefficients, 0.0, 1.0))
    coefficients.setflags(write=False)
    area = float(np.clip(basis.integrals @ coefficients, 0.0, 1.0))
    measured = _measured(bins, n_bins, anchored=held.kind != "none")
    digests = (anchors.digest() if anchors is not None else "", main.digest())

    bootstrap = bands = error = interval = None
    if n_bootstrap:
        key = _key(rng)
        clustered = _clustered(main, anchors, cell, digests)
        draws = refit(
            basis,
            design,
            clustered,
            UNITS[scheme],
            key=key,
            n_replicates=n_bootstrap,
            smoothness=chosen.smoothness,
            start_value=start_value,
            start=chosen.fitted,
        )
        bootstrap = Bootstrap(scheme, key, draws)
        bands = make_bands(basis, coefficients, bootstrap, level=level, simultaneous_level=simultaneous_level)
        areas: dict[Unit, FloatArray] = {
            unit: array.astype(np.float64) @ basis.integrals for unit, array in draws.items()
        }
        error = float(spread_of(np.asarray(area), areas).standard_error)
        reach = normal_quantile(level) * error
        interval = (max(area - reach, 0.0), min(area + reach, 1.0))

    return CurveFit(
        config=config,
        anchor=held,
        coefficients=coefficients,
        bins=bins,
        smoothness=chosen.smoothness,
        effective_parameters=chosen.effective_parameters,
        dispersion=chosen.dispersion,
        deviance=chosen.deviance,
        n_trials=len(main.correct),
        n_originals=None if main.images is None else len(np.unique(main.images)),
        n_participants=None if main.participants is None else len(np.unique(main.participants)),
        area=area,
        area_standard_error=error,
        area_interval=interval,
        measured=measured,
        extrapolated=1.0 - (measured[1] - measured[0]),
        area_bounds=_area_bounds(basis, coefficients, measured, area),
        bands=bands,
        bootstrap=bootstrap,
        data_digest=hashlib.sha256(":".join((held.kind, repr(start_value), *digests)).encode()).hexdigest(),
        code_version=f"{analysis.__version__}+{CURVE_VERSION}",
    )


@dataclass(frozen=True, eq=False)
class _TrialArrays:
    """Checked columns of trials, in an order that does not depend on the order in which they came."""

    visual_change: FloatArray
    correct: FloatArray
    participants: NDArray[np.str_] | None
    images: NDArray[np.str_] | None

    @classmethod
    def read(
        cls, visual_change: ArrayLike, correct: ArrayLike, participants: Ids | None, images: Ids | None, what: str
    ) -> _TrialArrays:
        outcome = np.asarray(correct, dtype=np.float64)
        place = np.asarray(visual_change, dtype=np.float64)
        if outcome.ndim != 1 or place.shape != outcome.shape:
            raise InvalidInput(
                f"Visual change has shape {place.shape} and correct {outcome.shape}: one entry a {what}."
            )
        if not len(outcome):
            raise TooFewResponses(f"There is no {what} to fit a curve to.")
        if not np.all((outcome >= 0.0) & (outcome <= 1.0)):
            raise InvalidInput(f"Outcomes of a {what} lie in [0, 1].")
        bin_index(place)
        people, originals = _texts(participants, len(outcome), "participants"), _texts(images, len(outcome), "images")
        keys: list[NDArray[np.generic]] = [outcome, place]
        keys = [*(ids for ids in (people, originals) if ids is not None), *keys]
        order = np.lexsort(keys)
        return cls(
            place[order],
            outcome[order],
            None if people is None else people[order],
            None if originals is None else originals[order],
        )

    def select(self, rows: NDArray[np.bool_]) -> _TrialArrays:
        """Keep these rows."""
        return _TrialArrays(
            self.visual_change[rows],
            self.correct[rows],
            None if self.participants is None else self.participants[rows],
            None if self.images is None else self.images[rows],
        )

    def digest(self) -> str:
        """sha256 of the columns."""
        running = hashlib.sha256()
        for numbers in (self.visual_change, self.correct):
            running.update(np.ascontiguousarray(numbers, dtype="<f8").tobytes())
        for ids in (self.participants, self.images):
            running.update(b"\x00" if ids is None else "\x1f".join(ids.tolist()).encode() + b"\x01")
        return running.hexdigest()


def _with_anchor(
    table: _TrialArrays, anchor: float | Literal["soft"] | None, clean: CleanTrials | None
) -> tuple[_TrialArrays, _TrialArrays | None, Anchor]:
    """Split trials into those of the curve and those of its anchor."""
    if anchor != "soft" and clean is not None:
        raise InvalidInput('Clean trials are given, but the anchor is not "soft".')
    if anchor is None:
        return table, None, Anchor("none")
    if anchor != "soft":
        value = float(anchor)
        if not 0.0 < value <= 1.0:
            raise InvalidInput(f"A fixed anchor lies above 0 and at most at 1, not at {value}.")
        return table, None, Anchor("fixed", value)
    if clean is not None:
        number = np.asarray(clean.correct).shape
        anchors = _TrialArrays.read(np.zeros(number), clean.correct, clean.participants, clean.images, "clean trial")
        for name in ("participants", "images"):
            if (getattr(table, name) is None) != (getattr(anchors, name) is None):
                raise InvalidInput(f"Ids of {name} are given for only one of the trials and the clean trials.")
    else:
        rows = table.visual_change == 0.0
        if not rows.any():
            raise InvalidInput("A soft anchor needs clean trials: pass them, or trials whose visual change is 0.")
        table, anchors = table.select(~rows), table.select(rows)
        if not len(table.correct):
            raise TooFewResponses("All trials are clean; a curve needs trials on corrupted pictures.")
    total = float(anchors.correct.sum())
    return table, anchors, Anchor("soft", total / len(anchors.correct), len(anchors.correct), total)


def _cells(
    main: _TrialArrays, anchors: _TrialArrays | None, bins: tuple[Bin, ...], n_bins: int
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Abscissae, correct answers and trials of the cells, and the cell of every trial (anchor trials first)."""
    abscissae = [one.v for one in bins]
    totals = [one.correct for one in bins]
    counts = [float(one.n) for one in bins]
    rank = np.zeros(n_bins, dtype=np.int64)
    rank[[one.index for one in bins]] = np.arange(len(bins))
    cell = rank[bin_index(main.visual_change, n_bins)]
    if anchors is not None:
        abscissae.insert(0, 0.0)
        totals.insert(0, float(anchors.correct.sum()))
        counts.insert(0, float(len(anchors.correct)))
        cell = np.concatenate([np.zeros(len(anchors.correct), dtype=np.int64), cell + 1])
    return np.array(abscissae), np.array(totals), np.array(counts), cell


def _clustered(
    main: _TrialArrays, anchors: _TrialArrays | None, cell: IntArray, digests: tuple[str, str]
) -> ClusteredTrials:
    """Put trials of the anchor and of the curve under common cluster codes."""
    parts = [main] if anchors is None else [anchors, main]
    clusters: dict[Unit, tuple[IntArray, list[str]]] = {}
    for unit, name in (("image", "images"), ("participant", "participants")):
        columns = [getattr(part, name) for part in parts]
        if columns[0] is None:
            continue
        names, codes = np.unique(np.concatenate(columns), return_inverse=True)
        clusters["image" if unit == "image" else "participant"] = (codes.astype(np.int64), names.tolist())
    strata = np.concatenate([np.full(len(part.correct), part is main, dtype=np.int64) for part in parts])
    return ClusteredTrials(cell, np.concatenate([part.correct for part in parts]), clusters, strata, digests)


def _measured(bins: tuple[Bin, ...], n_bins: int, *, anchored: bool) -> tuple[float, float]:
    """Range from the first to the last occupied bin; an anchor measures 0."""
    return (0.0 if anchored else bins[0].index / n_bins), (bins[-1].index + 1) / n_bins


def _area_bounds(
    basis: SplineBasis, coefficients: FloatArray, measured: tuple[float, float], area: float
) -> tuple[float, float]:
    """Smallest and largest area when the curve is free, but monotone, outside the measured range."""
    lower, upper = measured
    first, last = np.clip(basis.design(np.array([lower, upper])) @ coefficients, 0.0, 1.0)
    inside = float(basis.integral_design(lower, upper) @ coefficients)
    smallest, largest = inside + lower * float(first), inside + lower + (1.0 - upper) * float(last)
    return min(max(smallest, 0.0), area), max(min(largest, 1.0), area)


def _default_scheme(has_participants: bool, has_images: bool) -> Scheme:
    if has_participants and has_images:
        return "two-way"
    if has_images:
        return "image"
    return "participant" if has_participants else "naive"


def _key(rng: np.random.Generator | int | None) -> int:
    """64-bit key of a bootstrap; the same integer gives the same key everywhere."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(0, 1 << 63))
    seed = 0 if rng is None else int(rng)
    if seed < 0:
        raise InvalidInput(f"A seed is not negative, but {seed} was given.")
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _texts(ids: Ids | None, length: int, name: str) -> NDArray[np.str_] | None:
    """Ids as text, one a trial."""
    if ids is None:
        return None
    array = np.asarray(ids)
    if array.shape != (length,):
        raise InvalidInput(f"There are {length} trials but {name} has shape {array.shape}.")
    if array.dtype == object or array.dtype.kind == "f":
        missing = [position for position, one in enumerate(array.tolist()) if one is None or one != one]
        if missing:
            raise InvalidInput(f"Entry {missing[0]} of {name} is empty; every trial needs an id.")
    return array.astype(np.str_)


def _codes(names: NDArray[np.str_] | None) -> IntArray | None:
    return None if names is None else np.unique(names, return_inverse=True)[1].astype(np.int64)
