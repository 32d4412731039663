from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from analysis.design.catalogue import Catalogue, StimulusRow
from analysis.design.plan import StudyPlan
from analysis.design.planner import plan_study
from analysis.design.sessions import without_seen
from analysis.design.validation import choose_pictures, deal_packets
from analysis.errors import DesignRefused, InvalidInput
from analysis.labels.files import default_labels
from analysis.study.design import DesignConfig
from analysis.study.validation import ValidationDesign
from tests.analysis.design.pictures import FUNCTIONS, picture_set
from tests.labels import label_at, of_the_sixteen


def plan(by_category=(12,) * 16, per_function=0, *, seed=3, functions=FUNCTIONS, config=None, **validation):
    originals, rows = picture_set(by_category, per_function, functions=functions)
    asked = DesignConfig.from_dict(
        {"sessions": 80, "sessions_per_participant": 5, **(config or {}), "validation": validation}
    )
    return plan_study(originals, rows, asked, seed), originals, {row["stimulus"]: row for row in rows}


def of_role(session, *roles):
    return [trial for trial in session.trials if trial.role in roles and trial.kind == "main"]


def test_a_session_is_that_of_imagenet_d():
    made, _, rows = plan()
    assert len(made.sessions) == 80
    for session in made.sessions:
        kinds = Counter(trial.kind for trial in session.trials)
        assert kinds == {"practice": 2, "main": 20}
        roles = Counter(trial.role for trial in session.trials if trial.kind == "main")
        assert roles == {"main": 14, "consistency_first": 2, "consistency_second": 2, "gold": 1, "negative": 1}
        assert {trial.task for trial in session.trials} == {"validation"}
        for trial in session.trials:
            category = rows[trial.stimulus]["category"]
            expected = {"gold": "yes-yes", "negative": "no-no"}.get(trial.role, "")
            if trial.role == "practice":
                expected = "yes-yes" if trial.wanted == category else "no-no"
            assert trial.correct_response == expected
            assert (trial.wanted == category) == (trial.correct_response != "no-no")
            if trial.correct_response == "no-no":
                assert default_labels().group(trial.wanted) != default_labels().group(category)
        assert sorted(trial.correct_response for trial in session.trials if trial.kind == "practice") == [
            "no-no",
            "yes-yes",
        ]
        assert [block.feedback for block in session.blocks()] == [True, False]


def test_every_picture_gets_its_answers_and_nobody_sees_an_original_twice_in_a_session():
    made, _, rows = plan(per_function=60)
    answers = Counter(trial.stimulus for s in made.sessions for trial in of_role(s, "main", "consistency_first"))
    assert set(answers.values()) == {10}
    assert len(answers) == 80 // 10 * 16 == made.summary["validation"]["pictures"]
    for session in made.sessions:
        firsts = Counter(rows[t.stimulus]["original"] for t in session.trials if t.role != "consistency_second")
        assert max(firsts.values()) == 1


def test_second_showings_are_light_and_far_from_the_first():
    made, _, rows = plan(per_function=60, shown="all")
    distances = []
    for session in made.sessions:
        places = {(t.role, t.stimulus): t.position for t in session.trials}
        for trial in of_role(session, "consistency_second"):
            distances.append(trial.position - places["consistency_first", trial.stimulus])
            assert rows[trial.stimulus]["visual_change"] <= 0.3
    assert min(distances) >= 6


def test_positions_tell_nothing_of_sentinels():
    made, _, _ = plan(by_category=(40,) * 16, config={"sessions": 300})
    for role in ("gold", "negative"):
        places = Counter(of_role(session, role)[0].position - 2 for session in made.sessions)
        assert set(range(20)) - set(places) == set()
        assert max(places.values()) < 3 * 300 / 20


def test_pools_are_apart_and_packets_share_no_picture():
    made, originals, rows = plan()
    used = defaultdict(set)
    for session in made.sessions:
        for trial in session.trials:
            pool = {"practice": "practice", "gold": "gold", "negative": "gold"}.get(trial.role, "main")
            used[pool].add(rows[trial.stimulus]["original"])
            assert rows[trial.stimulus]["original"] in made.pools[pool]
    assert sum(len(pool) for pool in made.pools.values()) == len(originals)
    assert not used["practice"] & used["gold"] and not used["main"] & (used["gold"] | used["practice"])
    packets = [frozenset(t.stimulus for t in of_role(s, "main", "consistency_first")) for s in made.sessions]
    assert len(set(packets)) == 8
    for one in set(packets):
        assert all(one == other or not one & other for other in set(packets))
    assert packets[:8] == packets[8:16], "the same packets come round by round"
    orders = [tuple(t.stimulus for t in of_role(s, "main", "consistency_first")) for s in made.sessions]
    assert len(set(orders)) == len(orders), "everybody has an order of their own"


