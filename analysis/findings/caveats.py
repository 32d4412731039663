"""What has to be said beside a number: sentences that follow from the number's own entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from analysis.categories import CATEGORIES
from analysis.claims.curves import below_chance_sentence, category_gaps_sentence, gaps_sentence
from analysis.claims.guessing import guessing_words, is_guessing
from analysis.findings.model import HUMANS, Comparison, Curve

if TYPE_CHECKING:
    from analysis.findings.fits import CurveKey
    from analysis.findings.observations import Observations

#: Bins at the top with fewer originals than this share of the median bin's hold a choice of them.
_FEW_ORIGINALS = 0.5

CONSISTENCY = (
    "Classifiers are compared with themselves, people with other people: a positive MRSI of consistency at low visual "
    "change is partly by construction."
)
PEOPLE_WITH_OTHERS = (
    "Nobody sees a picture twice: people's consistency is agreement with another person's clean answer."
)
MRSI_BY_NOISE = (
    "MRSI is above 0 by noise alone; only the ranges under `exceeds` show where a classifier exceeds people."
)


def study_caveats(curves: Iterable[CurveKey]) -> list[str]:
    """Sentences that must stand beside the numbers of a study with these curves."""
    of_people = {key.population == HUMANS for key in curves if key.property == "consistency"}
    return [CONSISTENCY] if of_people == {True, False} else []


def curve_caveats(entry: Curve) -> list[str]:
    """Sentences beside a curve."""
    found = []
    if entry.withheld:
        found.append(
            f"{100 * entry.extrapolated:.0f} % of the axis is extrapolated: read the mean over the measured range "
            "instead of the area."
        )
    if entry.abscissa == "condition":
        found.append("The area is over the experiment's own condition, not over visual change.")
    if entry.property == "consistency" and entry.population == HUMANS:
        found.append(PEOPLE_WITH_OTHERS)
    if entry.anchor.kind == "none" and entry.abscissa == "visual_change":
        found.append("No answers to clean pictures hold the curve at its left end.")
    thin = sum(one.thin for one in entry.bins)
    if thin:
        found.append(f"{thin} of {len(entry.bins)} bins with answers hold fewer than 20.")
    if entry.gaps:
        found.append(gaps_sentence(entry.gaps, entry.area_bounds))
    if entry.category_gaps:
        found.append(category_gaps_sentence([(one.category, one.range) for one in entry.category_gaps]))
    if entry.below_chance:
        found.append(below_chance_sentence(entry.below_chance, entry.chance))
    if entry.empty_bins:
        found.append(f"{len(entry.empty_bins)} bins between the first and the last hold no answer.")
    top = _highest_bins_of_few(entry)
    if top is not None:
        found.append(
            f"From {top:.2f} on each bin holds fewer than half as many originals as the median bin: top bins may hold "
            "only pictures that change easily."
        )
    if not entry.same_stimuli:
        found.append("Scored on other stimuli than those that people saw.")
    if entry.label_space != 16:
        found.append(f"{entry.label_space}-way labels: not comparable with people's 16.")
    return found


def comparison_caveats(entry: Comparison) -> list[str]:
    """Sentences beside HMRI and MRSI."""
    found = []
    if entry.property == "consistency":
        found.append(CONSISTENCY)
    if entry.mrsi > 0.0 and not entry.exceeds:
        found.append(MRSI_BY_NOISE)
    if entry.withheld:
        found.append("A curve is extrapolated over more than a fifth of the axis: read the common measured range.")
    if entry.borrowed:
        found.append(f"The human curve is that of {entry.human_curve.replace('_', ' ')}.")
    if not entry.same_stimuli and not entry.borrowed:
        found.append("People and the classifier saw other stimuli.")
    return found


def _highest_bins_of_few(entry: Curve) -> float | None:
    """Where the bins above the middle of the axis begin that all hold few originals; None without such."""
    known = [one.originals for one in entry.bins if one.originals is not None]
    if len(known) < len(entry.bins) or not known:
        return None
    start = None
    for one, originals in zip(reversed(entry.bins), reversed(known), strict=True):
        if one.v < 0.5 or originals >= _FEW_ORIGINALS * median(known):
            break
        start = one.v
    return start


def guessing_notes(classifiers: Observations, label_spaces: Mapping[str, int]) -> list[str]:
    """A sentence for each classifier that names clean pictures no better than by chance."""
    clean = classifiers.clean
    notes = []
    for name, labels in sorted(label_spaces.items()):
        of_one = clean.select(clean.observer == name)
        right, shown = int(np.nansum(of_one.correct)), len(of_one)
        # Of 1,000 classes a network chooses as well where its answers are decided into the categories.
        is_decided = bool(np.isin(of_one.response, CATEGORIES).all())
        if is_guessing(right, shown, len(CATEGORIES) if is_decided else labels):
            notes.append(guessing_words(name, right, shown))
    return notes
