"""What is claimed of a curve's area, and of its bands."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.claims.claim import Claim

AREA_INTERVAL = Claim(
    name="area-interval",
    statement="The area is {area} [{lower}, {upper}].",
    estimand=(
        "Area under the mean curve of people (each counts once) over new people and new pictures of the same kind; "
        "over a gap, whatever a falling curve could have there."
    ),
    conditions=(
        "Forced choice at the study's exposure and screening; performance falls with visual change; answers are "
        "independent but for the person and the original. A gap is more than .05 of the axis with fewer than 5 answers."
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

CLAIMS = (AREA_INTERVAL, WHOLE_CURVE_BAND)

BANDS = (
    "Pointwise band: at each visual change by itself. Bootstrap over participants and originals (two-way clusters) for "
    "people, over originals for models.",
    "Simultaneous band: in at least 80 of 100 studies (nominal 83.4) the whole true curve lies within it, unless that "
    "drops from top to floor within 0.05 of the axis. Where nobody answered it holds whatever a falling curve may do.",
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