@of_the_sixteen
def test_categories_and_visual_change_are_even_within_packets():
    made, _, rows = plan()
    for session in made.sessions[:8]:
        counts = Counter(rows[t.stimulus]["category"] for t in of_role(session, "main", "consistency_first"))
        assert set(counts.values()) == {1}
    made, _, rows = plan(by_category=(30,) * 16, per_function=400, shown="corrupted", config={"sessions": 100})
    for session in made.sessions[:10]:
        changes = [rows[t.stimulus]["visual_change"] for t in of_role(session, "main", "consistency_first")]
        assert 0.35 < np.mean(changes) < 0.65 and max(changes) - min(changes) > 0.5


@pytest.mark.parametrize(("shown", "kinds"), [("clean", {"none"}), ("corrupted", set(FUNCTIONS))])
def test_clean_or_corrupted_pictures_alone(shown, kinds):
    made, _, rows = plan(by_category=(20,) * 16, per_function=200, shown=shown)
    judged = {rows[t.stimulus]["corruption"] for s in made.sessions for t in of_role(s, "main", "consistency_first")}
    assert judged == kinds
    assert set(made.summary["strata"]) == kinds
    assert sum(map(sum, made.summary["strata"].values())) == 80 * 16


def test_few_pictures_make_smaller_sessions_and_say_so():
    made, originals, _ = plan(by_category=(4,) * 16, config={"sessions": 200})
    left = len(made.pools["main"])
    sizes = {len(of_role(session, "main", "consistency_first")) for session in made.sessions}
    assert max(sizes) - min(sizes) <= 1 and max(sizes) <= 16
    answers = Counter(t.stimulus for s in made.sessions for t in of_role(s, "main", "consistency_first"))
    assert len(answers) == left and set(answers.values()) == {10}
    said = " ".join(made.notes)
    assert f"so that each of the {left} pictures gets exactly 10 answers" in said
    assert f"{len(made.sessions)} sessions instead of 200" in said
    assert "One person can do 3 sessions instead of 5" in said
    assert len(originals) == 64


def test_more_pictures_than_the_sessions_suffice_for_are_counted():
    made, _, _ = plan(by_category=(30,) * 16, config={"sessions": 40})
    assert made.summary["validation"]["pictures"] == 64
    note = next(note for note in made.notes if note.startswith("64 of"))
    left = len(made.pools["main"])
    assert f"64 of {left} pictures" in note and f"ask for {math.ceil(left / 16) * 10} sessions" in note


def test_golds_come_from_those_that_were_checked():
    originals, rows = picture_set((12,) * 16, 0)
    easy = [original for original in originals if original.endswith(("-000", "-001"))]
    config = DesignConfig.from_dict({"sessions": 20, "validation": {}})
    made = plan_study(originals, rows, config, 1, gold_candidates=easy)
    by_stimulus = {row["stimulus"]: row["original"] for row in rows}
    shown = {by_stimulus[t.stimulus] for s in made.sessions for t in of_role(s, "gold", "negative")}
    assert shown and shown <= set(easy)
    assert not [note for note in made.notes if "drawn at random" in note]


def test_one_group_alone_is_noticed():
    made, _, rows = plan(
        by_category=[20 if default_labels().group(c) == "animal" else 0 for c in default_labels().ids],
        config={"sessions": 20},
    )
    assert any("come up nowhere else" in note for note in made.notes)
    for session in made.sessions:
        for trial in of_role(session, "negative"):
            assert (
                default_labels().group(trial.wanted)
                == "artefact"
                != default_labels().group(rows[trial.stimulus]["category"])
            )


def test_wanted_categories_of_negatives_are_balanced():
    made, _, rows = plan(config={"sessions": 160})
    asked = Counter(t.wanted for s in made.sessions for t in s.trials if t.correct_response == "no-no")
    for group in ("animal", "artefact"):
        counts = [asked[category] for category in default_labels().ids if default_labels().group(category) == group]
        assert max(counts) - min(counts) <= 1


