from __future__ import annotations

import re
from typing import Any

import pytest

from analysis.findings.analysing import analyse
from analysis.findings.model.curves import Rise
from analysis.findings.model.findings import Findings
from analysis.reporting import results_text
from analysis.reporting.methods import methods_paragraphs
from analysis.reporting.plan import FrozenPlan, freeze_plan
from analysis.study.protocol import load_protocol
from analysis.study.rules import load_rule_set
from analysis.tables.sessions import SESSIONS
from analysis.tables.stimuli import STIMULI
from tests.analysis.findings.examples import like, told_apart
from tests.analysis.findings.studies import WRONG_CLASSIFIER, study


@pytest.fixture(scope="module")
def findings() -> Findings:
    trials, predictions = study(1)
    codes = sorted(trials["session"].unique())
    sessions = SESSIONS.frame(
        [
            *({"session": code, "participant": code, "state": "submitted", "accepted": True} for code in codes),
            {"session": "S-x", "state": "submitted", "accepted": False, "reasons": "gold trials failed"},
            {"session": "S-y", "state": "open"},
        ]
    )
    stimuli = STIMULI.frame(
        {
            "stimulus": row.stimulus,
            "original": row.original,
            "category": row.category,
            "corruption": row.corruption,
            "visual_change": row.visual_change,
            "reached": True,
        }
        for row in predictions.itertuples()
    )
    return analyse(trials, predictions, study="s", seed=1, n_bootstrap=30, session_table=sessions, stimuli=stimuli)


SNAPSHOT = {
    "configuration": {"title": "Blur", "stimuli": "pictures", "protocol": load_protocol("vcr").to_dict()},
    "rules": load_rule_set("vcr").to_dict(),
}


@pytest.fixture(scope="module")
def plan(findings: Findings) -> FrozenPlan:
    return freeze_plan(SNAPSHOT, {**findings.settings.to_json(), "margin": 0.05})


@pytest.mark.verify
def test_the_numbers_of_the_study_stand_in_the_text(findings: Findings, plan: FrozenPlan) -> None:
    paragraphs = {one.title: one.text for one in methods_paragraphs(findings, SNAPSHOT, plan)}
    assert "fixation mark for 300 ms" in paragraphs["Procedure"] and "for 200 ms" in paragraphs["Procedure"]
    assert "Sessions opened: 26; finished: 25; submitted: 25" in paragraphs["Participants"]
    assert "Excluded: 1 (1 for gold trials failed)" in paragraphs["Participants"]
    assert "rule set vcr, version 4" in paragraphs["Participants"]
    assert WRONG_CLASSIFIER in paragraphs["Models"]
    compared = next(one for one in findings.comparisons if one.property == "accuracy")
    assert f"HMRI {compared.hmri:.3f}, MRSI {compared.mrsi:.3f}" in paragraphs["Comparisons"]
    assert "30 refits" in paragraphs["Curves"] and "seed 1" in paragraphs["Curves"]
    assert "Of 1 pair of corruptions" in paragraphs["Similarity of corruptions"]
    assert "misses dropped" in paragraphs["Sensitivity"]
    assert "margin of equivalence of areas: 0.05 planned, 0.03 done" in paragraphs["Plan and data"]
    assert findings.data_digest in paragraphs["Plan and data"] and plan.digest in paragraphs["Plan and data"]


def test_of_few_stimuli_the_text_says_how_many_bins_they_could_cover(findings: Findings) -> None:
    def told(n: int) -> str:
        found = findings.model_copy(update={"reach": tuple(like(one, n=n) for one in findings.reach)})
        return next(one.text for one in methods_paragraphs(found, SNAPSHOT, None) if "equal bins" in one.text)

    said = "; all bins of a function can hold so many from 800 stimuli on, and the smallest has 320."
    assert said in told(320) and "from 800 stimuli on" not in told(800)


@pytest.mark.verify
def test_no_symbol_of_the_program_is_left_in_the_text(findings: Findings, plan: FrozenPlan) -> None:
    text = " ".join(one.text for one in methods_paragraphs(findings, SNAPSHOT, plan))
    assert not re.search(r"None|nan|\{|\}|_|\bTrue\b", text)


