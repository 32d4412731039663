"""Rules on golds: how many may be wrong, over which sessions they count, and which are withdrawn."""

from __future__ import annotations

import dataclasses

import pytest

from analysis.acceptance.golds import Gold, Withdrawal, gold_slack, hard_golds, tally_golds, withdrawal_of
from analysis.acceptance.record import SessionRecord
from analysis.acceptance.rules import judge
from analysis.errors import InvalidInput
from analysis.labels.space import NO_ANSWER
from analysis.study.rules import RuleSet, load_rule_set
from tests.analysis.acceptance.records import VCR, answer, of_role, outcome, row, session, verdict
from tests.labels import label_at


@pytest.mark.parametrize(("wrong", "accepted"), [(0, True), (2, True), (3, False), (8, False)])
def test_six_of_eight_golds(wrong, accepted):
    rows = session()
    for entry in of_role(rows, "gold")[:wrong]:
        answer(entry, "oven" if entry["category"] != "oven" else "knife")
    judged = verdict(rows)
    assert judged.accepted is accepted
    assert ("gold trials failed" in judged.reasons) is not accepted
    found = outcome(judged, "gold trials failed")
    assert (found.value, found.threshold, found.trials) == (8 - wrong, 6, 8)
    assert found.positions == tuple(entry["position"] for entry in of_role(rows, "gold")[:wrong])


@pytest.mark.parametrize(("golds", "right", "accepted"), [(5, 4, True), (5, 3, False), (16, 13, True), (16, 12, False),
                                                          (6, 4, True), (6, 3, False), (7, 5, True), (7, 4, False),
                                                          (15, 12, True), (15, 11, False), (4, 3, True), (4, 2, False),
                                                          (3, 2, True), (3, 1, False), (2, 0, True)])  # fmt: skip
def test_other_numbers_of_golds(golds, right, accepted):
    rows = [entry for entry in session() if entry["role"] != "gold"]
    for number in range(golds):
        category = label_at(number)
        rows.append(row(1000 + number, "gold", category, response=category if number < right else NO_ANSWER))
    judged = verdict(rows)
    assert ("gold trials failed" not in judged.reasons) is accepted


def short_session(wrong, start=0, main=16):
    """16 main or as many as are asked for, 4 clean, 5 golds."""
    roles = ["main"] * main + ["clean"] * 4 + ["gold"] * 5
    rows = [row(start + n, role, label_at(n), change=0.5 * (role == "main")) for n, role in enumerate(roles)]
    for entry in of_role(rows, "gold")[:wrong]:
        answer(entry, "oven" if entry["category"] != "oven" else "knife")
    return SessionRecord.from_rows(rows)


@pytest.mark.parametrize(
    ("wrong", "accepted"),
    [((1,), True), ((2,), False), ((2, 0), True), ((2, 1), False), ((1, 1, 1), True), ((2, 2, 0), False)],
)
def test_golds_of_a_persons_short_sessions_count_together(wrong, accepted):
    records = [short_session(count) for count in wrong]
    for number, record in enumerate(records):
        others = tuple(other for other in records if other is not record)
        judged = judge(dataclasses.replace(record, others=others), VCR)
        assert judged.accepted is accepted
        found = outcome(judged, "gold trials failed")
        assert (found.trials, found.sessions) == (5 * len(wrong), len(wrong))
        assert len(found.positions) == wrong[number], "only this session's trials speak against it"


def test_rules_read_one_session_unless_they_say_more():
    judged = judge(SessionRecord.from_rows(session()), VCR)
    assert {outcome.sessions for outcome in judged.evidence} == {1}


def test_golds_of_a_long_session_stand_for_themselves():
    long, short = SessionRecord.from_rows(session()), short_session(5)
    assert judge(dataclasses.replace(long, others=(short,)), VCR).accepted
    judged = judge(dataclasses.replace(short, others=(long,)), VCR)
    assert not judged.accepted and outcome(judged, "gold trials failed").trials == 5


@pytest.mark.parametrize(("main", "sessions"), [(25, 2), (26, 1)])
def test_a_session_of_thirty_trials_is_short_no_more(main, sessions):
    short, other = short_session(0), short_session(5, main=main)
    judged = judge(dataclasses.replace(short, others=(other,)), VCR)
    assert outcome(judged, "gold trials failed").sessions == sessions
    judged = judge(dataclasses.replace(other, others=(short,)), VCR)
    assert outcome(judged, "gold trials failed").sessions == sessions


def test_a_withdrawn_gold_is_a_clean_trial_like_others():
    rows = [{**entry, "original": f"o{entry['position']}"} for entry in session()]
    wrong = of_role(rows, "gold")[:3]
    for entry in wrong:
        answer(entry, "oven" if entry["category"] != "oven" else "knife")
    before = verdict(rows)
    after = judge(SessionRecord.from_rows(rows, withdrawn={wrong[0]["original"]}), VCR)
    assert before.reasons == ("gold trials failed",) and after.accepted
    found = outcome(after, "gold trials failed")
    assert (found.value, found.threshold, found.trials) == (5, 5, 7)
    assert outcome(after, "many misses").trials == outcome(before, "many misses").trials