def test_the_same_seed_gives_the_same_file_and_reads_back():
    one, _, _ = plan(per_function=30)
    again, _, _ = plan(per_function=30)
    other, _, _ = plan(per_function=30, seed=4)
    assert one.to_lines() == again.to_lines() != other.to_lines()
    assert StudyPlan.from_lines(one.to_lines()).to_lines() == one.to_lines()


@pytest.mark.parametrize(
    ("by_category", "config", "validation", "sentence"),
    [
        ((12,) * 16, {"sessions": 9}, {}, "9 sessions are too few: a picture takes 10 answers"),
        ((1,) * 7, {}, {}, "7 originals are too few: the smallest session takes 8 .* Add at least 1"),
        ((2, 2) + (0,) * 14, {}, {"practice": 0}, "4 originals are too few"),
    ],
)
def test_what_makes_no_study_is_refused_with_a_remedy(by_category, config, validation, sentence):
    with pytest.raises(DesignRefused, match=sentence):
        plan(by_category=by_category, config=config, **validation)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"validation": {"new_pictures": 18}}, "at most 20 screens beside practice, not 22"),
        ({"validation": {"new": 3}}, r"\[validation\] has no setting 'new'"),
        ({"validation": {"shown": "some"}}, "validation.shown must be one of all, clean, corrupted"),
        ({"validation": {"second_showings": 9}}, "validation.second_showings must be a whole number from 0 to 8"),
        ({"validation": {}, "main_trials": 40}, "A validation study asks nothing else"),
        ({"validation": {}, "discrimination": {}}, "A validation study asks nothing else"),
    ],
)
def test_settings_that_cannot_be_are_refused(values, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        DesignConfig.from_dict(values)


def test_settings_read_back():
    config = DesignConfig(main_trials=0, validation=ValidationDesign(positive=2, second_showings=1))
    assert DesignConfig.from_dict(config.to_dict()) == config
    assert config.validation is not None and config.validation.screens == 20


def test_who_comes_again_gets_other_practice_and_sentinels_with_fitting_questions():
    originals, rows = picture_set((12,) * 16, 0)
    config = DesignConfig.from_dict({"sessions": 80, "sessions_per_participant": 5, "validation": {}})
    made = plan_study(originals, rows, config, 3)
    catalogue = Catalogue.from_rows(originals, rows)
    by_stimulus = catalogue.by_stimulus()
    later = made.sessions[1]
    seen = {by_stimulus[t.stimulus].original for t in later.trials if t.role in ("practice", "gold", "negative")}
    changed = without_seen(later, catalogue, made.pools, seen=seen, taken={row["stimulus"] for row in rows})
    assert len(changed.trials) == len(later.trials)
    for before, after in zip(later.trials, changed.trials, strict=True):
        row = by_stimulus[after.stimulus]
        assert row.original not in seen
        assert (after.role, after.correct_response) == (before.role, before.correct_response)
        assert (after.wanted == row.category) == (after.correct_response != "no-no")
        if after.correct_response == "no-no":
            assert default_labels().group(after.wanted) != default_labels().group(row.category)
    main = {by_stimulus[t.stimulus].original for t in later.trials if t.role == "main"}
    with pytest.raises(DesignRefused, match="13 of 14 main trials are left"):
        without_seen(later, catalogue, made.pools, seen={min(main)}, taken=set())


@of_the_sixteen
def test_packets_never_hold_an_original_twice():
    rng = np.random.default_rng(0)
    for trial in range(40):
        packets, largest = int(rng.integers(2, 8)), int(rng.integers(4, 17))
        candidates = [
            StimulusRow(f"s{o}-{k}", f"o{o}", label_at(o), "gaussian_blur", float(rng.random()))
            for o in range(int(rng.integers(20, 60)))
            for k in range(int(rng.integers(1, 9)))
        ]
        chosen = choose_pictures(candidates, packets * largest, packets, np.random.default_rng(trial))
        dealt = deal_packets(chosen, largest, np.random.default_rng(trial))
        assert sorted(row for packet in dealt for row in packet) == sorted(chosen)
        sizes = [len(packet) for packet in dealt]
        assert max(sizes) - min(sizes) <= 1 and max(sizes) <= largest
        if len(dealt) == packets:
            for packet in dealt:
                assert len({row.original for row in packet}) == len(packet)
