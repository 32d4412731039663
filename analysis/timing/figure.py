"""The timing certificate as a picture: how far presentations departed from their plan, and each participant's share."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from analysis.errors import InvalidInput
from analysis.figures.paper import write_drawing
from analysis.figures.value import GRID, INK, INK_SOFT, PALETTE
from analysis.timing.certificate import EDGES, TimingCertificate

_WITHIN, _BEYOND = PALETTE[0], PALETTE[1]


def timing_to_file(certificate: TimingCertificate, path: Path, *, title: str) -> Path:
    """Write an .svg, .pdf or .png file (by its suffix); the same certificate gives the same bytes.

    Raises
    ------
    InvalidInput
        If the suffix is another one, or no trial has a record.
    """
    return write_drawing(path, partial(_draw, certificate, title), salt="timing")


def _draw(certificate: TimingCertificate, title: str) -> Any:
    if not certificate.all.recorded:
        raise InvalidInput("No trial has a record of its frames, so there is nothing to draw.")
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(8.0, 3.6), layout="constrained")
    left, right = canvas.subplots(1, 2, width_ratios=[3, 2])
    summary = certificate.all
    width = EDGES[1] - EDGES[0]
    middles = [edge + width / 2 for edge in EDGES[:-1]]
    colours = [_WITHIN if abs(middle) < 0.5 else _BEYOND for middle in middles]
    left.bar(middles, summary.histogram, width=0.9 * width, color=colours)
    # Few departures are what matters: on a linear axis they would vanish beside the rest.
    left.set_yscale("symlog", linthresh=1)
    left.set_ylim(bottom=0)
    left.set_xlabel("stimulus longer (+) or shorter (−) than planned, in frames", fontsize=8, color=INK_SOFT)
    left.set_ylabel("presentations", fontsize=8, color=INK_SOFT)
    left.set_title(
        f"{summary.recorded} presentations, {100 * (summary.within_half_frame or 0):.2f} % within half a frame",
        loc="left",
        fontsize=9,
        color=INK,
    )
    shares = sorted(
        one.within_half_frame for one in certificate.participants.values() if one.within_half_frame is not None
    )
    right.plot([100 * share for share in shares], range(1, len(shares) + 1), "o", color=_WITHIN, markersize=3)
    right.set_xlim(min([90.0, *(100 * share - 1 for share in shares)]), 100.5)
    right.set_yticks([])
    right.set_xlabel("% within half a frame", fontsize=8, color=INK_SOFT)
    right.set_title(f"each of {len(shares)} participants", loc="left", fontsize=9, color=INK)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8, colors=INK_SOFT)
        axes.grid(axis="x", color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
    canvas.suptitle(f"{title}: timing by rule {certificate.rule}", fontsize=10, color=INK, x=0.01, ha="left")
    return canvas
