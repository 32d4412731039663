from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from analysis.errors import TableRefused
from analysis.findings.analysing import analyse
from analysis.findings.discrimination import discrimination_entries
from analysis.findings.model.curves import Discrimination


def entries(frame: pd.DataFrame) -> list[Discrimination]:
    return discrimination_entries(
        frame,
        d_prime_margin={"same-different": 1.0, "abx": 1.0},
        observer_model="differencing",
        level=0.95,
    )


def pairs(rows: list[tuple[str, str, bool]], **columns: object) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["corruption", "second_corruption", "correct"])
    return frame.assign(
        **{
            "participant": [f"P-{k % 7}" for k in range(len(frame))],
            "session": "S",
            "position": np.arange(len(frame)),
            "task": "discrimination",
            "role": "main",
            "accepted": True,
            "response": "same",
            **columns,
        }
    )


def test_one_pair_in_either_order_with_its_same_pairs() -> None:
    rows = [("b", "a", True), ("a", "b", False), ("a", "a", True), ("b", "b", True)] * 10
    found = entries(pairs(rows))
    assert len(found) == 1
    assert found[0].pair == ("a", "b") and found[0].trials == 40 and found[0].correct == 30
    assert found[0].hit_rate == 0.5 and found[0].false_alarm_rate == 0.0
    assert found[0].verdict == "different"


def test_same_pairs_are_shared_out_so_that_each_trial_counts_once() -> None:
    rows = [("a", "b", True)] * 10 + [("a", "c", True)] * 10 + [("a", "a", True)] * 12 + [("c", "c", False)] * 8
    found = entries(pairs(rows))
    assert {entry.pair: entry.trials for entry in found} == {("a", "b"): 20, ("a", "c"): 20}
    assert sum(entry.trials for entry in found) == 40


def test_sentinels_other_tasks_and_rejected_sessions_stay_out() -> None:
    base = [("a", "b", True), ("a", "a", False)] * 20
    frame = pd.concat(
        [
            pairs(base),
            pairs(base, role="gold"),
            pairs(base, accepted=False),
            pairs(base, task="categorisation"),
            pairs([("z", "z", True)]),
        ]
    )
    found = entries(frame)
    assert [(entry.trials, entry.correct) for entry in found] == [(40, 20)]


def test_several_pairs_are_corrected_together() -> None:
    # 30 hits and 21 false alarms of 50 alone have p = 0.036; of two such tests none is below 0.05.
    rows = [
        row
        for one, other in (("a", "b"), ("c", "d"))
        for k in range(50)
        for row in ((one, other, k < 30), (one, one, k >= 21))
    ]
    found = entries(pairs(rows, participant="P"))
    assert [entry.p < 0.05 for entry in found] == [True, True]
    assert [entry.different for entry in found] == [False, False]


def test_nothing_asked_gives_nothing_and_a_missing_column_is_named() -> None:
    assert entries(pairs([], task="categorisation")) == []
    with pytest.raises(TableRefused, match="second_corruption"):
        entries(pairs([("a", "b", True)]).drop(columns="second_corruption"))


def test_without_a_wrong_answer_the_sensitivity_has_no_upper_bound_and_json_no_infinity() -> None:
    rows = [("a", "b", True), ("a", "a", True)] * 8
    found = entries(pairs(rows))[0]
    assert found.d_prime_upper is None and found.d_prime is None and found.verdict == "different"
    assert found.d_prime_interval is not None and found.d_prime_interval[0] > 1 and found.d_prime_interval[1] is None
    json.dumps(found.to_json(), allow_nan=False)
    only_different = entries(pairs([("a", "b", True)] * 8))[0]
    assert only_different.d_prime is None


def triplets(rows: list[tuple[str, str, str, bool]], **columns: object) -> pd.DataFrame:
    frame = pairs([(a, b, right) for a, b, _, right in rows], **{"task": "abx", **columns})
    return frame.assign(third_corruption=[x for _, _, x, _ in rows])


def test_abx_trials_name_their_comparison_by_a_and_b() -> None:
    rows = [("a", "b", "a", True), ("a", "b", "b", True), ("b", "a", "b", True), ("b", "a", "a", False)] * 10
    found = entries(triplets(rows))
    assert [(entry.pair, entry.form, entry.trials, entry.correct) for entry in found] == [(("a", "b"), "abx", 40, 30)]
    # "B" where X goes with B: 10 of 20; where X goes with A: none of 20.
    assert (found[0].hit_rate, found[0].false_alarm_rate) == (0.5, 0.0)
    assert found[0].margin_d_prime < 1.1 < found[0].d_prime


def test_both_forms_stand_beside_each_other() -> None:
    same_different = pairs([("a", "b", True), ("a", "a", False)] * 10)
    frame = pd.concat([same_different, triplets([("a", "b", "a", True)] * 10)])
    found = entries(frame)
    assert [(entry.form, entry.trials) for entry in found] == [("same-different", 20), ("abx", 10)]
    with pytest.raises(TableRefused, match="third_corruption"):
        entries(frame.drop(columns="third_corruption"))


