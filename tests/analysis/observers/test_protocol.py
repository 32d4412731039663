"""The frozen protocol, and the paragraph that follows from it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.observers.methods import methods_text, warnings_of
from analysis.observers.protocol import VLM_2026, VLM_2026_THINKING, AskProtocol
from analysis.observers.questions import WORDINGS, AskPlan
from analysis.observers.schedule import Schedule
from analysis.observers.summary import summarise
from tests.analysis.observers.pictures import row, stimuli, table
from tests.labels import of_the_sixteen

TEMPLATES = Path(__file__).parents[3] / "templates"


def test_it_is_frozen() -> None:
    """Whoever changes a question, a number or the rule of reading makes another protocol: give it another name."""
    assert VLM_2026.digest == "5072237aa8764ed88c6acb7838aa605312273ac193dd97f6754a19d54798eb21"
    assert VLM_2026_THINKING.digest == "6fdb83ac73b668b47751985775318c873d0b5bc150b2933a7c98ebe6dfab54cc"


def test_the_first_question_is_what_participants_read() -> None:
    page = (TEMPLATES / "participation/run/_instructions_categorisation.html").read_text()
    question = WORDINGS[VLM_2026.plan.wordings[0]].splitlines()[0]
    assert f'data-message="question-categorisation">{{% translate "{question}" %}}' in page


def test_a_run_keeps_it_whole() -> None:
    for one in (VLM_2026, VLM_2026_THINKING, AskProtocol(plan=AskPlan(wordings=("guess",), style="letters"))):
        kept = json.loads(json.dumps(one.to_json()))
        assert AskProtocol.from_json(kept) == one and kept["digest"] == one.digest
    assert AskProtocol().is_custom and AskProtocol().digest != replace(AskProtocol(), temperature=0.5).digest


def test_what_was_changed_after_asking_is_refused() -> None:
    kept = json.loads(json.dumps(VLM_2026.to_json()))
    kept["plan"]["rotated"] = 10
    with pytest.raises(InvalidInput, match="it was changed since the model was asked"):
        AskProtocol.from_json(kept)


@pytest.mark.parametrize("changes", [{"temperature": -1.0}, {"most_tokens": 0}, {"thinking": "maybe"}])
def test_nothing_else_is_a_protocol(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="temperature is 0 or more"):
        AskProtocol(**changes)


def answered(**faults: Any) -> dict[str, Any]:
    """What a run keeps of a model that sees three quarters, with faults of one's choice."""
    schedule = Schedule(VLM_2026.plan, stimuli(320), None, 16)
    rng, rows = np.random.default_rng(0), []
    granted = json.dumps(faults.get("granted", {"max_tokens": 64, "temperature": 1.0, "thinking": "off"}))
    for number, one in enumerate(schedule.everything()):
        seen = one.shown.category if one.shown is not None else ""
        if faults.get("leaks"):
            seen = one.trial.category
        right = faults.get("at_end", 0.75) if one.purpose == "canary" else 0.75
        said = seen if seen and rng.random() < right else str(rng.choice(default_labels().ids))
        if rng.random() < faults.get("first", 0.0):
            said = one.question.labels[0]
        is_refused = rng.random() < faults.get("refuses", 0.0)
        name = "m 2" if faults.get("renamed") and number > 1500 else "m 1"
        rows.append(
            row(
                one.trial.stimulus, "na" if is_refused else said, category=one.trial.category,
                correct=said == one.trial.category and not is_refused, corruption="noise",
                visual_change=one.trial.visual_change, wording=one.question.wording, order=one.question.order,
                repeat=one.question.repeat, shown=" ".join(one.question.labels), purpose=one.purpose,
                pictured=one.shown.stimulus if one.shown is not None else "grey", fingerprint=name, granted=granted,
                finish_reason="stop",
            )
        )  # fmt: skip
    summary = json.loads(json.dumps(asdict(summarise(table(rows)))))
    return {
        "protocol": json.loads(json.dumps(VLM_2026.to_json())), "summary": summary, "is_scored": False,
        "is_repeatable": True,
    }  # fmt: skip


@of_the_sixteen
class TestMethods:
    def test_of_a_model_without_a_fault(self) -> None:
        asking = answered()
        text = methods_text("Big model", asking)
        assert "“Big model” was asked in words by the protocol vlm-2026 (version 1;" in text
        assert f"sha256 {VLM_2026.digest[:16]})" in text
        assert "with no limit of viewing time" in text and "“Which of these did you see?”" in text
        assert "320 stimuli made a trial each" in text and "200 trials were asked 5 times in all" in text
        assert "The place in the list made no difference that chance would not" in text
        assert text.count("no more than by chance") == 2
        assert "50 questions of the beginning were put again at the end" in text
        assert "It called itself m 1 throughout." in text
        for said in ("changed", "refused", "custom", "reproduced", "without a label"):
            assert said not in text
        assert warnings_of(asking) == []

    @pytest.mark.verify
    def test_faults_are_said(self) -> None:
        text = methods_text("m", answered(first=0.3, refuses=0.05))
        assert "of its labels follows place 1 in the list" in text and "refused 0.0" in text
        assert "of the labels that follow the picture" in text
        leaking = answered(leaks=True)
        assert sum("something other than the picture" in one for one in warnings_of(leaking)) == 2
        changed = answered(at_end=0.2, renamed=True)
        assert any("the model changed meanwhile" in one for one in warnings_of(changed))
        assert any("2 names, and it changed after question 1,501" in one for one in warnings_of(changed))
        refused = warnings_of(answered(granted={"max_tokens": 64}))
        assert any("refused a temperature" in one for one in refused)
        assert any("does not take a wish that thinking be off" in one for one in refused)

    def test_a_plan_of_ones_own_is_called_custom(self) -> None:
        asking = answered()
        asking["protocol"] = json.loads(json.dumps(replace(VLM_2026, name="custom", version=0).to_json()))
        text = methods_text("m", {**asking, "is_repeatable": False})
        assert "custom, which is no published protocol" in text and "vlm-2026" not in text
        assert "cannot be reproduced" in text

    def test_runs_of_earlier_versions_have_none(self) -> None:
        assert methods_text("m", {"summary": {}}) == "" and warnings_of({"summary": {}}) == []


@of_the_sixteen
def test_numbers_of_the_summary_leave_controls_out() -> None:
    found = answered(refuses=0.05)["summary"]
    assert found["asked"] == 3310 == sum(found["kinds"].values())
    assert sum(one["asked"] for one in found["by_change"]) == 960, "three wordings of 320 stimuli"
    assert found["by_purpose"] == {
        "trial": 320, "wording": 640, "consistency": 800, "rotation": 1500, "grey": 50, "wrong": 50, "canary": 50,
    }  # fmt: skip
    assert found["rates"]["refusal"]["of"] == 320 == found["right"]["of"]


@of_the_sixteen
def test_what_follows_the_picture_is_given_where_a_place_matters_or_surely_does_not() -> None:
    found = answered()["summary"]
    labels = [one for one in found["by_change"] if one["asked"]]
    assert found["position"]["p_value"] >= 0.01
    assert all(one["from_picture"] == pytest.approx(one["accuracy"]) for one in labels), "nothing is left out"
    first = answered(first=0.3)["summary"]
    a, b = first["right"]["share"], first["position"]["share"]
    assert first["from_picture"] == pytest.approx((a - b / 16) / (1 - b))
    unmeasured = summarise(table([row("a", "dog"), row("b", "cat")]))
    assert unmeasured.from_picture is None and unmeasured.by_change[0].from_picture is None
