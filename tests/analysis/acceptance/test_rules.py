"""Every rule on the record of one session."""

from __future__ import annotations

import pytest

from analysis.acceptance.record import SessionRecord
from analysis.acceptance.rules import FUNCTIONS
from analysis.labels.space import NO_ANSWER
from analysis.study.rules import RunSettings
from tests.analysis.acceptance.records import VCR, answer, of_role, outcome, row, session, verdict
from tests.labels import label_at, of_the_sixteen


def test_an_attentive_session_is_accepted_without_a_flag():
    judged = verdict(session())
    assert judged.accepted and judged.reasons == () and judged.flags == ()
    assert (judged.rule_set, judged.rule_version) == ("vcr", VCR.version)
    assert len(judged.evidence) == len(VCR.rules)


@pytest.mark.parametrize(("changed", "flagged"), [(1, False), (2, True), (4, True)])
def test_more_than_one_changed_answer_of_four_pairs_is_a_flag(changed, flagged):
    rows = session()
    for entry in of_role(rows, "consistency_second")[:changed]:
        answer(entry, "truck")
    judged = verdict(rows)
    assert judged.accepted
    assert ("inconsistent answers" in judged.flags) is flagged


def test_a_pair_with_a_miss_is_no_changed_answer():
    rows = session()
    for entry in of_role(rows, "consistency_second")[:1] + of_role(rows, "consistency_first")[-1:]:
        answer(entry, NO_ANSWER)
    found = outcome(verdict(rows), "inconsistent answers")
    assert (found.passed, found.value, found.trials) == (None, 0, 4)


def test_two_wrong_but_equal_answers_are_consistent():
    rows = session()
    for role in ("consistency_first", "consistency_second"):
        for entry in of_role(rows, role):
            answer(entry, "truck")
    assert outcome(verdict(rows), "inconsistent answers").value == 0


def test_timing_is_a_gate_on_the_share_of_bad_trials():
    rows = session()
    after = [entry for entry in rows if entry["role"] != "practice"]
    for entry in after[: int(0.2 * len(after))]:
        entry["timing_ok"] = False
    assert verdict(rows).accepted
    for entry in after[: int(0.2 * len(after)) + 1]:
        entry["timing_ok"] = False
    assert verdict(rows).reasons == ("timing",)


def test_missing_timing_is_a_flag_and_no_gate():
    rows = session()
    for entry in rows:
        entry["timing_ok"] = None
    judged = verdict(rows)
    assert judged.accepted and judged.flags == ("no timing record",)


def test_one_key_answers_fast_answers_and_misses():
    rows = session()
    for entry in rows:
        if entry["role"] in ("clean", "consistency_first", "consistency_second"):
            answer(entry, "dog")
        if entry["role"] == "main" and entry["visual_change"] <= 0.3:
            answer(entry, "dog")
    assert "one-key answers" in verdict(rows).reasons
    rows = session()
    for entry in rows:
        entry["rt_ms"] = 200.0
    assert verdict(rows).reasons == ("too fast",)
    rows = session()
    for entry in of_role(rows, "clean") + of_role(rows, "negative"):
        answer(entry, NO_ANSWER)
        entry["rt_ms"] = None
    judged = verdict(rows)
    assert judged.accepted and "many misses" in judged.flags


def test_a_run_of_one_answer_and_few_answers_are_flags():
    rows = session()
    for entry in of_role(rows, "clean"):
        answer(entry, "clock")
    judged = verdict(rows)
    assert judged.accepted and "long run of one answer" in judged.flags
    rows = session()
    for number, entry in enumerate(rows):
        if entry["role"] in ("clean", "negative") or (entry["role"] == "main" and entry["visual_change"] <= 0.3):
            answer(entry, ("dog", "cat", "bear")[number % 3])
    found = outcome(
        verdict([r for r in rows if r["role"] not in ("gold",)] + session()[15:16]), "few different answers"
    )
    assert found.trials < 48 and found.passed is None


