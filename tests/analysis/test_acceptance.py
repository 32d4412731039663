from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import given, settings, strategies as st

from analysis.acceptance import (
    RULE_SETS,
    Gold,
    RuleSet,
    SessionRecord,
    Withdrawal,
    gold_slack,
    hard_golds,
    judge,
    load_rule_set,
    read_rule_set,
    tally_golds,
    withdrawal_of,
)
from analysis.acceptance.rules import FUNCTIONS
from analysis.categories import CATEGORIES, NO_ANSWER
from analysis.errors import InvalidInput, UnknownName
from analysis.spec.rules import RunSettings

VCR = load_rule_set("vcr")


def row(position, role, category, *, response=None, change=0.0, rt_ms=800.0, timing_ok=True, stimulus=None, task=None):
    response = category if response is None else response
    return {
        "position": position,
        "task": task or "categorisation",
        "role": role,
        "stimulus": stimulus or f"s{position}",
        "category": category,
        "corruption": "none" if change == 0 else "gaussian_noise",
        "visual_change": change,
        "response": response,
        "correct": response == category,
        "rt_ms": None if response == NO_ANSWER else rt_ms,
        "timing_ok": timing_ok,
    }


def session(**changes):
    """An attentive person's session: 10 practice, 40 main, 9 clean, 8 golds, 6 negatives, 4 pairs."""
    rows = []
    roles = ["practice"] * 10 + (["main"] * 5 + ["gold"]) * 8 + ["clean"] * 9 + ["negative"] * 6
    for number, role in enumerate(roles):
        change = (number % 20) / 20 + 0.02 if role == "main" else 0.0
        rows.append(row(number, role, CATEGORIES[number % 16], change=change))
    for number in range(4):
        for role in ("consistency_first", "consistency_second"):
            rows.append(row(len(rows), role, CATEGORIES[3 * number], stimulus=f"pair{number}"))
    for name, change_row in changes.items():
        role = name
        for entry in rows:
            if entry["role"] == role:
                change_row(entry)
    return rows


def verdict(rows, rules=VCR):
    return judge(SessionRecord.from_rows(rows), rules)


def answer(entry, response):
    entry.update(response=response, correct=response == entry["category"])


def of_role(rows, role):
    return [entry for entry in rows if entry["role"] == role]


def outcome(judged, reason):
    return next(found for found in judged.evidence if found.reason == reason)


def test_an_attentive_session_is_accepted_without_a_flag():
    judged = verdict(session())
    assert judged.accepted and judged.reasons == () and judged.flags == ()
    assert (judged.rule_set, judged.rule_version) == ("vcr", VCR.version)
    assert len(judged.evidence) == len(VCR.rules)


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
        category = CATEGORIES[number % 16]
        rows.append(row(1000 + number, "gold", category, response=category if number < right else NO_ANSWER))
    judged = verdict(rows)
    assert ("gold trials failed" not in judged.reasons) is accepted


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


def short_session(wrong, start=0):
    """16 main, 4 clean, 5 golds."""
    roles = ["main"] * 16 + ["clean"] * 4 + ["gold"] * 5
    rows = [row(start + n, role, CATEGORIES[n % 16], change=0.5 * (role == "main")) for n, role in enumerate(roles)]
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
    rows = [row(number, "clean", CATEGORIES[number % 16], response=response) for number, response in enumerate(answers)]
    found = FUNCTIONS["run"](SessionRecord.from_rows(rows), RunSettings(longest=8, minimum=10))
    assert (found.passed, found.value, found.threshold, found.trials) == (passed, in_a_row, 8, in_a_row + 16)
    assert found.positions == (() if passed else tuple(range(9)))


def test_entropy_by_hand():
    rows = [row(number, "clean", CATEGORIES[number % 16], response=("dog", "cat")[number % 2]) for number in range(48)]
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
    rows = session() + [row(3000 + n, "qualification", CATEGORIES[n], response="dog") for n in range(16)]
    assert "qualification failed" in verdict(rows).reasons
    assert outcome(verdict(session()), "qualification failed").passed is None


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
        entry["category"] = data.draw(st.sampled_from(CATEGORIES))
        if entry["visual_change"] > 0.3:
            entry["response"] = data.draw(st.sampled_from([*CATEGORIES, NO_ANSWER]))
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


