"""The rough length of a session, by hand."""

from __future__ import annotations

import pytest

from analysis.study.protocol import load_protocol
from humanexp.studies.facts import minutes_of, work_ms
from humanexp.studies.tasks import TASKS

VCR = load_protocol("vcr")


def test_a_trial_takes_what_a_real_browser_was_seen_to_take() -> None:
    """2,066 ms from one fixation to the next with an answer after 850 ms: eleven of eleven trials."""
    assert work_ms(TASKS["categorisation"], VCR, 850) == pytest.approx(2_066, abs=5)


def test_a_miss_takes_the_whole_window() -> None:
    took, missed = (work_ms(TASKS["categorisation"], VCR, answer_ms) for answer_ms in (850, None))
    assert missed - took == 4_000 - 850


def test_two_showings_take_their_time_twice() -> None:
    once, twice = (work_ms(TASKS[name], VCR, 850) for name in ("categorisation", "discrimination"))
    assert twice - once == 300 + 200 + 200


def test_a_judgement_takes_what_it_took() -> None:
    assert (work_ms(TASKS["validation"], VCR, 5_000), work_ms(TASKS["validation"], VCR, None)) == (5_000, 0)


def test_published_practice_shows_its_mark_and_then_a_sentence() -> None:
    published = load_protocol("geirhos2018-batch1")
    practice = minutes_of({"practice": 10}, published, block_trials=40)
    asked = minutes_of({"main": 10}, published, block_trials=40)
    assert (practice - asked) * 60_000 == pytest.approx(10 * (300 - 150 + 0.3 * 1_100))


def test_a_session_counts_feedback_misses_rounds_and_reading() -> None:
    trial_ms = 50 + 700 + (850 + 0.03 * 3_150) + 150 + 316
    practice_ms = trial_ms - 150 + 1_000 + 0.3 * 1_500
    # a round of practice and two of the study; one task is explained; consent, checks and the way back
    expected_ms = 10 * practice_ms + 60 * trial_ms + 3 * 15_000 + 60_000 + 90_000
    roles = {"practice": 10, "main": 40, "gold": 20}
    assert minutes_of(roles, VCR, block_trials=40) == pytest.approx(expected_ms / 60_000)
    assert minutes_of(roles, VCR, block_trials=20) == pytest.approx(expected_ms / 60_000 + 0.25)


def test_a_second_task_is_explained_too() -> None:
    one = minutes_of({"main": 40}, VCR, block_trials=40)
    two = minutes_of({"main": 40, "discrimination main": 10, "discrimination practice": 0}, VCR, block_trials=40)
    pairs_ms = 10 * (50 + 1_400 + (850 + 0.03 * 3_150) + 150 + 316)
    assert two - one == pytest.approx((pairs_ms + 60_000 + 2 * 15_000) / 60_000)


def test_steps_of_the_set_up_take_their_time() -> None:
    plain = minutes_of({"main": 40}, VCR, block_trials=40)
    steps = minutes_of({"main": 40}, VCR, block_trials=40, set_up=("light", "greys", "distance"))
    assert steps - plain == pytest.approx((5_000 + 25_000 + 60_000) / 60_000)