@pytest.mark.parametrize(("in_a_row", "passed"), [(8, True), (9, False)])
def test_a_run_is_too_long_from_one_answer_more_than_allowed(in_a_row, passed):
    answers = ["dog"] * in_a_row + ["cat", "bear"] * 8
    rows = [row(number, "clean", label_at(number), response=response) for number, response in enumerate(answers)]
    found = FUNCTIONS["run"](SessionRecord.from_rows(rows), RunSettings(longest=8, minimum=10))
    assert (found.passed, found.value, found.threshold, found.trials) == (passed, in_a_row, 8, in_a_row + 16)
    assert found.positions == (() if passed else tuple(range(9)))


def test_entropy_by_hand():
    rows = [row(number, "clean", label_at(number), response=("dog", "cat")[number % 2]) for number in range(48)]
    found = outcome(verdict(rows), "few different answers")
    assert found.value == pytest.approx(1.0) and found.passed is False


def test_negatives_are_a_flag_that_needs_six():
    rows = session()
    for entry in of_role(rows, "negative")[:2]:
        answer(entry, "knife" if entry["category"] in ("bear", "bird", "cat", "dog", "elephant") else "cat")
    judged = verdict(rows)
    assert judged.accepted and "animals and artefacts confused" in judged.flags
    few = [entry for entry in rows if entry["role"] != "negative"] + of_role(rows, "negative")[:5]
    assert outcome(verdict(few), "animals and artefacts confused").passed is None


@of_the_sixteen
def test_a_wrong_answer_of_the_same_group_is_no_failed_negative():
    rows = session()
    for entry in of_role(rows, "negative"):
        answer(entry, "dog" if entry["category"] in ("bear", "bird", "cat", "dog", "elephant") else "oven")
    assert outcome(verdict(rows), "animals and artefacts confused").value == 0


@pytest.mark.parametrize(
    ("task", "right", "wrong", "reason"),
    [("discrimination", "same", "different", "plain pairs failed"), ("abx", "a", "b", "plain ABX trials failed")],
)
def test_plain_comparisons_gate_the_discrimination_block(task, right, wrong, reason):
    rows = session()
    for number in range(4):
        answer_given = right if number < 2 else wrong
        rows.append(row(2000 + number, "negative", right, response=answer_given, task=task, change=0.6))
    judged = verdict(rows)
    assert judged.reasons == (reason,)
    assert outcome(judged, "animals and artefacts confused").trials == 6


def test_qualification_gates_when_it_was_asked():
    rows = session() + [row(3000 + n, "qualification", label_at(n), response="dog") for n in range(16)]
    assert "qualification failed" in verdict(rows).reasons
    assert outcome(verdict(session()), "qualification failed").passed is None


def set_aside(entry) -> None:
    entry.update(set_aside=True, response=NO_ANSWER, correct=False, rt_ms=None, timing_ok=None)


def test_a_trial_that_was_set_aside_is_read_by_no_rule_but_those_of_timing_and_fetching():
    rows = session()
    after = [entry for entry in rows if entry["role"] != "practice"]
    for entry in [entry for entry in after if entry["role"] in ("main", "clean")][: int(0.2 * len(after))]:
        set_aside(entry)
    judged = verdict(rows)
    assert judged.accepted and judged.flags == ()
    aside = [trial for trial in SessionRecord.from_rows(rows).trials if trial.is_set_aside]
    assert {(trial.response, trial.correct, trial.rt_ms) for trial in aside} == {(None, None, None)}


def test_whoever_looks_away_from_more_than_a_fifth_of_the_trials_fails_by_timing():
    """Else nothing would be left that a careless session could fail."""
    rows = session()
    for entry in rows:
        if entry["role"] != "practice":
            set_aside(entry)
    found = outcome(verdict(rows), "timing")
    assert verdict(rows).reasons == ("timing",)
    assert (found.value, found.trials) == (1.0, sum(entry["role"] != "practice" for entry in rows))


def test_a_qualification_was_decided_by_all_its_answers():
    entry = {**row(0, "qualification", "dog", response=NO_ANSWER), "set_aside": True}
    (trial,) = SessionRecord.from_rows([entry]).trials
    assert trial.is_set_aside is False and trial.correct is False