def guessed(people: int, trials: int) -> list[tuple[str, str, bool]]:
    """Each says "different" to a quarter of either kind of pair."""
    return [
        row
        for _ in range(people)
        for k in range(trials // 2)
        for row in (("a", "b", k % 4 == 0), ("a", "a", k % 4 != 0))
    ]


def test_equivalent_takes_plain_pairs_of_the_same_sessions() -> None:
    people = [f"P-{k}" for k in range(80) for _ in range(40)]
    main = pairs(guessed(80, 40), participant=people)
    alone = entries(main)[0]
    assert alone.d_prime_upper is not None and alone.d_prime_upper < 1.0
    assert alone.verdict == "undecided" and alone.assay is None
    assert alone.verdict_words == "undecided: without plain pairs nothing says what this crowd could have shown"
    who = [f"P-{k}" for k in range(80) for _ in range(16)]
    of_plain = [("p", "q", True), ("p", "p", True)] * 640
    plain = pairs(of_plain, participant=who, role="negative")
    found = entries(pd.concat([main, plain]))[0]
    assert found.verdict == found.verdict_words == "equivalent" and found.trials == alone.trials
    assert found.assay is not None and found.assay.correct == 1280 and found.assay.careless == 0.0
    assert found.other_model is not None and found.other_model.model == "independent"
    # Plain differences found and missed in turn.
    guesses = pairs([("p", "q", k % 2 == 0) for k in range(640)] + [("p", "p", k % 2 == 0) for k in range(640)])
    blind = entries(pd.concat([main, guesses.assign(participant=who, role="negative")]))[0]
    assert blind.verdict_words == "undecided: this crowd could not have shown it"
    json.dumps(found.to_json(), allow_nan=False)


def test_a_table_may_leave_out_the_third_picture_of_a_pair() -> None:
    """Tables of both tasks have a column for it, which is empty where two pictures were compared."""
    shown = {"stimulus": "one", "second_stimulus": "two", "third_stimulus": None}
    rows = [("b", "a", True), ("a", "b", False), ("a", "a", True), ("b", "b", True)] * 10
    (found,) = entries(pairs(rows, **shown))
    assert found.trials == 40


def test_pairs_that_were_set_aside_are_in_no_test() -> None:
    base = [("a", "b", True), ("a", "a", False)] * 20
    frame = pd.concat([pairs(base, set_aside=False), pairs(base, set_aside=True)], ignore_index=True)
    found = analyse(frame.assign(original="o", stimulus="s", condition="", visual_change=0.5), study="s", seed=1)
    assert [entry.trials for entry in found.discrimination] == [40]
    assert found.trials is not None and found.trials.set_aside == 40


def shown(rows: list[tuple[str, str, bool]], **columns: object) -> pd.DataFrame:
    """Trials whose pictures nobody else saw."""
    frame = pairs(rows, **columns)
    return frame.assign(
        stimulus=[f"s{k}" for k in range(len(frame))], second_stimulus=[f"t{k}" for k in range(len(frame))]
    )


def test_the_published_test_stands_beside_and_holm_is_of_those_that_have_a_p() -> None:
    rows = [("a", "b", True), ("a", "a", True), ("a", "b", False), ("a", "a", True)] * 5
    rows += [("c", "d", True), ("c", "c", True), ("c", "d", True), ("d", "d", False)] * 5
    rows += [("e", "f", True), ("e", "e", True)] * 5
    frame = shown(rows)
    seen = frame["corruption"].isin(["e", "f"])
    frame.loc[seen, ["stimulus", "second_stimulus"]] = ["s", "t"]
    found = {entry.pair: entry.published for entry in entries(frame)}
    # 15 of 20: 2 * (1 + 20 + 190 + 1,140 + 4,845 + 15,504) of 2^20 ways; the third pair has no p and takes no part.
    p = 2 * 21_700 / 2**20
    assert found["a", "b"].p == found["c", "d"].p == pytest.approx(p)
    assert found["a", "b"].p_holm == pytest.approx(2 * p)
    assert found["e", "f"].share == 1.0 and found["e", "f"].p is None and found["e", "f"].p_holm is None
    assert "several people saw 1 of 1 pairs of pictures" in found["e", "f"].withheld


def test_no_verdict_rests_on_the_published_test_and_a_large_p_is_never_called_alike() -> None:
    rng = np.random.default_rng(3)
    alike = shown([("a", "b" if k % 2 else "a", bool(rng.random() < 0.5)) for k in range(400)])
    (entry,) = entries(alike)
    assert entry.published is not None and entry.published.p > 0.05
    assert entry.verdict == "undecided"
    said = entry.published.said
    assert said.startswith("binomial test as published: ") and f"p = {entry.published.p:.2g}" in said
    assert not any(word in said for word in ("alike", "similar", "equivalent", "same", "significant"))
    again = Discrimination.model_validate_json(json.dumps(entry.to_json()))
    assert again == entry
    without = Discrimination.model_validate({k: v for k, v in entry.to_json().items() if k != "published"})
    assert without.published is None
