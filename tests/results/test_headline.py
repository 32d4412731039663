from __future__ import annotations

from typing import Any

from humanexp.results.headline import Headline
from humanexp.results.headline import headline_of as headline_of_findings
from tests.analysis.findings.examples import STORED, curve, findings, like
from tests.analysis.findings.examples import comparison as entry


def headline_of(parts: dict[str, Any]) -> Headline:
    return headline_of_findings(findings(**parts))


def test_the_closest_model_is_named_with_its_interval() -> None:
    said = headline_of({"comparisons": [entry("resnet50", hmri=0.828), entry("alexnet", hmri=0.488)]})
    assert said.text == (
        "None of 2 models matches people. The closest, resnet50, replicates 82.8 % of people's accuracy on "
        "gaussian blur (HMRI 0.828, 95 % interval 0.808 to 0.848) and is nowhere above people beyond doubt."
    )
    assert said.caveat == ""


def test_several_corruptions_are_averaged_and_the_ends_named() -> None:
    said = headline_of({"comparisons": [entry("net", hmri=0.6), entry("net", "uniform_noise", hmri=0.8)]})
    assert "on average over 2 corruptions" in said.text
    assert "HMRI 0.700; from 0.600 on gaussian blur to 0.800 on uniform noise" in said.text


def test_a_match_is_claimed_from_the_interval_and_not_from_the_estimate() -> None:
    wide = [entry("a", hmri=1.0, hmri_interval=[0.7, 1.0]), entry("b", hmri=0.5)]
    assert "matches people" not in headline_of({"comparisons": wide}).text
    narrow = [entry("a", hmri=1.0, hmri_interval=[0.97, 1.0]), entry("b", hmri=0.5)]
    assert headline_of({"comparisons": narrow}).text.startswith("One of 2 models matches people: a replicates 100.0 %")


def test_where_a_model_exceeds_people_is_said_only_where_the_band_shows_it() -> None:
    assert "above people at Δv 0.93 to 1.00" in headline_of({"comparisons": [entry("a", exceeds=[[0.93, 1.0]])]}).text
    assert "above" not in headline_of({"comparisons": [entry("a", exceeds=None, hmri_interval=None)]}).text


def test_a_withheld_number_gives_way_to_the_common_range() -> None:
    stored = STORED.comparisons[0].common_range
    common = like(stored, hmri=0.71, hmri_interval=[0.7, 0.72], level=0.95, range=[0.0, 0.7])
    said = headline_of({"comparisons": [entry("a", hmri=0.9, withheld=True, common_range=common)]})
    assert "HMRI 0.710" in said.text and "0.9" not in said.text.replace("0.95", "")
    assert "both measured" in said.caveat


def test_borrowed_curves_and_consistency_make_no_headline() -> None:
    other = [entry("a", borrowed=True), entry("b", property="consistency")]
    assert "Too few" in headline_of({"comparisons": other}).text


def test_people_alone_models_alone_and_conditions_alone() -> None:
    people = curve(corruption="gaussian_blur", area=0.81, interval=[0.8, 0.82])
    assert "0.810 (0.800 to 0.820) on gaussian blur" in headline_of({"curves": [people]}).text
    assert "small net keeps" not in headline_of({"curves": [like(people, interval=None)]}).text
    assert "“small net” keeps" in headline_of({"curves": [like(people, population="small net")]}).text
    means = [
        {"condition": "c100", "mean_over_observers": 0.9, "observers": 4},
        {"condition": "c05", "mean_over_observers": 0.3, "observers": 4},
    ]
    assert "90.0 % of the trials in condition c100" in headline_of({"human_accuracy": means}).text


def test_one_condition_is_not_compared_with_itself() -> None:
    said = headline_of({"human_accuracy": [{"condition": "0", "mean_over_observers": 0.9155, "observers": 4}]})
    assert said.text == "People are right on 91.5 % of the trials. All trials have one condition, 0."
    assert said.caveat == "With one condition there is no curve."