def test_none_accepts_everything_and_imagenet_d_wants_every_check():
    rows = session()
    for entry in rows:
        answer(entry, "dog")
    assert verdict(rows, load_rule_set("none")).accepted
    screens = [row(n, "main", "chair", response="no-no", task="validation", change=0.0) for n in range(16)]
    screens += [
        row(16, "gold", "yes-yes", task="validation"),
        row(17, "negative", "no-no", task="validation"),
    ]
    for number in range(2):
        screens.append(row(20 + number, "consistency_first", "yes-yes", task="validation", stimulus=f"p{number}"))
        screens.append(row(30 + number, "consistency_second", "yes-yes", task="validation", stimulus=f"p{number}"))
    rules = load_rule_set("imagenet-d")
    assert verdict(screens, rules).accepted
    answer(screens[-1], "yes-no")
    assert verdict(screens, rules).reasons == ("inconsistent answers",)
    answer(screens[17], "yes-no")
    assert verdict(screens, rules).reasons == ("negative trials failed", "inconsistent answers")


@pytest.mark.parametrize("name", RULE_SETS)
def test_shipped_rule_sets_say_what_they_read_and_catch_and_survive_a_round_trip(name):
    rules = load_rule_set(name)
    assert RuleSet.from_dict(rules.to_dict()) == rules
    assert all(rule.reads and rule.honest and rule.careless and rule.reason for rule in rules.rules)


def test_a_lab_brings_its_own_file(tmp_path):
    path = tmp_path / "lab.toml"
    path.write_text(
        'name = "lab"\nversion = "3"\ndescription = "ours"\n[[rule]]\nkind = "fast"\nseverity = "gate"\n'
        'reason = "too fast"\nreads = "all"\nhonest = "0"\ncareless = "most"\n'
        "settings = { under_ms = 500, most = 0.0, minimum = 1 }\n"
    )
    rows = session()
    rows[15]["rt_ms"] = 450.0  # a gold trial
    judged = verdict(rows, read_rule_set(path))
    assert (judged.rule_set, judged.rule_version, judged.reasons) == ("lab", "3", ("too fast",))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name = 1", "line 1: name must be text, not 1"),
        (
            'name = "a"\nversion = "1"\ndescription = "d"\n[[rule]]\nkind = "fast"',
            r"line 4: \[rule.1\] lacks 'careless'",
        ),
        ("name =", "no valid TOML"),
    ],
)
def test_a_broken_file_is_refused_with_its_name(tmp_path, text, sentence):
    path = tmp_path / "lab.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=f"lab.toml.*{sentence}"):
        read_rule_set(path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "quick"}, "no kind of rule 'quick'"),
        ({"severity": "wall"}, "rule.1.severity must be one of gate, flag"),
        ({"settings": {"under_ms": 1, "most": 0.1}}, r"\[rule.1.settings\] lacks 'minimum'"),
        ({"settings": {"under_ms": 1, "most": 0.1, "minimum": 1, "x": 1}}, "no setting 'x'"),
        (
            {"settings": {"under_ms": "a", "most": 0.1, "minimum": 1}},
            "rule.1.settings.under_ms must be a number",
        ),
    ],
)
def test_a_rule_that_cannot_be_applied_is_refused(changes, sentence):
    rule = next(rule for rule in VCR.to_dict()["rule"] if rule["kind"] == "fast")
    with pytest.raises(InvalidInput, match=sentence):
        RuleSet.from_dict({"name": "x", "version": "1", "description": "d", "rule": [{**rule, **changes}]})


def test_unknown_rule_sets_are_named():
    with pytest.raises(UnknownName, match="there are: imagenet-d, none, vcr"):
        load_rule_set("vrc")


def test_a_path_is_no_name_of_a_rule_set(tmp_path):
    path = tmp_path / "lab.toml"
    path.write_text('name = "lab"\nversion = "3"\ndescription = "ours"\n')
    for name in (path, tmp_path / "nothing.toml"):
        with pytest.raises(UnknownName, match=r"^There is no rule set '.*'; there are: imagenet-d, none, vcr\.$"):
            load_rule_set(str(name))


def test_the_error_shares_in_vcr_are_true():
    """8 golds, pass 6, and the other shares that the file states: exact binomials."""
    from math import comb

    def fails(n, m, p):
        return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(m))

    half = 0.5 + 0.5 / 16
    assert fails(8, 6, 0.92) == pytest.approx(0.021, abs=0.001) and fails(8, 6, 0.97) == pytest.approx(0.001, abs=5e-4)
    assert 1 - fails(8, 6, half) == pytest.approx(0.17, abs=0.03)
    assert fails(5, 4, 0.92) == pytest.approx(0.054, abs=0.001) and fails(5, 4, 0.97) == pytest.approx(0.009, abs=0.001)
    assert fails(16, 13, 0.97) < 0.01 and fails(16, 13, 0.92) == pytest.approx(0.034, abs=0.002)
    assert 1 - fails(4, 3, 0.5) == pytest.approx(0.3125) and 1 - fails(16, 13, 0.5) == pytest.approx(0.0106, abs=1e-3)


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
