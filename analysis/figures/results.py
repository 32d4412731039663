"""Figures of single results, as `plot()` draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.performance import CurveBand, PlottedCurve, curve_figure
from analysis.figures.style import Observer
from analysis.figures.value import Axis, Estimates, Figure, Shaded

if TYPE_CHECKING:
    from analysis.agreement import ErrorConsistency
    from analysis.curves import CurveFit
    from analysis.findings.model import Indices
    from analysis.similarity import CurveSimilarity

#: Of whom a result is that does not say it.
PEOPLE, SOME_CLASSIFIER = Observer("people", "human"), Observer("classifier", "classifier")
_ESTIMATE = Observer("estimate", "human")


def plotted_curve(fit: CurveFit, observer: Observer) -> PlottedCurve:
    """A fit as `curve_figure` takes it: with its pointwise and its simultaneous band, where it has bands."""
    from analysis.curves.bands import band_grid

    bands = fit.bands
    v = band_grid()
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
    return PlottedCurve(
        observer=observer,
        v=tuple(map(float, v)),
        estimate=tuple(map(float, fit.predict(v))),
        bands=drawn,
        bins=tuple((one.v, one.n, one.rate) for one in fit.bins),
        gaps=fit.gaps,
        area=fit.area,
    )


def fit_figure(fit: CurveFit, observer: Observer, *, measure: str) -> Figure:
    """One curve over visual change; chance level where the measure is accuracy."""
    chance = 1 / fit.config.label_space if measure == "accuracy" else None
    return curve_figure(
        [plotted_curve(fit, observer)],
        title=f"{observer.name}: {measure}",
        measure=measure,
        chance=chance,
        bin_width=1 / fit.config.n_bins,
    )


def comparison_figure(found: Indices, observer: Observer) -> Figure:
    """HMRI and MRSI with their intervals."""
    return Figure(
        title=f"{observer.name} beside people",
        description=f"HMRI {found.hmri:.3f}, MRSI {found.mrsi:.3f}.",
        x=Axis(f"index of {observer.name}", (-0.02, 1.02), (0.0, 0.25, 0.5, 0.75, 1.0)),
        y=Axis("", (1.5, -0.5), categories=("HMRI", "MRSI")),
        traces=(
            Estimates(
                (observer, observer),
                (found.hmri, found.mrsi),
                (0.0, 1.0),
                (found.hmri_interval, found.mrsi_interval),
                "index",
                bar=False,
            ),
        ),
    )


def curve_similarity_figure(found: CurveSimilarity) -> Figure:
    """The difference of two corruptions in units of its margins: the mean, and the ends of the windows."""
    mean = tuple(end / found.margin for end in found.interval)
    band = tuple(end / found.band_margin for end in found.band)
    reach = 1.1 * max(1.0, *map(abs, mean), *map(abs, band))
    return Figure(
        title="Difference of two corruptions",
        description=f"{found.statement}: mean difference {found.difference:+.3f}, 90 % interval "
        f"{found.interval[0]:+.3f} to {found.interval[1]:+.3f}.",
        x=Axis("difference in units of the margin; grey: within", (-reach, reach)),
        y=Axis(
            "", (1.5, -0.5), categories=(f"mean (margin {found.margin:g})", f"windows (margin {found.band_margin:g})")
        ),
        traces=(
            Estimates(
                (_ESTIMATE, _ESTIMATE),
                (found.difference / found.margin, found.difference / found.band_margin),
                (0.0, 1.0),
                ((mean[0], mean[1]), (band[0], band[1])),
                "difference",
                bar=False,
            ),
        ),
        shaded=(Shaded(-1.0, 1.0, "within the margin"),),
        notes=("Dots: mean difference. Lines: its 90 % interval, and the ends of those of all windows. Grey: within.",),
    )


def error_consistency_figure(found: ErrorConsistency) -> Figure:
    """Kappa with its interval, between independent errors (0) and the same errors (1)."""
    lowest = min(0.0, found.kappa, *(found.interval or ()))
    return Figure(
        title="Error consistency",
        description=f"Kappa {found.kappa:.3f} on {found.n} pictures.",
        x=Axis("error consistency κ", (1.05 * lowest - 0.02, 1.02)),
        y=Axis("", (0.5, -0.5), categories=(f"{found.n} pictures",)),
        traces=(Estimates((_ESTIMATE,), (found.kappa,), (0.0,), (found.interval,), "kappa", bar=False),),
        notes=("0: as often on the same pictures as independent observers; 1: always.",),
    )