@pytest.mark.verify
def test_what_is_not_known_is_left_out(findings: Findings) -> None:
    alone = analyse(study(1)[0].head(0), study="s", seed=1)
    assert [one.title for one in methods_paragraphs(alone)] == ["Plan and data"]
    assert "Procedure" not in [one.title for one in methods_paragraphs(findings)]


def test_large_studies_are_told_by_means_and_ends(findings: Findings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_text, "MOST_CURVES", 1)
    monkeypatch.setattr(results_text, "MOST_COMPARISONS", 1)
    paragraphs = {one.title: one.text for one in methods_paragraphs(findings, SNAPSHOT)}
    row = next(one for one in findings.leaderboard if one.property == "accuracy")
    assert f"mean over 2 corruptions: HMRI {row.hmri:.3f}" in paragraphs["Comparisons"]
    assert "blur: HMRI" not in paragraphs["Comparisons"]
    areas = [curve.area for curve in findings.human_curves if curve.property == "accuracy"]
    assert f"between {min(areas):.3f}" in paragraphs["Curves"] and f"and {max(areas):.3f}" in paragraphs["Curves"]


def test_a_plan_that_came_late_and_other_tasks_are_told_as_they_are(findings: Findings, plan: FrozenPlan) -> None:
    def text(title: str, found: Findings, design: dict[str, Any] | None = None, **more: Any) -> str:
        configuration = {**SNAPSHOT["configuration"], "design": design or {}}
        told = methods_paragraphs(found, {**SNAPSHOT, "configuration": configuration}, plan, **more)
        return next((one.text for one in told if one.title == title), "")

    assert "frozen when 2,944 answers were stored already" in text("Plan and data", findings, plan_answers=2944)
    assert "frozen before the first answer" in text("Plan and data", findings, plan_answers=0)
    assert "never cropped" not in text("Models", findings)
    assert "never cropped" in text("Models", findings, seen_whole=[WRONG_CLASSIFIER])
    judged = text("Procedure", findings, {"validation": {"new_pictures": 16}})
    assert "without a time limit" in judged and "200 ms" not in judged and "16 categories" not in judged
    assert "question read" not in judged and "instruction" not in judged
    pairs = {"discrimination": {"form": "same-different"}}
    assert "same or different (in comparisons) was chosen" in text("Procedure", findings, pairs)
    assert "16 categories" not in text("Procedure", findings, {**pairs, "main_trials": 0})
    said = text("Discrimination", like(findings, discrimination=[told_apart("blur", "pink_noise")]))
    assert "lies below 0.6" in said
    assert "blur and pink noise: 53 of 104 right, 0.510 [0.410, 0.609]; d′ not determined" in said
    assert said.endswith("; equivalent.")


def test_the_text_quotes_questions_of_a_study_s_own(findings: Findings) -> None:
    judging = {"shows": "Is it a {label}?", "instructions": ["Look.", "Say."]}
    configuration = {**SNAPSHOT["configuration"], "design": {"validation": {}}, "judging": judging}
    told = methods_paragraphs(findings, {**SNAPSHOT, "configuration": configuration})
    said = next(one.text for one in told if one.title == "Procedure")
    assert "The first question read “Is it a [label]?”." in said and "second question" not in said
    assert "2 numbered instructions could be read before the first picture" in said


def test_the_text_says_what_curves_are_the_mean_over_and_which_rise(findings: Findings) -> None:
    def told(found: Findings) -> str:
        return next(one.text for one in methods_paragraphs(found) if one.title == "Curves")

    assert "categories, each of which counts equally" in told(findings) and "Performance rises" not in told(findings)
    curve = findings.human_curves[0]
    rise = Rise(earlier=(0.3, 0.45), later=(0.5, 0.65), rise=0.1, p=0.01, statement="Performance rises: so far.")
    settings = findings.settings
    assert settings is not None
    changed = findings.model_copy(
        update={
            "curves": (curve.model_copy(update={"rise": rise}), *findings.curves[1:]),
            "settings": settings.model_copy(update={"estimand": "answers"}),
        }
    )
    assert "People, accuracy, blur: Performance rises: so far." in told(changed)
    assert "Curves are means over answers" in told(changed)
