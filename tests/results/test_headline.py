from __future__ import annotations

import re
from typing import Any

from analysis.claims.models import ANSWERS_THAT_DECIDE, DIFFERENCE, MATCHES
from analysis.findings.model.comparisons import Comparison
from analysis.reporting.results_text import comparison_sentences
from humanexp.results.charts.indices import comparisons_table, leaderboard_table
from humanexp.results.headline import Headline, headline_of as headline_of_findings
from tests.analysis.findings.examples import STORED, comparison as entry, curve, findings, like

LEADER = next(one for one in STORED.leaderboard if one.property == "accuracy")


def headline_of(parts: dict[str, Any]) -> Headline:
    return headline_of_findings(findings(**parts))


def judged(classifier: str, word: str, corruption: str = "gaussian_blur", **changed: Any) -> Comparison:
    """A comparison with this verdict on it."""
    verdict = {
        "word": word, "statement": "", "matches": word == "matches", "differs": word == "differs",
        "direction": "below" if word == "differs" else None, "difference": -0.052, "interval": [-0.073, -0.031],
        "range": [0.0, 1.0], "gaps": [], "windows": [], "margin": 0.03, "window_margin": 0.1, "window": 0.15,
        "attentive": 0.9, "answers": 960, "answers_to_match": 3000, "answers_to_differ": 2000,
    }  # fmt: skip
    own = {name: changed.pop(name) for name in list(changed) if name in verdict}
    return entry(classifier, corruption, verdict={**verdict, **own}, **changed)


def test_one_model_on_one_corruption() -> None:
    text = headline_of({"comparisons": [judged("resnet50", "differs", hmri=0.828)]}).text
    assert text == (
        "The model resnet50 differs from people on gaussian blur: its mean accuracy over the measured windows minus "
        "that of people is -0.052 (-0.073 to -0.031). It replicates 82.8 % of people's accuracy (HMRI 0.828)."
    )
    assert "is undecided" in headline_of({"comparisons": [judged("a", "undecided")]}).text
    assert "matches people on" in headline_of({"comparisons": [judged("a", "matches")]}).text


def test_several_models_are_counted_by_their_word_and_the_closest_is_named() -> None:
    said = headline_of(
        {"comparisons": [judged("a", "matches", hmri=0.98), judged("b", "differs"), judged("c d", "undecided")]}
    )
    assert said.text.startswith(
        "Of 3 models, on gaussian blur, 1 (a) matches people, 1 (b) differs from people and 1 (“c d”) is undecided. "
        "The closest by HMRI, a, replicates 98.0 %"
    )
    assert said.caveat == ""


def test_the_closest_by_hmri_is_not_taken_for_the_best() -> None:
    names = ("a", "b c")
    leaders = [like(LEADER, classifier=name, ranks={"best": 1, "worst": 2, "classifiers": 2}) for name in names]
    entries = [judged(name, "undecided", hmri=0.9) for name in names]
    text = headline_of({"comparisons": entries, "leaderboard": leaders}).text
    assert "undecided. By mean accuracy these data do not order the 2 models: a tie. The closest by HMRI" in text
    leaders[1] = like(LEADER, classifier="b c", ranks={"best": 2, "worst": 2, "classifiers": 2})
    text = headline_of({"comparisons": entries, "leaderboard": leaders}).text
    assert "By mean accuracy a is the first of 2 models." in text


def test_a_high_hmri_is_no_match_and_a_low_one_no_difference() -> None:
    """Noise alone pushes HMRI below 1: the verdict says what was shown."""
    said = headline_of({"comparisons": [judged("a", "undecided", hmri=1.0), judged("b", "matches", hmri=0.9)]})
    assert said.text.startswith("Of 2 models, on gaussian blur, 1 (b) matches people and 1 (a) is undecid")