def golds_with(*shares, shown=20):
    return [Gold(f"o{n}", "cat", shown=shown, right=round(shown * share)) for n, share in enumerate(shares)]


EASY, TERMS = [0.97] * 8, Withdrawal(under=0.9, after=20)


@pytest.mark.parametrize(
    ("right", "shown", "is_hard"),
    [(18, 20, False), (17, 20, False), (16, 20, True), (0, 19, False), (179, 200, True), (180, 200, False)],
)
def test_a_gold_is_hard_when_too_few_name_it_and_it_is_no_chance(right, shown, is_hard):
    # At 3 % wrong elsewhere, three of 20 wrong come about in 2 % of cases, four in 0.3 %.
    gold = Gold("hard", "dog", shown=shown, right=right)
    assert hard_golds([*golds_with(*EASY, shown=100), gold], TERMS) == ([gold] if is_hard else [])


def test_where_all_golds_look_hard_the_pictures_are_not_to_blame():
    careless = golds_with(*[0.8] * 8, shown=200)
    assert hard_golds(careless, TERMS) == []
    assert hard_golds([*careless, Gold("hard", "dog", shown=200, right=120)], TERMS)[0].original == "hard"
    assert hard_golds([Gold("only", "dog", shown=200, right=0)], TERMS) == []


def test_the_chance_of_a_gold_as_bad_is_that_of_the_binomial():
    scipy_stats = pytest.importorskip("scipy.stats")
    for others, shown in ((0.9, 60), (0.95, 60), (0.95, 400)):
        rest = golds_with(others, others, shown=1000)
        hard = [
            right
            for right in range(shown)
            if right / shown < 0.9 and hard_golds([*rest, Gold("x", "cat", shown=shown, right=right)], TERMS)
        ]
        expected = [
            right
            for right in range(shown)
            if right / shown < 0.9 and scipy_stats.binom.sf(shown - right - 1, shown, 1 - others) < 0.01
        ]
        assert [right for right in hard if right <= max(expected)] == expected
        assert len(hard) == len(expected)


def test_golds_are_counted_over_those_who_would_pass_without_this_one():
    tallied = tally_golds(
        [
            (2, "a", "cat", True), (0, "b", "dog", True), (0, "b", "dog", False), (-1, "b", "dog", False),
            (-1, "a", "cat", True), (-2, "b", "dog", False), (None, "a", "cat", False), (1, "c", "car", True),
        ]
    )  # fmt: skip
    assert [(gold.original, gold.shown, gold.right) for gold in tallied] == [("b", 3, 1), ("a", 1, 1), ("c", 1, 1)]


def test_who_fails_elsewhere_says_nothing_about_golds():
    evidence = [{"reason": "gold trials failed", "passed": False, "value": 5, "threshold": 6}]
    assert gold_slack(["gold trials failed"], evidence, VCR) == -1
    assert gold_slack(["gold trials failed", "timing"], evidence, VCR) is None
    assert gold_slack([], [{**evidence[0], "passed": None, "threshold": 0}], VCR) == float("inf")
    rows = session()
    for entry in of_role(rows, "gold")[:2]:
        answer(entry, "oven" if entry["category"] != "oven" else "knife")
    judged = verdict(rows)
    assert gold_slack(judged.reasons, [outcome.to_dict() for outcome in judged.evidence], VCR) == 0


def test_only_rules_that_say_so_withdraw_golds():
    assert withdrawal_of(VCR) == TERMS
    assert withdrawal_of(load_rule_set("imagenet-d")) is None and withdrawal_of(load_rule_set("none")) is None


@pytest.mark.parametrize(
    "terms", [{"withdraw_under": 0.9}, {"withdraw_after": 20}, {"withdraw_under": 90, "withdraw_after": 9}]
)
def test_unusable_terms_of_withdrawal_are_refused(terms):
    content = VCR.to_dict()
    golds = next(rule for rule in content["rule"] if rule["settings"].get("role") == "gold")
    kept = {name: value for name, value in golds["settings"].items() if not name.startswith("withdraw")}
    golds["settings"] = {**kept, **terms}
    with pytest.raises(InvalidInput, match="withdraw_under"):
        RuleSet.from_dict(content)


def test_golds_that_were_set_aside_leave_the_denominator():
    rows = session()
    golds = [entry for entry in rows if entry["role"] == "gold"]
    for entry in golds[:3]:
        entry.update(response=NO_ANSWER, correct=False)
    failed = outcome(verdict(rows), "gold trials failed")
    assert (failed.passed, failed.value, failed.trials) == (False, 5, 8)
    for entry in golds[:3]:
        entry["set_aside"] = True
    found = outcome(verdict(rows), "gold trials failed")
    assert (found.passed, found.value, found.trials) == (True, 5, 5)
