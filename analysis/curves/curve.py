"""`CurveFit`: a performance curve as a value, with everything needed to read it, compare it and make it again.

The visual change at which performance has fallen to a given rate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import FloatArray
from analysis.curves.bands import Bands, band_grid
from analysis.curves.binning import Bin, Binning
from analysis.curves.bootstrap import Bootstrap, Spread, Unit, spread_of
from analysis.curves.categories import CategoryGap
from analysis.curves.config import Anchor, CurveConfig
from analysis.curves.spline import SplineBasis, spline_basis
from analysis.curves.weighting import WeightedMean
from analysis.errors import InvalidInput
from analysis.figures.performance import CurveBand, PlottedCurve, curve_figure
from analysis.figures.value import PEOPLE, SOME_CLASSIFIER, Figure, Observer
from analysis.wording import counted, plot_figure, screen, with_interval

if TYPE_CHECKING:
    import matplotlib
    import pandas as pd


#: A headline is withheld where more than this share of the axis lies beyond the answers.
WITHHOLD_ABOVE = 0.20
#: Places between which a threshold is interpolated.
_THRESHOLD_POINTS = 1001
#: Fields that hold a pair of numbers, or nothing.
_PAIRS = ("area_interval", "measured", "measured_interval", "area_bounds")


@dataclass(frozen=True, eq=False)
class CurveFit:
    """A monotone performance curve over visual change.

    Parameters
    ----------
    config : CurveConfig
    anchor : Anchor
    coefficients : ndarray, shape (K,)
        B-spline coefficients, non-increasing, in [0, 1].
    bins : tuple of Bin
        The occupied bins; clean trials of a soft anchor stand in ``anchor``.
    smoothness, effective_parameters, dispersion, deviance : float
        Penalty weight, trace of the smoother, over-dispersion and deviance of the chosen fit.
    n_trials : int
        Trials in the bins (without clean trials of the anchor).
    n_originals, n_participants : int or None
        Different originals and participants among them; None where no ids were given.
    area : float
        Area under the curve over [0, 1] (R-hat of VCR section 3.2, exact in the coefficients).
    area_standard_error : float or None
        Clustered by what ``config.scheme`` resamples, with the correction for few clusters.
    area_interval : tuple of float or None
        t interval at ``config.level`` around ``area_bounds``, within [0, 1]: it covers the area wherever between them
        it lies.
    measured : tuple of float
        From the start of the first occupied bin (0 with an anchor) to the end of the last, less gaps at the ends.
    measured_interval : tuple of float or None
        The same interval of the mean height on ``measured``.
    gaps : tuple of (float, float)
        Stretches of more than 0.05 with fewer than 5 answers, cut at the edges of bins.
    extrapolated : float
        Share of [0, 1] outside ``measured`` or in a gap.
    area_bounds : tuple of float
        Smallest and largest area that monotone curves could have which agree with this one outside the gaps.
    bands : Bands or None
    bootstrap : Bootstrap or None
        The refits, for joint intervals of quantities of several curves.
    data_digest : str
        sha256 of the trials; independent of their order.
    code_version : str
    right_anchor : Anchor
        What holds the curve at visual change 1.
    n_dropped : int
        Trials in no bin that counts (only of methods with a minimum a bin, or bins that leave out their edges).
    category_gaps : tuple of CategoryGap
        Where a category that counts has no answers, though others have enough; outside ``gaps``.
    scheme_reason : str
        Why the bands resample what they do; empty without bands.
    weighted : WeightedMean or None
        Under ``config.change_weights``, where there are some.
    """

    config: CurveConfig
    anchor: Anchor
    coefficients: FloatArray
    bins: tuple[Bin, ...]
    smoothness: float
    effective_parameters: float
    dispersion: float
    deviance: float
    n_trials: int
    n_originals: int | None
    n_participants: int | None
    area: float
    area_standard_error: float | None
    area_interval: tuple[float, float] | None
    measured: tuple[float, float]
    measured_interval: tuple[float, float] | None
    gaps: tuple[tuple[float, float], ...]
    extrapolated: float
    area_bounds: tuple[float, float]
    bands: Bands | None
    bootstrap: Bootstrap | None
    data_digest: str
    code_version: str
    right_anchor: Anchor = Anchor("none")
    n_dropped: int = 0
    scheme_reason: str = ""
    category_gaps: tuple[CategoryGap, ...] = ()
    weighted: WeightedMean | None = None

    @property
    def is_withheld(self) -> bool:
        """Whether over a fifth of the axis is beyond the answers: the headline is then the mean on the measured range.

        Gaps between answers do not count here: they lie within that range, too, and widen both intervals.
        """
        return 1.0 - (self.measured[1] - self.measured[0]) > WITHHOLD_ABOVE

    @property
    def empty_bins(self) -> tuple[int, ...]:
        """Bins within the measured range in which no answer counts."""
        binning = Binning(self.config.n_bins, self.config.bin_rule)
        occupied = {one.index for one in self.bins}
        lower, upper = self.measured
        edges = {number: binning.edges(number) for number in range(self.config.n_bins)}
        return tuple(
            number
            for number, (left, right) in edges.items()
            if number not in occupied and left < right and left >= lower - 1e-12 and right <= upper + 1e-12
        )

    @property
    def basis(self) -> SplineBasis:
        """The B-spline basis of the coefficients."""
        return spline_basis(self.config.segments, self.config.degree)

    def predict(self, visual_change: ArrayLike) -> FloatArray:
        """Curve at visual changes, any shape; never rises, stays in [0, 1].

        Raises
        ------
        InvalidInput
            If a visual change is no number in [0, 1].
        """
        points = np.asarray(visual_change, dtype=np.float64)
        if not np.all((points >= 0.0) & (points <= 1.0)):
            raise InvalidInput("A curve is known for visual changes in [0, 1] only.")
        values = self.basis.design(points.ravel()) @ self.coefficients
        return np.clip(values, 0.0, 1.0).reshape(points.shape)

    def mean_between(self, lower: float, upper: float) -> float:
        """Mean height of the curve between two visual changes (exact).

        Raises
        ------
        InvalidInput
            If the range is empty or leaves [0, 1].
        """
        if not 0.0 <= lower < upper <= 1.0:
            raise InvalidInput(f"[{lower}, {upper}] is no range within [0, 1].")
        return float(self.basis.integral_design(lower, upper) @ self.coefficients / (upper - lower))

    def spread(self, design: FloatArray) -> Spread | None:
        """Bootstrap spread of linear functions of the curve, ``design @ coefficients``; None without refits."""
        if self.bootstrap is None:
            return None
        replicates: dict[Unit, FloatArray] = {
            unit: draws.astype(np.float64) @ design.T for unit, draws in self.bootstrap.draws.items()
        }
        return spread_of(design @ self.coefficients, replicates)

    def common_range(self, other: CurveFit) -> tuple[float, float] | None:
        """The range of visual change that both curves measured; None when there is none."""
        lower, upper = max(self.measured[0], other.measured[0]), min(self.measured[1], other.measured[1])
        return (lower, upper) if lower < upper else None

    def __repr__(self) -> str:
        """What it is of, and its area."""
        return f"<CurveFit: {self.n_trials:,} answers, area {with_interval(self.area, self.area_interval)}>"

    def summary(self) -> str:
        """One screen of text: area, range, thresholds, what it rests on and how it was made."""
        low, high = self.measured
        least, most = self.area_bounds
        level = f", {100 * self.config.level:g} % interval" if self.area_interval else ""
        withheld = "; withheld as a headline: too much is extrapolated" if self.is_withheld else ""
        people = counted(self.n_participants, "participant") if self.n_participants else ""
        originals = counted(self.n_originals, "original") if self.n_originals else ""
        found = {rate: threshold(self, rate).v for rate in (0.75, 0.5)}
        reached = (f"{100 * rate:.0f} %: " + ("never" if v is None else f"{v:.2f}") for rate, v in found.items())
        held = {"fixed": "fixed", "soft": f"{self.anchor.n:,} clean answers"}.get(self.anchor.kind, "")
        refits = f"{self.config.n_bootstrap} refits, resampled {self.config.scheme}: {self.scheme_reason}"
        return screen(
            f"Performance curve ({self.config.method}), {self.config.label_space} labels",
            (
                ("area", with_interval(self.area, self.area_interval) + level + withheld),
                ("measured", f"Δv {low:.2f} to {high:.2f}; {100 * self.extrapolated:.0f} % extrapolated"),
                ("gaps", ", ".join(f"{start:.2f} to {end:.2f}" for start, end in self.gaps)),
                ("area's bounds", f"{least:.3f} to {most:.3f}, whatever lies in the gaps" if self.gaps else ""),
                ("mean where measured", f"{self.mean_between(low, high):.3f}"),
                ("Δv at rate", ", ".join(reached)),
                ("answers", ", ".join(part for part in (f"{self.n_trials:,}", people, originals) if part)),
                (
                    "bins",
                    f"{len(self.bins)} of {self.config.n_bins} occupied, {len(self.empty_bins)} empty between them",
                ),
                ("held at 0", "" if self.anchor.value is None else f"{self.anchor.value:.3f} ({held})"),
                ("bands", refits if self.bootstrap is not None else "none: fitted without n_bootstrap"),
                ("data", f"{self.data_digest[:12]}, {self.code_version}"),
            ),
        )

    def to_frame(self, what: Literal["curve", "bins"] = "curve") -> pd.DataFrame:
        """The curve on a grid of visual change, or its bins, as a table.

        Parameters
        ----------
        what : {"curve", "bins"}

        Returns
        -------
        DataFrame
            "curve": one row a visual change, 201 of them, with ``v``, ``estimate`` and, NaN without refits,
            ``standard_error``, ``lower``, ``upper``, ``simultaneous_lower``, ``simultaneous_upper``. "bins": one row an
            occupied bin, with ``index``, ``v``, ``n``, ``rate``, ``correct``, ``originals``.

        Raises
        ------
        InvalidInput
            If something else is asked for.
        """
        import pandas as pd

        if what == "bins":
            return pd.DataFrame([one.to_dict() for one in self.bins])
        if what != "curve":
            raise InvalidInput(f"A curve has a table 'curve' and a table 'bins', not {what!r}.")
        v = band_grid()
        known: Mapping[str, Any] = {} if self.bands is None else self.bands.to_dict()
        columns = ("standard_error", "lower", "upper", "simultaneous_lower", "simultaneous_upper")
        frame = {"v": v, "estimate": self.predict(v), **{name: known.get(name, np.nan) for name in columns}}
        return pd.DataFrame(frame)

    def plot(
        self,
        ax: matplotlib.axes.Axes | None = None,
        *,
        observer: Observer | None = None,
        measure: str = "accuracy",
    ) -> matplotlib.axes.Axes:
        """Draw the curve with its pointwise band, and people's bins with exact binomial intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Made where none are given; several curves may stand on the same.
        observer : analysis.figures.value.Observer, optional
            Name and look; by default people where participants are known, else a classifier.
        measure : str
            Name of the ordinate; of "accuracy" the chance level is drawn, too.

        Returns
        -------
        matplotlib Axes
        """
        default = PEOPLE if self.n_participants else SOME_CLASSIFIER
        return plot_figure(self.figure(observer or default, measure=measure), ax)

    def figure(self, observer: Observer = PEOPLE, *, measure: str = "accuracy") -> Figure:
        """The curve with its bands as a figure; chance level where the measure is accuracy."""
        v, bands = band_grid(), self.bands
        drawn = (
            ()
            if bands is None
            else (
                CurveBand("pointwise", bands.level, tuple(bands.lower), tuple(bands.upper)),
                CurveBand(
                    "simultaneous",
                    bands.simultaneous_level,
                    tuple(bands.simultaneous_lower),
                    tuple(bands.simultaneous_upper),
                ),
            )
        )
        curve = PlottedCurve(
            observer=observer,
            v=tuple(map(float, v)),
            estimate=tuple(map(float, self.predict(v))),
            bands=drawn,
            bins=tuple((one.v, one.n, one.rate) for one in self.bins),
            gaps=self.gaps,
            area=self.area,
        )
        return curve_figure(
            [curve],
            title=f"{observer.name}: {measure}",
            measure=measure,
            chance=self.config.chance if measure == "accuracy" else None,
            bin_width=1 / self.config.n_bins,
        )

    def to_dict(self, *, draws: bool = True) -> dict[str, Any]:
        """Plain values from which `from_dict` makes an equal curve.

        Parameters
        ----------
        draws : bool
            False leaves the bootstrap refits out (bands and intervals stay, joint intervals become impossible).
        """
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        values |= {name: asdict(values[name]) for name in ("config", "anchor", "right_anchor")}
        values |= {name: list(values[name]) for name in _PAIRS if values[name] is not None}
        values |= {
            "coefficients": self.coefficients.tolist(),
            "bins": [one.to_dict() for one in self.bins],
            "gaps": [list(gap) for gap in self.gaps],
            "bands": self.bands and self.bands.to_dict(),
            "bootstrap": self.bootstrap.to_dict() if self.bootstrap is not None and draws else None,
            "category_gaps": [asdict(one) for one in self.category_gaps],
        }
        for name, part in (("category_gaps", values), ("weighted", values), ("change_weights", values["config"])):
            if not part[name]:
                del part[name]
        if self.weighted is not None:
            values["weighted"] = self.weighted.to_dict()
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CurveFit:
        """Undo `to_dict`."""
        coefficients = np.asarray(values["coefficients"], dtype=np.float64)
        coefficients.setflags(write=False)
        pairs = {name: tuple(values[name]) for name in _PAIRS if values[name] is not None}
        made: dict[str, Any] = {
            "config": CurveConfig.from_dict(values["config"]),
            "anchor": Anchor(**values["anchor"]),
            "right_anchor": Anchor(**values["right_anchor"]),
            "coefficients": coefficients,
            "bins": tuple(Bin.from_dict(one) for one in values["bins"]),
            "gaps": tuple((start, end) for start, end in values["gaps"]),
            "bands": None if values["bands"] is None else Bands.from_dict(values["bands"]),
            "bootstrap": None if values["bootstrap"] is None else Bootstrap.from_dict(values["bootstrap"]),
            "category_gaps": tuple(CategoryGap(**one) for one in values.get("category_gaps", ())),
            "weighted": WeightedMean.from_dict(values["weighted"]) if "weighted" in values else None,
        }
        plain = {one.name: values[one.name] for one in fields(cls) if one.name in values}
        return cls(**{**plain, **pairs, **made})

    def __eq__(self, other: object) -> bool:
        """Equal in every stored value."""
        return isinstance(other, CurveFit) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        """Follow equality."""
        return hash(json.dumps(self.to_dict(draws=False), sort_keys=True))


def threshold(curve: CurveFit, rate: float) -> Threshold:
    """Find the smallest visual change at which the curve is at or below a rate.

    Parameters
    ----------
    curve : CurveFit
    rate : float
        In (0, 1), for instance 0.75 or 0.5.

    Returns
    -------
    Threshold

    Raises
    ------
    InvalidInput
        If the rate is not strictly between 0 and 1.
    """
    if not 0.0 < rate < 1.0:
        raise InvalidInput(f"A threshold rate lies strictly between 0 and 1, not at {rate}.")
    grid = np.linspace(0.0, 1.0, _THRESHOLD_POINTS)
    design = curve.basis.design(grid)
    estimate = first_crossing(grid, (design @ curve.coefficients)[None, :], rate)
    place = float(estimate[0])
    if not np.isfinite(place):
        return Threshold(rate, None, None, extrapolated=True)
    interval: tuple[float, float | None] | None = None
    if curve.bootstrap is not None:
        replicates: dict[Unit, FloatArray] = {
            # A refit that never falls so low is counted at the end of the range.
            unit: np.nan_to_num(first_crossing(grid, draws.astype(np.float64) @ design.T, rate), nan=1.0)
            for unit, draws in curve.bootstrap.draws.items()
        }
        lower, upper = spread_of(estimate[0], replicates).percentile_interval(curve.config.level)
        interval = (max(float(lower), 0.0), float(upper) if upper < 1.0 else None)
    outside = not curve.measured[0] <= place <= curve.measured[1]
    return Threshold(rate, place, interval, extrapolated=outside)


@dataclass(frozen=True)
class Threshold:
    """Where a curve crosses a rate.

    Parameters
    ----------
    rate : float
    v : float or None
        Visual change; None when the curve stays above the rate up to 1.
    interval : tuple or None
        Percentile interval; its upper end is None when it reaches 1. None without refits, or without ``v``.
    extrapolated : bool
        True when ``v`` lies outside the measured range.
    """

    rate: float
    v: float | None
    interval: tuple[float, float | None] | None
    extrapolated: bool


def first_crossing(grid: FloatArray, heights: FloatArray, rate: float) -> FloatArray:
    """First crossing of each row by linear interpolation, NaN where there is none, shape (n,)."""
    below = heights <= rate
    first = np.argmax(below, axis=1)
    rows = np.arange(len(heights))
    before = np.maximum(first - 1, 0)
    drop = heights[rows, before] - heights[rows, first]
    share = np.divide(heights[rows, before] - rate, drop, out=np.ones_like(drop), where=drop > 0.0)
    places = grid[before] + np.clip(share, 0.0, 1.0) * (grid[first] - grid[before])
    return np.where(below.any(axis=1), places, np.nan)