def test_a_model_matches_over_its_corruptions_only_where_it_matches_on_each() -> None:
    entries = [judged("net", "matches", hmri=0.6), judged("net", "undecided", "uniform_noise", hmri=0.8)]
    text = headline_of({"comparisons": entries}).text
    assert text.startswith("Whether the model net matches people over 2 corruptions is undecided.")
    assert "HMRI 0.700; from 0.600 on gaussian blur to 0.800 on uniform noise" in text
    entries[1] = judged("net", "differs", "uniform_noise", direction="crosses")
    assert "and is partly above and partly below people on 1 of 2 corruptions" in (
        headline_of({"comparisons": [*entries, judged("other", "differs", hmri=0.1)]}).text
    )


def test_without_verdicts_nothing_is_said_to_match_or_differ() -> None:
    """Findings of earlier versions, and analyses without refits."""
    text = headline_of({"comparisons": [entry("resnet50", hmri=0.999), entry("alexnet", hmri=0.488)]}).text
    assert text.startswith("Of 2 models resnet50 comes closest to people: it replicates 99.9 %")
    assert "match" not in text and "differ" not in text and "None" not in text


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


def test_headline_table_report_and_json_say_the_same_of_conditions_that_are_spaced_unevenly() -> None:
    """A mean over conditions is no area, which weighs them by their distance."""
    places = [0.0, 0.03, 0.1, 1.0]
    windows = [
        {"range": [at, at], "difference": 0.001, "lower": -0.1, "upper": 0.1, "significant": False} for at in places
    ]
    entry_ = judged(
        "vgg", "undecided", "contrast", hmri=0.98, difference=0.001, interval=[-0.049, 0.052], windows=windows,
        statement="undecided: 3,000 answers would show a model without any difference to match",
        human_area=0.786, classifier_area=0.843, common_range=None,
    )  # fmt: skip
    found = findings(comparisons=[entry_])
    said = headline_of_findings(found).text
    assert said.startswith("Whether the model vgg matches people on contrast is undecided: its mean accuracy over the")
    assert "over the measured conditions minus that of people is +0.001 (-0.049 to 0.052)" in said
    table = comparisons_table(found, "accuracy", "contrast")
    (row,) = table.rows
    cells = {column.label: cell for column, cell in zip(table.columns, row, strict=True)}
    assert cells["Mean accuracy minus people’s"] == (0.001, -0.049, 0.052)
    assert (cells["R̂ people"], cells["R̂ model"]) == (0.786, 0.843)
    (note,) = [one for one in table.notes if "Mean accuracy" in one]
    assert "over the measured conditions" in note and "another number" in note
    assert note in leaderboard_table(found, "accuracy").notes
    report = " ".join(comparison_sentences(found))
    assert "mean accuracy over the measured conditions minus people's 0.001 [−0.049, 0.052]" in report
    assert found.to_json()["comparisons"][0]["verdict"]["difference"] == 0.001
    own = [said, report, note, DIFFERENCE.statement, MATCHES.statement, ANSWERS_THAT_DECIDE.statement]
    assert not [text for text in own if re.search(r"\bareas? (minus|is \{|within)|in area\b|its area", text)]
    assert "over the measured windows" in headline_of({"comparisons": [judged("a", "differs")]}).text


