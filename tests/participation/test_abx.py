"""ABX from the study file to the exported row."""

from __future__ import annotations

from collections import Counter

import pytest

from analysis.findings.discrimination import discrimination_entries
from analysis.tables.trials import TRIALS
from humanexp.participation import answers
from humanexp.participation.answers import iter_trial_rows
from humanexp.participation.models import Trial
from humanexp.studies.pages.design import design_page
from humanexp.studies.selectors import configuration_of
from humanexp.studies.services import create_study, start_collecting
from tests.factories import SIZE_PX, Tab, collecting_study, configuration, make_stimulus_set, new_session, png

PROTOCOL = {"name": "vcr", "size_px": SIZE_PX, "fixation_ms": 0, "stimulus_ms": 1, "mask_ms": 0}
DESIGN = {
    "sessions": 4,
    "main_trials": 0,
    "discrimination": {"form": "abx", "trials": 6, "sentinels": 2, "practice": 2},
}


@pytest.fixture
def abx(db):
    make_stimulus_set(per_category=8, per_function=160)
    return collecting_study(protocol=PROTOCOL, design=DESIGN)


@pytest.fixture
def sitting(client, abx):
    opened = Tab(client, new_session(abx))
    opened.take_lease()
    return opened


def test_the_study_file_says_it_and_gives_it_back(abx):
    study = configuration_of(abx)
    assert study.design.discrimination.form == "abx"
    assert 'form = "abx"' in study.to_toml()


def test_the_page_gets_three_pictures_and_two_choices_and_no_answer(sitting, abx):
    told = sitting.get("session/").json()
    assert {block["task"] for block in told["blocks"]} == {"abx"}
    assert [choice["name"] for choice in told["choices"]["abx"]] == ["a", "b"]
    first = Trial.objects.filter(session__study=abx).select_related("stimulus", "second_stimulus", "third_stimulus")[0]
    for showing, stimulus in enumerate((first.stimulus, first.second_stimulus, first.third_stimulus)):
        reply = sitting.get(f"trials/0/stimulus/{showing}/")
        number = int(stimulus.key.rpartition("-")[2])
        assert reply.status_code == 200 and reply.content == png(number)
    assert sitting.get("trials/0/stimulus/3/").status_code == 404


def test_only_its_own_answers_are_taken_and_practice_tells_the_right_one(sitting, abx):
    right = Trial.objects.get(session__study=abx, position=0).correct_response
    for other in ("same", "cat", "A", "yes-no"):
        assert sitting.answer(0, other).status_code == 422
    wrong = {"a": "b", "b": "a"}[right]
    assert sitting.answer(0, wrong).json()["feedback"] == {"correct": False, "category": right}


def test_an_answered_session_is_exported_with_all_three_pictures_and_analysed(sitting, abx):
    trials = list(Trial.objects.filter(session__study=abx).order_by("position"))
    for trial in trials:
        given = "na" if trial.position == 2 else trial.correct_response
        assert sitting.answer(trial.position, given).status_code == 201
    assert sitting.post("complete/", {}).status_code == 200
    rows = list(iter_trial_rows(abx))
    frame = TRIALS.frame([{**row, "accepted": True} for row in rows])
    for trial, row in zip(trials, rows, strict=True):
        assert row["third_stimulus"] == trial.third_stimulus.key
        assert row["third_corruption"] == trial.third_stimulus.corruption
        assert row["third_original"] == trial.third_stimulus.source_image.key
    entries = discrimination_entries(frame, d_prime_margin={"abx": 1.0}, observer_model="differencing", level=0.95)
    assert {entry.form for entry in entries} == {"abx"}
    assert sum(entry.trials for entry in entries) == 6
    assert sum(entry.misses for entry in entries) == sum(
        row["response"] == "na" and row["role"] == "main" for row in rows
    )


def test_every_session_of_the_plan_can_be_opened_and_nobody_gets_a_picture_that_another_has(client, abx):
    used = Counter()
    for number in range(4):
        session = new_session(abx, f"P-{number}")
        for trial in session.trials.filter(role="main"):
            used.update([trial.stimulus_id, trial.second_stimulus_id, trial.third_stimulus_id])
    assert len(used) == 4 * 6 * 3 and set(used.values()) == {1}


def test_what_x_showed_is_not_shown_again_in_the_next_session(client, db):
    make_stimulus_set(per_category=14, per_function=300)
    design = {**DESIGN, "discrimination": {"form": "abx", "trials": 4, "sentinels": 2, "practice": 1}}
    wanted = configuration(protocol=PROTOCOL, design=design, max_sessions_per_worker=2)
    study = start_collecting(study=create_study(configuration=wanted))
    first = new_session(study)
    tab = Tab(client, first)
    tab.take_lease()
    for position in range(first.total):
        assert tab.answer(position, "a").status_code == 201
    tab.post("complete/", {})
    second = new_session(study)
    assert second.pk != first.pk

    def originals(session):
        names = (f"{name}__source_image__key" for name in answers.PICTURES)
        return {key for shown in session.trials.values_list(*names) for key in shown}

    assert not originals(first) & originals(second)


def test_the_design_page_counts_its_trials_and_all_its_pictures(abx):
    page = design_page(abx, configuration_of(abx))
    assert page.pairs == 4 * 6
    assert {str(row.name) for row in page.roles} == {"practice trials", "A, B and X", "plain trials"}
    reasons = [rule.reason for rule in page.gates]
    assert "plain ABX trials failed" in reasons and "plain pairs failed" not in reasons
    # Of 850 ms and 3 % misses at 4 s: an answer after 944.5 ms. Three showings of 1 ms, and what the page adds.
    trial_ms = 50 + 3 * 1 + 944.5 + 150 + 316
    practice_ms = trial_ms - 150 + 300 + 0.3 * 1_100
    around_ms = 90_000 + 60_000 + 2 * 15_000  # consent and end, one introduction, two rounds
    assert page.minutes == pytest.approx((8 * trial_ms + 2 * practice_ms + around_ms) / 60_000)
