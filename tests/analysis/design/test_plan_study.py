from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.design.plan import PRACTICE, StudyPlan, read_session_plan
from analysis.design.planner import plan_study
from analysis.errors import DesignRefused, InvalidInput
from analysis.labels.files import default_labels
from analysis.study.design import DesignConfig
from tests.analysis.design.pictures import FUNCTIONS, UNEVEN, picture_set
from tests.labels import of_the_sixteen


@pytest.fixture(scope="module")
def demo():
    originals, stimuli = picture_set([30] * 16, 960)
    return (
        originals,
        {row["stimulus"]: row for row in stimuli},
        plan_study(originals, stimuli, DesignConfig(sessions=50), 3),
    )


def check_promises(plan, rows):
    """What every plan promises, whatever was cut."""
    pools = [set(originals) for originals in plan.pools.values()]
    assert sum(map(len, pools)) == len(set().union(*pools))
    pool_of = {original: role for role, originals in plan.pools.items() for original in originals}
    expected = {role: role for role in plan.pools} | dict.fromkeys(("main", "clean"), "main")
    expected |= {"negative": "gold", "consistency_first": "consistency", "consistency_second": "consistency"}
    answers = Counter()
    for slot, session in enumerate(plan.sessions):
        assert session.slot == slot
        assert [trial.position for trial in session.trials] == list(range(len(session.trials)))
        shown = Counter()
        twice = {trial.stimulus for trial in session.trials if trial.role == "consistency_second"}
        for trial in session.trials:
            row = rows[trial.stimulus]
            assert pool_of[row["original"]] == expected[trial.role]
            assert trial.correct_response == row["category"]
            if trial.role in ("practice", "qualification", "gold", "negative", "clean"):
                assert row["corruption"] == "none"
            if trial.role.startswith("consistency"):
                assert row["visual_change"] <= plan.config.light_visual_change
            shown[row["original"]] += 1
            if row["corruption"] != "none" and trial.role != "consistency_second":
                answers[trial.stimulus] += 1
        for original, count in shown.items():
            assert count == (2 if any(rows[name]["original"] == original for name in twice) else 1)
        firsts = {trial.stimulus: trial.position for trial in session.trials if trial.role == "consistency_first"}
        seconds = {trial.stimulus: trial.position for trial in session.trials if trial.role == "consistency_second"}
        assert firsts.keys() == seconds.keys()
        main = sum(trial.kind == "main" for trial in session.trials)
        # Far enough apart that others come between, near enough that the place of a second showing does not tell it.
        apart = [seconds[name] - firsts[name] for name in firsts]
        assert all(2 <= distance <= max(2, main // 25) + len(firsts) for distance in apart)
        roles = Counter(trial.role for trial in session.trials)
        assert plan.config.clean_trials is not None or roles["clean"] >= roles["gold"]
    assert max(answers.values(), default=0) <= plan.config.answers_per_stimulus


def test_keeps_its_promises_on_a_set_as_large_as_the_demo(demo):
    _, rows, plan = demo
    check_promises(plan, rows)
    assert len(plan.sessions) == 50
    assert 75 <= len(plan.sessions[0].trials) <= 90


def test_counts_of_a_full_session(demo):
    _, _, plan = demo
    for session in plan.sessions:
        roles = Counter(trial.role for trial in session.trials)
        assert (roles["practice"], roles["gold"], roles["negative"], roles["main"]) == (16, 8, 6, 40)
        assert roles["consistency_first"] == roles["consistency_second"] == 4


@of_the_sixteen
def test_categories_corruptions_and_visual_change_are_balanced(demo):
    _, rows, plan = demo
    for session in plan.sessions:
        main = [rows[trial.stimulus] for trial in session.trials if trial.role == "main"]
        by_category = Counter(row["category"] for row in main)
        assert len(by_category) == 16 and max(by_category.values()) - min(by_category.values()) <= 2
        by_corruption = Counter(row["corruption"] for row in main)
        assert sorted(by_corruption.values()) == [13, 13, 14]
        for function in FUNCTIONS:
            quarters = Counter(int(row["visual_change"] * 4) for row in main if row["corruption"] == function)
            assert len(quarters) == 4 and min(quarters.values()) >= 2
    gold_categories = [
        [rows[trial.stimulus]["category"] for trial in session.trials if trial.role == "gold"]
        for session in plan.sessions
    ]
    assert all(len(set(categories)) == 8 for categories in gold_categories)


def test_every_main_original_is_shown_clean_to_some_other_person(demo):
    _, rows, plan = demo
    clean = Counter(
        rows[trial.stimulus]["original"]
        for session in plan.sessions
        for trial in session.trials
        if trial.role == "clean"
    )
    assert set(clean) == set(plan.pools["main"])
    assert max(clean.values()) <= plan.config.clean_per_original
    assert clean.total() >= plan.config.clean_answers


def test_negatives_alternate_between_animals_and_artefacts(demo):
    _, rows, plan = demo
    for session in plan.sessions:
        groups = Counter(
            default_labels().group(rows[trial.stimulus]["category"])
            for trial in session.trials
            if trial.role == "negative"
        )
        assert groups == {"animal": 3, "artefact": 3}


def test_sentinels_and_corruptions_are_spread_over_the_session(demo):
    _, rows, plan = demo
    for session in plan.sessions:
        main = [trial for trial in session.trials if trial.kind == "main"]
        start, quarter = main[0].position, len(main) / 4
        for role in ("gold", "clean"):
            quarters = Counter(int((t.position - start) / quarter) for t in main if t.role == role)
            assert set(quarters) == {0, 1, 2, 3}
        halves = Counter(
            (rows[t.stimulus]["corruption"], (t.position - start) * 2 // len(main)) for t in main if t.role == "main"
        )
        assert min(halves.values()) >= 4 and len(halves) == 6


def test_same_seed_same_plan_other_seed_other_plan(demo):
    originals, rows, plan = demo
    again = plan_study(originals, reversed(list(rows.values())), DesignConfig(sessions=50), 3)
    assert again == plan
    assert plan_study(originals, rows.values(), DesignConfig(sessions=50), 4).sessions != plan.sessions


def test_mask_seeds_tell_nothing_about_the_stimulus(demo):
    _, _, plan = demo
    seeds = [trial.mask_seed for session in plan.sessions for trial in session.trials]
    assert len(set(seeds)) > 0.99 * len(seeds)


def test_blocks_are_short_and_have_one_task_and_feedback_in_practice_only(demo):
    _, _, plan = demo
    for session in plan.sessions:
        blocks = session.blocks()
        assert [block.feedback for block in blocks] == [block.kind in PRACTICE for block in blocks]
        assert [block.first for block in blocks] == [0, *(block.last + 1 for block in blocks[:-1])]
        assert all(block.last - block.first < plan.config.block_trials for block in blocks)


def test_file_round_trip_and_reading_of_one_slot(demo):
    _, _, plan = demo
    lines = plan.to_lines()
    assert StudyPlan.from_lines(lines) == plan
    pools, session = read_session_plan(iter(lines), 7)
    assert session == plan.sessions[7] and pools == plan.pools
    with pytest.raises(InvalidInput, match="no slot 50"):
        read_session_plan(lines, 50)
    with pytest.raises(InvalidInput, match="no study plan"):
        StudyPlan.from_lines(["nonsense"])


@of_the_sixteen
def test_a_small_uneven_set_gives_a_smaller_study_and_says_so():
    originals, stimuli = picture_set(UNEVEN, 100)
    plan = plan_study(originals, stimuli, DesignConfig(sessions=10), 0)
    check_promises(plan, {row["stimulus"]: row for row in stimuli})
    main = Counter(trial.role for trial in plan.sessions[0].trials)["main"]
    assert 16 <= main < 40
    assert any(
        note.startswith(f"58 originals are few: {main} main trials a session instead of 40") for note in plan.notes
    )
    assert any("knife" in note and "at most once a session" in note for note in plan.notes)
    assert any("clean answers over the study, fewer than the 200" in note for note in plan.notes)
    assert {originals[o] for o in plan.pools["main"]} == set(originals.values())


def test_eight_pictures_a_category_are_enough():
    originals, stimuli = picture_set([8] * 16, 320)
    plan = plan_study(originals, stimuli, DesignConfig(sessions=15), 0)
    check_promises(plan, {row["stimulus"]: row for row in stimuli})
    assert Counter(trial.role for trial in plan.sessions[0].trials)["main"] == 40
    assert len(plan.sessions) == 15


def test_too_few_stimuli_mean_fewer_sessions_not_repeats():
    originals, stimuli = picture_set([30] * 16, 300)
    plan = plan_study(originals, stimuli, DesignConfig(sessions=50), 0)
    check_promises(plan, {row["stimulus"]: row for row in stimuli})
    assert 15 <= len(plan.sessions) < 25
    assert any(f"{len(plan.sessions)} sessions instead of 50" in note for note in plan.notes)


def test_repeats_for_error_consistency_when_asked():
    originals, stimuli = picture_set([30] * 16, 300)
    plan = plan_study(originals, stimuli, DesignConfig(sessions=50, answers_per_stimulus=3), 0)
    rows = {row["stimulus"]: row for row in stimuli}
    check_promises(plan, rows)
    assert len(plan.sessions) == 50
    answers = Counter(t.stimulus for s in plan.sessions for t in s.trials if t.role == "main")
    assert max(answers.values()) == 3


def test_blocked_order_shows_one_corruption_a_block_in_random_order():
    originals, stimuli = picture_set([30] * 16, 960)
    plan = plan_study(originals, stimuli, DesignConfig(sessions=30, corruption_order="blocked"), 0)
    rows = {row["stimulus"]: row for row in stimuli}
    check_promises(plan, rows)
    orders = set()
    for session in plan.sessions:
        by_block: dict[int, set[str]] = {}
        for trial in session.trials:
            if trial.role == "main":
                by_block.setdefault(trial.block, set()).add(rows[trial.stimulus]["corruption"])
        assert all(len(corruptions) == 1 for corruptions in by_block.values())
        orders.add(tuple(corruptions.pop() for _, corruptions in sorted(by_block.items())))
    assert len(orders) == 6


@of_the_sixteen
def test_qualification_when_asked():
    originals, stimuli = picture_set([30] * 16, 960)
    plan = plan_study(originals, stimuli, DesignConfig(sessions=10, qualification_trials=16), 0)
    rows = {row["stimulus"]: row for row in stimuli}
    check_promises(plan, rows)
    for session in plan.sessions:
        block = session.blocks()[3]
        assert (block.kind, block.feedback, block.last - block.first + 1) == ("qualification", False, 16)
        assert len({rows[t.stimulus]["category"] for t in session.trials if t.role == "qualification"}) == 16


def test_short_sessions_have_five_golds():
    originals, stimuli = picture_set([10] * 16, 400)
    config = DesignConfig(sessions=20, main_trials=9, minimum_main_trials=9, consistency_pairs=2)
    plan = plan_study(originals, stimuli, config, 0)
    roles = Counter(trial.role for trial in plan.sessions[0].trials)
    assert roles["gold"] == 5 and roles["negative"] == 0


def test_golds_come_from_the_candidates_alone():
    originals, stimuli = picture_set([10] * 16, 400)
    candidates = {name for name in originals if name.endswith(("-000", "-001", "-002"))}
    plan = plan_study(originals, stimuli, DesignConfig(sessions=10), 0, gold_candidates=candidates)
    assert set(plan.pools["gold"]) <= candidates
    assert not any("drawn at random" in note for note in plan.notes)
    with pytest.raises(DesignRefused, match="The gold pool needs 14 originals, and only 3 of the gold candidates"):
        few = sorted(candidates)[:3]
        plan_study(originals, stimuli, DesignConfig(sessions=10), 0, gold_candidates=few)
    with pytest.raises(DesignRefused, match="'nobody.jpg' is not in the picture set"):
        plan_study(originals, stimuli, DesignConfig(sessions=10), 0, gold_candidates={"nobody.jpg"})


@pytest.mark.parametrize(
    ("by_category", "per_function", "sentence"),
    [
        ([1] * 16, 50, r"16 originals are too few: the smallest session takes \d+ .* Add at least \d+ pictures"),
        ([0] * 16, 0, "picture set is empty|clean pictures only"),
        ([30] * 16, 0, "clean pictures only"),
        ([30] * 16, 5, "one session needs about 14: generate more stimuli"),
    ],
)
def test_refuses_with_a_sentence_that_says_what_is_missing(by_category, per_function, sentence):
    originals, stimuli = picture_set(by_category, per_function) if any(by_category) else ({}, [])
    with pytest.raises(DesignRefused, match=sentence):
        plan_study(originals, stimuli, DesignConfig(), 0)


def test_refuses_stimuli_without_clean_pictures_or_of_other_pictures():
    originals, stimuli = picture_set([10] * 16, 400)
    with pytest.raises(DesignRefused, match="1 of 160 originals have no clean stimulus .*airplane-000"):
        plan_study(originals, stimuli[1:], DesignConfig(), 0)
    with pytest.raises(DesignRefused, match="the picture set does not"):
        plan_study({**originals, "cat-001": "dog"}, stimuli, DesignConfig(), 0)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    by_category=st.lists(st.integers(1, 20), min_size=6, max_size=16),
    per_function=st.integers(20, 300),
    functions=st.integers(1, 3),
    sessions=st.integers(1, 25),
    main_trials=st.integers(16, 60),
    order=st.sampled_from(["interleaved", "blocked"]),
    seed=st.integers(0, 2**40),
)
def test_any_set_is_planned_within_the_promises_or_refused(
    by_category, per_function, functions, sessions, main_trials, order, seed
):
    originals, stimuli = picture_set(by_category, per_function, FUNCTIONS[:functions], seed % 1000)
    config = DesignConfig(sessions=sessions, main_trials=main_trials, corruption_order=order)
    try:
        plan = plan_study(originals, stimuli, config, seed)
    except DesignRefused as refusal:
        assert str(refusal).endswith(".")
        return
    check_promises(plan, {row["stimulus"]: row for row in stimuli})
    assert len(plan.sessions) <= sessions
    assert all(sum(t.role == "main" for t in s.trials) >= 16 for s in plan.sessions)


@pytest.mark.parametrize(
    ("settings_given", "sentence"),
    [
        ({"sessions": 0}, "sessions must be a whole number from 1"),
        ({"main_trials": 8}, "under minimum_main_trials"),
        ({"main_trials": 0}, "nothing would be asked"),
        ({"trials": 8}, "no setting 'trials'"),
        ({"light_visual_change": 2}, "light_visual_change must be a number from 0 to 1"),
        ({"discrimination": {"trials": 7}}, "must be even"),
        ({"discrimination": {"pairs": [["a", "a"]]}}, "two different corruptions"),
        ({"corruption_order": "random"}, "corruption_order must be one of interleaved, blocked"),
    ],
)
def test_settings_that_make_no_study_are_refused(settings_given, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        DesignConfig.from_dict(settings_given)


def test_settings_survive_a_round_trip():
    config = DesignConfig.from_dict({"sessions": 7, "discrimination": {"trials": 6, "pairs": [["a", "b"]]}})
    assert DesignConfig.from_dict(config.to_dict()) == config