def test_the_verdict_on_a_corruption_names_where_a_model_is_above_people_and_below() -> None:
    def window(low: float, high: float, difference: float, significant: bool = True) -> dict[str, Any]:
        return {"range": [low, high], "difference": difference, "lower": difference - 0.1, "upper": difference + 0.1,
                "significant": significant}  # fmt: skip

    def cell(**changed: Any) -> Any:
        found = findings(comparisons=[entry("vgg", **changed) if "no_verdict" in changed else judged("vgg", **changed)])
        table = comparisons_table(found, "accuracy", "gaussian_blur")
        place = [column.label for column in table.columns].index("Against people")
        assert str(table.rows[0][place]) in table.to_csv().replace('"', "")
        return table.rows[0][place]

    both = {"exceeds": [[0.1, 0.25], [0.4, 0.55]], "falls_short": [[0.8, 0.95]]}
    crossing = [window(0.1, 0.25, 0.2), window(0.4, 0.55, 0.2), window(0.8, 0.95, -0.3)]
    assert cell(word="differs", statement="differs from people (crosses)", windows=crossing, **both) == (
        "differs from people (crosses) (above people at Δv 0.10 to 0.25 and 0.40 to 0.55, below people at Δv 0.80 to "
        "0.95)"
    )
    mean = {"exceeds": [], "falls_short": [[0.05, 0.95]], "windows": [window(0.1, 0.25, -0.05, False)]}
    assert cell(word="differs", statement="differs", **mean) == (
        "differs (below people on average over Δv 0.05 to 0.95)"
    )
    mixed = {"exceeds": [[0.8, 0.95]], "falls_short": [[0.05, 0.95]], "windows": [window(0.8, 0.95, 0.2)]}
    assert cell(word="differs", statement="differs", **mixed) == (
        "differs (above people at Δv 0.80 to 0.95, below people on average over Δv 0.05 to 0.95)"
    )
    conditions = {"exceeds": [], "falls_short": [[0.3, 0.3], [1.0, 1.0]],
                  "windows": [window(0.3, 0.3, -0.2), window(1.0, 1.0, -0.2)]}  # fmt: skip
    assert cell(word="differs", statement="differs", **conditions) == (
        "differs (below people at conditions 0.30 and 1.00)"
    )
    assert cell(word="undecided", statement="undecided", exceeds=[], falls_short=[]) == "undecided"
    # Withheld: whatever the findings have of ranges, nothing is said of them.
    assert cell(no_verdict="no verdict: three people", **both) == "no verdict: three people"


def test_cue_conflicts_open_with_the_shape_bias_that_they_are_for() -> None:
    means = [{"condition": "0", "mean_over_observers": 0.776, "observers": 4}]
    bias = {
        "observer": "humans", "kind": "humans", "shape": 959, "texture": 41, "other": 90, "bias": 0.959,
        "interval": [0.932, 0.975],
    }  # fmt: skip
    own = {**bias, "observer": "subject-01", "kind": "human"}
    said = headline_of({"human_accuracy": means, "shape_bias": [own, bias]})
    assert said.text.startswith(
        "Of people's 1,000 answers that name the shape or the texture, 95.9 % name the shape (95 % interval 93.2 to "
        "97.5 %). People are right on 77.6 % of the trials."
    )
    none = {**bias, "shape": 0, "texture": 0, "bias": None, "interval": [0.0, 1.0]}
    assert headline_of({"human_accuracy": means, "shape_bias": [none]}).text.startswith("People are right on 77.6 %")


def test_a_model_without_a_verdict_is_named_beside_those_with_one() -> None:
    why = (
        "no verdict: categories count equally, and cat is thin from 0.00 to 0.50 (10 more pictures of it would mend it)"
    )
    entries = [judged("a", "matches"), entry("b", no_verdict=why), entry("c", no_verdict=why)]
    assert headline_of({"comparisons": entries}).text == (
        "The model a matches people on gaussian blur. There is no verdict on 2 models on gaussian blur: categories "
        "count equally, and cat is thin from 0.00 to 0.50 (10 more pictures of it would mend it)."
    )
    (first, *_) = leaderboard_table(findings(comparisons=entries[1:2]), "accuracy").rows
    assert why in first


def test_indices_of_one_corruption_have_no_interval_that_nobody_vouches_for() -> None:
    """Only means over corruptions are declared and simulated; of one corruption intervals covered in .89."""
    found = findings(comparisons=[judged("a", "differs", hmri=0.8)])
    said = headline_of_findings(found).text
    assert "(HMRI 0.800)" in said and "0.780" not in said
    (row,), (mean,) = (
        comparisons_table(found, "accuracy", "gaussian_blur").rows,
        leaderboard_table(found, "accuracy").rows,
    )
    assert (0.8, None, None) in row and (0.8, None, None) in mean
    assert "HMRI 0.800, MRSI" in " ".join(comparison_sentences(found))
