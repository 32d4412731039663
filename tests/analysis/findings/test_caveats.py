from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analysis.findings.curve_entries import (
    CONSISTENCY,
    MRSI_BY_NOISE,
    PEOPLE_WITH_OTHERS,
    comparison_caveats,
    curve_caveats,
    guessing_notes,
)
from analysis.findings.model.findings import Findings
from analysis.findings.observations import Observations, joined
from analysis.labels.files import default_labels
from humanexp.results.charts.chart import Chart
from humanexp.results.charts.registry import chart_of, choices_of
from tests.analysis.findings.examples import curve, findings as findings_of
from tests.labels import of_the_sixteen


def curve_chart(found: Findings) -> Chart:
    (choice,) = choices_of(found, "curves")
    return chart_of(found, choice.key)


def test_a_sound_curve_needs_no_caveat() -> None:
    assert curve_caveats(curve(), 16) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"withheld": True, "extrapolated": 0.4}, "40 % of the axis is extrapolated"),
        ({"abscissa": "condition"}, "experiment's own condition"),
        ({"property": "consistency"}, PEOPLE_WITH_OTHERS),
        ({"anchor": {"kind": "none", "value": None, "n": 0}}, "left end"),
        ({"empty_bins": [3, 4]}, "2 bins between"),
        ({"gaps": [[0.3, 0.6]], "area_bounds": [0.5, 0.7]}, "from 0.30 to 0.60: any falling curve"),
        ({"same_stimuli": False}, "other stimuli"),
        ({"label_space": 1000}, "1000-way"),
    ],
)
def test_each_weakness_is_said_in_a_sentence(changed: dict[str, Any], said: str) -> None:
    (sentence,) = curve_caveats(curve(**changed), 16)
    assert said in sentence


def test_top_bins_with_few_originals_are_named() -> None:
    bins = curve().to_json()["bins"]
    for one in bins[34:]:
        one["originals"] = 12
    bins[5] |= {"n": 8, "thin": True}
    thin, few = curve_caveats(curve(bins=bins), 16)
    assert thin.startswith("1 of 40 bins") and few.startswith("From 0.86 on")


@of_the_sixteen
def test_comparisons_carry_theirs(findings: dict[str, Any]) -> None:
    found = Findings.model_validate(findings)
    for entry in found.comparisons:
        assert entry.caveats == tuple(comparison_caveats(entry))
        assert (CONSISTENCY in entry.caveats) == (entry.property == "consistency")
        assert (MRSI_BY_NOISE in entry.caveats) == (entry.mrsi > 0 and not entry.exceeds)
    assert all(entry.caveats == tuple(curve_caveats(entry, 16)) for entry in found.curves)


def test_peoples_curve_below_chance_is_flagged_where_its_band_does_not_reach_chance() -> None:
    """A falling curve is bounded by 0 alone: where answers are missed it can end far below 1 / 16."""
    grid = [k / 20 for k in range(21)]
    estimate = [0.9 - 0.9 * v for v in grid[:-2]] + [0.0, 0.0]

    def with_band(above: float, **changed: Any) -> Any:
        upper = [min(one + above, 1.0) for one in estimate]
        band = {
            "v": grid, "estimate": estimate, "lower": estimate, "upper": upper, "simultaneous_lower": estimate,
            "simultaneous_upper": upper, "level": 0.95, "simultaneous_level": 0.834,
        }  # fmt: skip
        return curve(band=band, **changed)

    flagged = with_band(0.01)
    assert flagged.below_chance == (0.95, 1.0)
    (said,) = curve_caveats(flagged, 16)
    assert said.startswith("From 0.95 to 1.00 people's curve lies below chance (0.062), more than its band explains")
    (on_page,) = [one for one in curve_chart(findings_of(curves=[flagged])).found if "below chance" in str(one)]
    assert said in str(on_page)
    for sound in (with_band(0.07), with_band(0.01, population="net"), with_band(0.01, property="consistency"), curve()):
        assert sound.below_chance is None


def answers_of(name: str, right: list[float], response: str = "cat", corruption: str = "none") -> Observations:
    n = len(right)
    text, numbers = np.full(n, "x", dtype=np.str_), np.zeros(n)
    return Observations(
        np.full(n, name), *(text,) * 3, text, np.full(n, corruption), text, np.full(n, response), numbers,
        np.array(right), numbers, numbers, np.zeros(n, dtype=np.bool_), text,
    )  # fmt: skip


def test_a_classifier_that_guesses_on_clean_pictures_is_said_to() -> None:
    guesses, sees = answers_of("guesses", [1.0] + [0.0] * 31), answers_of("sees", [1.0] * 16 + [0.0] * 16)
    blurred = answers_of("sees", [0.0] * 400, corruption="gaussian_blur")
    (said,) = guessing_notes(joined([guesses, sees, blurred]), {"guesses": 1000, "sees": 16}, default_labels())
    assert said.startswith("guesses names 1 of 32 clean pictures right, no more than by guessing")
    # Among 1,000 labels of its own, one of 32 is more than guessing gives.
    own = answers_of("guesses", [1.0] * 2 + [0.0] * 30, response="n02123045")
    assert guessing_notes(own, {"guesses": 1000}, default_labels()) == []
    assert guessing_notes(answers_of("guesses", [0.0] * 9), {"guesses": 16}, default_labels()) == [], (
        "of a few pictures nothing is said"
    )
