"""What the rules of ImageNet-D catch, measured on simulated sessions: the shares that the rule set states."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.acceptance.record import SessionRecord
from analysis.acceptance.rules import judge
from analysis.study.rules import load_rule_set
from analysis.study.validation import IS_NONE, IS_ONE, judgement

SESSIONS = 6000
RULES = load_rule_set("imagenet-d")


def trial(position, role, response, *, correct=None, stimulus=None, visual_change=0.0, rt_ms=5000.0):
    return {
        "position": position,
        "task": "validation",
        "role": role,
        "stimulus": stimulus or f"s{position}",
        "category": "cat",
        "corruption": "none" if visual_change == 0 else "gaussian_blur",
        "visual_change": visual_change,
        "response": response,
        "correct": correct,
        "rt_ms": rt_ms,
        "timing_ok": None,
    }


def session(answer):
    """Twenty screens; `answer(truth)` gives the pair of answers of a person where the truth is IS_ONE or IS_NONE."""
    rows = [trial(position, "main", answer(IS_ONE)) for position in range(14)]
    gold, negative = answer(IS_ONE), answer(IS_NONE)
    rows.append(trial(14, "gold", gold, correct=gold == IS_ONE))
    rows.append(trial(15, "negative", negative, correct=negative == IS_NONE))
    for pair in range(2):
        rows.append(trial(16 + pair, "consistency_first", answer(IS_ONE), stimulus=f"twice-{pair}"))
        rows.append(trial(18 + pair, "consistency_second", answer(IS_ONE), stimulus=f"twice-{pair}"))
    return SessionRecord.from_rows(rows)


def failing(answer, sessions=SESSIONS):
    """Share of sessions by failed rule, and of all that are excluded."""
    verdicts = [judge(session(answer), RULES) for _ in range(sessions)]
    shares = {
        reason: np.mean([reason in verdict.reasons for verdict in verdicts])
        for reason in ("gold trials failed", "negative trials failed", "inconsistent answers")
    }
    return shares, np.mean([not verdict.accepted for verdict in verdicts])


def wrong_with(probability, rng):
    def answer(truth):
        shows, usable = (part == "yes" for part in truth.split("-"))
        return judgement(shows ^ (rng.random() < probability), usable ^ (rng.random() < probability))

    return answer


def near(share, expected):
    assert share == pytest.approx(expected, abs=4 * np.sqrt(0.25 / SESSIONS))


def test_honest_people_with_five_percent_wrong_answers():
    shares, excluded = failing(wrong_with(0.05, np.random.default_rng(1)))
    near(shares["gold trials failed"], 1 - 0.95**2)
    near(shares["negative trials failed"], 1 - 0.95**2)
    near(shares["inconsistent answers"], 1 - (0.95**2 + 0.05**2) ** 4)
    # The published figure for "both questions count" (reference: 45.4 %).
    near(excluded, 0.454)


def test_honest_people_with_one_percent_wrong_answers():
    shares, excluded = failing(wrong_with(0.01, np.random.default_rng(2)))
    near(shares["gold trials failed"], 0.02)
    near(shares["inconsistent answers"], 0.077)
    near(excluded, 0.113)


def test_guessers_and_yes_sayers():
    shares, excluded = failing(wrong_with(0.5, np.random.default_rng(3)))
    near(shares["gold trials failed"], 0.75)
    near(shares["inconsistent answers"], 15 / 16)
    near(excluded, 1 - 1 / 256)
    shares, excluded = failing(lambda truth: IS_ONE, sessions=1)
    assert shares == {"gold trials failed": 0, "negative trials failed": 1, "inconsistent answers": 0} and excluded == 1


def test_clicking_through_raises_a_flag_and_is_no_gate():
    record = SessionRecord.from_rows([trial(position, "main", IS_ONE, rt_ms=700.0) for position in range(14)])
    verdict = judge(record, RULES)
    assert verdict.accepted and verdict.flags == ("too fast",)
    assert not judge(SessionRecord.from_rows([trial(p, "main", IS_ONE, rt_ms=2500.0) for p in range(14)]), RULES).flags


def test_no_rule_sees_what_was_answered_to_new_pictures():
    record = SessionRecord.from_rows([trial(0, "main", IS_NONE), trial(1, "main", IS_NONE, visual_change=0.8)])
    assert [shown.response for shown in record.trials] == [None, None]
    assert [shown.rt_ms for shown in record.trials] == [5000.0, None]


def test_a_changed_answer_to_a_strongly_changed_picture_is_no_inconsistency():
    rows = [
        trial(0, "consistency_first", IS_ONE, stimulus="a", visual_change=0.7),
        trial(1, "consistency_second", IS_NONE, stimulus="a", visual_change=0.7),
    ]
    outcome = next(o for o in judge(SessionRecord.from_rows(rows), RULES).evidence if o.kind == "consistency")
    assert outcome.passed is None
    rows = [{**row, "visual_change": 0.2} for row in rows]
    outcome = next(o for o in judge(SessionRecord.from_rows(rows), RULES).evidence if o.kind == "consistency")
    assert outcome.passed is False and outcome.positions == (1,)


def test_one_answer_of_the_two_changed_is_a_change():
    rows = [
        trial(0, "consistency_first", "yes-yes", stimulus="a"),
        trial(1, "consistency_second", "yes-no", stimulus="a"),
    ]
    assert judge(SessionRecord.from_rows(rows), RULES).reasons == ("inconsistent answers",)
