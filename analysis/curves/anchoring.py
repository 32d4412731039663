"""What holds a curve at its ends: clean trials at 0, chance or pure noise at 1, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.curves.curve import Anchor
from analysis.curves.trials import CleanTrials, Ids, TrialColumns
from analysis.errors import InvalidInput, TooFewResponses

FloatArray = NDArray[np.float64]

LeftAnchor = float | Literal["soft"] | None
RightAnchor = float | Literal["chance", "soft"] | None


@dataclass(frozen=True, eq=False)
class Sample:
    """Trials of a curve, and the trials or values at its ends."""

    main: TrialColumns
    clean: TrialColumns | None
    noise: TrialColumns | None
    left: Anchor
    right: Anchor

    @property
    def parts(self) -> list[TrialColumns]:
        """Clean trials, trials of the curve, trials on noise: those that there are."""
        return [part for part in (self.clean, self.main, self.noise) if part is not None]

    @property
    def digests(self) -> list[str]:
        """sha256 of each part, empty for clean trials or noise that are not there (noise is left out then)."""
        digests = [self.clean.digest() if self.clean is not None else "", self.main.digest()]
        return digests if self.noise is None else [*digests, self.noise.digest()]


def read_sample(
    table: TrialColumns,
    *,
    anchor: LeftAnchor,
    clean: CleanTrials | None,
    right_anchor: RightAnchor,
    noise: CleanTrials | None,
    label_space: int,
) -> Sample:
    """Split trials into those of the curve and those at its ends.

    Parameters
    ----------
    table : TrialColumns
    anchor, clean, right_anchor, noise, label_space
        As in `analysis.curves.fit.fit_curve`.

    Raises
    ------
    InvalidInput
        If anchors and trials contradict each other.
    TooFewResponses
        If no trial on corrupted pictures is left.
    """
    if anchor != "soft" and clean is not None:
        raise InvalidInput('Clean trials are given, but the anchor is not "soft".')
    if right_anchor != "soft" and noise is not None:
        raise InvalidInput('Trials on noise are given, but the right anchor is not "soft".')
    left, right = Anchor("none"), Anchor("none")
    clean_trials = noise_trials = None
    if anchor == "soft":
        table, clean_trials = _end(table, clean, 0.0)
        left = _measured(clean_trials)
    elif anchor is not None:
        left = Anchor("fixed", float(anchor))
        if not 0.0 < float(anchor) <= 1.0:
            raise InvalidInput(f"A fixed anchor lies above 0 and at most at 1, not at {anchor}.")
    if right_anchor == "soft":
        table, noise_trials = _end(table, noise, 1.0)
        right = _measured(noise_trials)
    elif right_anchor is not None:
        value = 1.0 / label_space if right_anchor == "chance" else float(right_anchor)
        if not 0.0 <= value < 1.0:
            raise InvalidInput(f"A fixed right anchor lies at 0 or above, and below 1, not at {value}.")
        right = Anchor("fixed", value)
    if left.kind == right.kind == "fixed" and (right.value or 0.0) >= (left.value or 0.0):
        raise InvalidInput(
            f"A falling curve cannot go from {left.value} to {right.value}: the right anchor is too high."
        )
    if not len(table.correct):
        raise TooFewResponses("All trials are clean; a curve needs trials on corrupted pictures.")
    return Sample(table, clean_trials, noise_trials, left, right)


def _end(table: TrialColumns, given: CleanTrials | None, place: float) -> tuple[TrialColumns, TrialColumns]:
    """Trials of the curve, and those at one end: given, or else found among the trials by their visual change."""
    what, many = ("clean trial", "clean trials") if place == 0.0 else ("trial on noise", "trials on noise")
    if given is None:
        rows = table.visual_change == place
        if not rows.any():
            raise InvalidInput(f"A soft anchor needs {many}: pass them, or trials whose visual change is {place:.0f}.")
        return table.select(~rows), table.select(rows)
    places: ArrayLike = np.full(np.asarray(given.correct).shape, place)
    ids: tuple[Ids | None, Ids | None] = given.participants, given.images
    trials = TrialColumns.read(places, given.correct, *ids, what, given.weights)
    for name in ("participants", "images", "weights"):
        if (getattr(table, name) is None) != (getattr(trials, name) is None):
            told = name if name == "weights" else f"Ids of {name}"
            raise InvalidInput(f"{told.capitalize()} are given for only one of the trials and the {many}.")
    return table, trials


def _measured(trials: TrialColumns) -> Anchor:
    number = len(trials.correct)
    if trials.weights is not None:
        rate = float(np.average(trials.correct, weights=trials.weights))
        return Anchor("soft", rate, number, rate * number)
    total = float(trials.correct.sum())
    return Anchor("soft", total / number, number, total)
