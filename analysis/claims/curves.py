"""What is claimed of a curve's area, and of its bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.claims.claim import Claim
from analysis.study.analysis_plan import CurveKind, Estimand
from analysis.study.change_weights import ChangeWeights

AREA_INTERVAL = Claim(
    name="area-interval",
    statement="The area is {area} [{lower}, {upper}].",
    estimand=(
        "Area under the mean curve of people, in which each person counts once and each of the study's categories "
        "equally, over new people and new pictures of these categories; over a gap, whatever a falling curve could "
        "have there. Under weights over visual change: the mean under them."
    ),
    conditions=(
        "Forced choice at the study's exposure and screening; performance falls with visual change; answers are "
        "independent but for the person and the original. A gap is more than .05 of the axis with fewer than 5 "
        "answers, or with none to a category of which an equal share would be 12 pictures; then it concerns this "
        "category's share."
    ),
    promise="covers in at least",
    rate=0.93,
)

WHOLE_CURVE_BAND = Claim(
    name="whole-curve-band",
    statement="The whole true curve lies within the simultaneous band.",
    estimand=(
        "Mean curve of people (each counts once) over new people and new pictures of the same kind, at all visual "
        "changes at once; over a gap, any falling curve."
    ),
    conditions=(
        "As for the area, and the curve does not fall off a cliff: a drop from top to floor within two bins (.05) is "
        "drawn less steep than it is, and leaves the band. Nominal level 83.4 %, that of the papers' overlap rule."
    ),
    promise="covers in at least",
    rate=0.80,
)

NO_RISE = Claim(
    name="no-rise",
    statement="The answers rise by {rise} from {earlier} to {later}; the drawn curve, which never rises, does not fit "
    "there.",
    estimand=(
        "whether mean performance (of people: each counts once) over a later window of .15 of visual change is above "
        "that over an earlier one that it does not touch"
    ),
    conditions=(
        "Answers are independent but for the person and the original; the rate holds for all curves of a study "
        "together. Silence does not show that a curve falls: a dip narrower than a window, between parts that fall, is "
        "not seen."
    ),
    promise="false claims at most",
    rate=0.05,
)

CLAIMS = (AREA_INTERVAL, WHOLE_CURVE_BAND, NO_RISE)

#: What curves are the mean over, by the plan's estimand.
MEAN_OVER: Mapping[Estimand, str] = {
    "categories": "People's curves are means over people, each of whom counts once, and categories, each of which "
    "counts equally; categories count equally in the models' curves, too.",
    "people": "People's curves are means over people, each of whom counts once; categories count as often as they were "
    "shown.",
    "answers": "Curves are means over answers: people and categories count as often as they answered and were shown.",
}

#: How curves are drawn, by the plan's `curve`: what a page says, and how a report goes on after "was fitted by".
DRAWN: Mapping[CurveKind, str] = {
    "spline": "Curve: monotone penalised B-spline with 20 segments, binomial likelihood, smoothness chosen by AIC, "
    "over the answers of sessions that count. Clean trials hold its left end.",
    "paper": "Curve as published (VCR, Algorithm 1): rates in bins j = floor(v (M - 1)) with M = 40 and at least 20 "
    "answers each, a monotone median smoothing spline by linear programming (Koenker, Ng and Portnoy 1994), held at "
    "the clean accuracy (consistency of models: at 1).",
    "paper-code": "Curve of the authors' program, for replication alone: it differs from the paper, enters the left "
    "edges of 20 bins, and an accuracy of 0 where a bin is empty.",
}
FITTED_BY: Mapping[CurveKind, str] = {
    "spline": "a monotone penalised B-spline (degree 3, 20 segments, 40 bins, binomial likelihood, smoothness by "
    "Akaike's criterion)",
    "paper": "the published method (VCR, Algorithm 1: M = 40, at least 20 answers in a bin, monotone median smoothing "
    "spline by linear programming)",
    "paper-code": "the program that accompanies VCR, which differs from the paper and counts an empty bin as accuracy "
    "0 (for replication alone)",
}
#: What stands beside every number of curves that are not the default method's; nothing beside its own.
NOT_OURS: Mapping[CurveKind, str] = {
    "spline": "",
    "paper": "Curves, areas, HMRI and MRSI are as published (VCR, Algorithm 1), without intervals.",
    "paper-code": "Curves, areas, HMRI and MRSI are those of the authors' program, for replication alone, without "
    "intervals.",
}
#: The same on an axis of a figure, whose file has no other words.
ON_AXIS: Mapping[CurveKind, str] = {"spline": "", "paper": " (as published)", "paper-code": " (authors' program)"}
#: Why they have none, and what the verdicts rest on.
WITHOUT_INTERVALS = (
    "The paper states no interval for its curves, and around them none covers as often as it says. Verdicts and ranks "
    "rest on raw answers and are the same with every curve; 83 % bands, halves of people and simulated twins are those "
    "of the default curve, whose area stands beside with its interval."
)

BANDS = (
    "Pointwise band: at each visual change by itself. Bootstrap over participants and originals (two-way clusters) for "
    "people, over originals for models.",
    "Simultaneous band: in at least 80 of 100 studies (nominal 83.4) the whole true curve lies within it, unless that "
    "drops from top to floor within 0.05 of the axis. Where nobody answered it holds whatever a falling curve may do.",
)


def rise_sentence(*, earlier: tuple[float, float], later: tuple[float, float], rise: float, p: float) -> str:
    """Say where answers rise, and that the drawn curve does not.

    Parameters
    ----------
    earlier, later : (float, float)
        Windows; the two ends of a condition are equal.
    rise : float
        Mean of the later minus that of the earlier.
    p : float
        Corrected over all curves of the study.
    """
    before, behind = (
        f"from {start:.2f} to {end:.2f}" if start < end else f"at {start:.2f}" for start, end in (earlier, later)
    )
    return (
        f"Performance rises: the mean {behind} lies {rise:.3f} above that {before} (p = {p:.2g}, corrected over all "
        "curves). The drawn curve never rises, and does not fit there."
    )


def below_chance_sentence(where: tuple[float, float], chance: float) -> str:
    """Say where people's curve goes below chance.

    Parameters
    ----------
    where : (float, float)
        First and last place, in [0, 1].
    chance : float
        In (0, 1].
    """
    return (
        f"From {where[0]:.2f} to {where[1]:.2f} people's curve lies below chance ({chance:.3f}), more than its band "
        "explains: curves are bounded by 0 alone, and missed trials count as wrong. Areas and indices include this."
    )


def category_gaps_sentence(gaps: Sequence[tuple[str, tuple[float, float]]]) -> str:
    """Say which categories were not measured everywhere.

    Parameters
    ----------
    gaps : sequence of (str, (float, float))
        Category and stretch; at least one.
    """
    by_stretch: dict[tuple[float, float], list[str]] = {}
    for name, stretch in gaps:
        by_stretch.setdefault(stretch, []).append(name)
    told = (f"{', '.join(names)} from {start:.2f} to {end:.2f}" for (start, end), names in by_stretch.items())
    return (
        f"Not shown: {'; '.join(told)}. There the curve is that of the other categories; the interval of the area "
        "includes whatever a fall of these leaves open."
    )


def gaps_sentence(gaps: Sequence[tuple[float, float]], bounds: tuple[float, float]) -> str:
    """Say where a curve was not measured, and which areas that leaves.

    Parameters
    ----------
    gaps : sequence of (float, float)
        At least one.
    bounds : (float, float)
        Smallest and largest area.
    """
    where = ", ".join(f"{start:.2f} to {end:.2f}" for start, end in gaps)
    return (
        f"Hardly any answers from {where}: any falling curve there would do, which alone leaves areas from "
        f"{bounds[0]:.3f} to {bounds[1]:.3f}; the interval includes them."
    )


def weights_words(weights: ChangeWeights) -> str:
    """Say which weights over visual change stand beside equal ones.

    Parameters
    ----------
    weights : ChangeWeights
        Of the plan.
    """
    rows = ", ".join(f"{weight:g} at Δv {change:g}" for change, weight in weights.points)
    return (
        f"Weights over visual change, {weights.called}: {rows}; linear between (table {weights.digest}). Equal weights "
        "are those of all other numbers."
    )
