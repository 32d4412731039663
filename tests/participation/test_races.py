"""Two at once: who gets the slot, which answer is stored. The database's constraints decide, on both databases."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.labels import of_the_sixteen

pytestmark = [pytest.mark.process, of_the_sixteen]


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def outcomes(request, tmp_path_factory, migrated_database):
    folder = tmp_path_factory.mktemp("races")
    url = f"sqlite:///{shutil.copy(migrated_database, folder / 'humanexp.sqlite3')}"
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_cluster").create_migrated_database()
    ran = subprocess.run(
        [sys.executable, "-m", "tests.participation.races"],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "humanexp.settings",
            "DATABASE_URL": url,
            "MEDIA_ROOT": str(folder / "media"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout)


@pytest.mark.gate
def test_eight_people_six_slots(outcomes):
    assert outcomes["open_sessions"] == {"slots": [0, 1, 2, 3, 4, 5], "errors": ["StudyRefused"] * 2}


@pytest.mark.gate
@pytest.mark.promise(1)
def test_one_person_who_clicks_eight_times_has_one_session(outcomes):
    assert outcomes["open_as_one_person"]["rows"] == 1 and len(outcomes["open_as_one_person"]["codes"]) == 1


@pytest.mark.gate
@pytest.mark.promise(1)
def test_eight_answers_to_one_trial_store_one_and_all_hear_the_same(outcomes):
    assert outcomes["answer_once"] == {"new_per_position": {"1": 12}, "agreed": 12, "rows": 12, "cursor": 12}


@pytest.mark.gate
@pytest.mark.promise(3)
def test_a_hand_off_code_works_for_one_of_eight(outcomes):
    assert outcomes["redeem_once"] == {"tokens": 1, "refused": 7}


@pytest.mark.gate
def test_of_eight_verdicts_at_one_moment_the_last_one_is_current(outcomes):
    assert outcomes["judge_one"] == {"appended": 8, "rows": 8, "the_last_alone": True}


@pytest.mark.gate
@pytest.mark.promise(2)
def test_eight_clicks_launch_one_campaign(outcomes):
    assert outcomes["launch_once"] == {"launched": 1, "Conflict": 7, "hits": 1}


@pytest.mark.gate
@pytest.mark.promise(10)
def test_what_cannot_wait_does_not_stand_behind_long_work(outcomes):
    assert outcomes["stop_behind_long_work"] == {"state": "done", "prompt_was_done": True}


@pytest.mark.gate
@pytest.mark.promise(1)
def test_an_answer_survives_a_server_that_dies_before_it_replies(outcomes):
    assert outcomes["killed_before_the_reply"] == {"first": "no reply", "stored": 1, "again": 200, "rows": 1}
