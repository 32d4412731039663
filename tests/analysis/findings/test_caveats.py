from __future__ import annotations

from typing import Any

import pytest

from analysis.findings.caveats import CONSISTENCY, MRSI_BY_NOISE, PEOPLE_WITH_OTHERS, comparison_caveats, curve_caveats
from analysis.findings.model import Findings
from tests.analysis.findings.examples import curve


def test_a_sound_curve_needs_no_caveat() -> None:
    assert curve_caveats(curve()) == []


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
    (sentence,) = curve_caveats(curve(**changed))
    assert said in sentence


def test_top_bins_with_few_originals_are_named() -> None:
    bins = curve().to_json()["bins"]
    for one in bins[34:]:
        one["originals"] = 12
    bins[5] |= {"n": 8, "thin": True}
    thin, few = curve_caveats(curve(bins=bins))
    assert thin.startswith("1 of 40 bins") and few.startswith("From 0.86 on")


def test_comparisons_carry_theirs(findings: dict[str, Any]) -> None:
    found = Findings.model_validate(findings)
    for entry in found.comparisons:
        assert entry.caveats == tuple(comparison_caveats(entry))
        assert (CONSISTENCY in entry.caveats) == (entry.property == "consistency")
        assert (MRSI_BY_NOISE in entry.caveats) == (entry.mrsi > 0 and not entry.exceeds)
    assert all(entry.caveats == tuple(curve_caveats(entry)) for entry in found.curves)
