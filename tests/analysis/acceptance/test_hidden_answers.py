"""No rule can read whether answers to corrupted pictures were right."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings, strategies as st

from analysis.acceptance.record import SessionRecord
from analysis.labels.files import default_labels
from analysis.labels.space import NO_ANSWER
from tests.analysis.acceptance.records import answer, of_role, row, session, verdict


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False))
def test_order_of_the_rows_does_not_matter(shuffler: random.Random):
    rows = session()
    for entry in of_role(rows, "clean")[:4]:
        answer(entry, "clock")
    mixed = list(rows)
    shuffler.shuffle(mixed)
    assert verdict(mixed) == verdict(rows)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_no_rule_can_read_whether_corrupted_main_answers_were_right(data):
    rows = session()
    changed = [dict(entry) for entry in rows]
    for entry in of_role(changed, "main"):
        entry["correct"] = data.draw(st.booleans())
        entry["category"] = data.draw(st.sampled_from(default_labels().ids))
        if entry["visual_change"] > 0.3:
            entry["response"] = data.draw(st.sampled_from([*default_labels().ids, NO_ANSWER]))
            entry["rt_ms"] = data.draw(st.sampled_from([None, 50.0, 900.0]))
    assert SessionRecord.from_rows(changed) == SessionRecord.from_rows(rows)
    assert verdict(changed) == verdict(rows)


def test_the_record_holds_no_answer_to_a_strongly_corrupted_picture():
    record = SessionRecord.from_rows(session())
    for trial in record.trials:
        if trial.corruption != "none" and trial.role not in ("gold", "negative", "qualification", "practice"):
            assert trial.correct is None and trial.category is None
            if trial.visual_change > 0.3:
                assert trial.response is None and trial.rt_ms is None


@pytest.mark.parametrize(("task", "answer_given"), [("discrimination", "same"), ("abx", "a")])
def test_answers_to_main_comparisons_are_hidden(task, answer_given):
    record = SessionRecord.from_rows([row(0, "main", answer_given, task=task, change=0.1)])
    assert record.trials[0].response is None and record.trials[0].correct is None
