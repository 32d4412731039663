"""Sentinels of persons in sessions: shown like other trials, answered like other trials, and never told apart."""

from __future__ import annotations

import json
from typing import Any

import pytest

from humanexp.participation.models import Response
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study
from tests.factories import Tab, add_sentinels, collecting_study, make_stimulus_set, new_session

DESIGN = {"sessions": 6, "main_trials": 16, "practice_trials": 4, "consistency_pairs": 2}
PERSONS = {"persons": {"per_session": 4}}


@pytest.fixture
def study(db: None) -> Study:
    add_sentinels(make_stimulus_set(per_category=9), families=("high_pass",))
    return collecting_study(spec=4, design=DESIGN | PERSONS, max_sessions_per_worker=2)


def heard(client: Any, session: Any) -> list[tuple[str, str]]:
    """Role of every trial, and everything that the page is told around it."""
    tab = Tab(client, session)
    replies = [tab.take_lease(), tab.get("session/")]
    told = []
    for trial in session.trials.order_by("position"):
        replies += [tab.get(f"trials/{trial.position}/stimulus/0/"), tab.get(f"trials/{trial.position}/mask/")]
        replies.append(tab.answer(trial.position, "dog"))
        said = "".join(
            json.dumps(sorted(one for one in reply.headers.items() if one[0] != "X-Request-ID"))
            + (reply.content.decode() if reply["Content-Type"].startswith("application/json") else "")
            for reply in replies
        )
        told.append((trial.role, said))
        replies = []
    return told


def test_nothing_that_the_browser_gets_tells_a_sentinel_from_a_main_trial(client: Any, study: Study) -> None:
    session = new_session(study)
    told = heard(client, session)
    assert [role for role, _ in told].count("person") == 4
    words = {"person", "sentinel", "cue_conflict", "high_pass", "texture"}
    stimuli = Stimulus.objects.filter(pk__in=session.trials.values("stimulus")).select_related("source_image")
    words |= {one.key for one in stimuli} | {one.source_image.key for one in stimuli} | {one.sha256 for one in stimuli}
    everything = "".join(said for _, said in told)
    assert not [word for word in words if word in everything]

    def shape(said: str) -> str:
        """Without numbers, which are positions and lengths."""
        return "".join(sign for sign in said if not sign.isdigit())

    plain = {shape(said) for role, said in told if role == "main"}
    assert {shape(said) for role, said in told if role == "person"} <= plain


def test_answers_are_stored_as_trials_of_their_own_kind(client: Any, study: Study) -> None:
    session = new_session(study)
    heard(client, session)
    stored = Response.objects.filter(session=session, trial__role="person").select_related("trial__stimulus")
    assert stored.count() == 4
    for one in stored:
        assert one.correct == (one.response == one.trial.stimulus.source_image.category)


def test_a_second_session_of_a_person_shows_other_ones(client: Any, study: Study) -> None:
    first = new_session(study)
    heard(client, first)
    assert Tab(client, first).post("complete/", {}).status_code == 200
    second = new_session(study)
    assert second.pk != first.pk
    originals = [
        {trial.stimulus.source_image.key for trial in session.trials.select_related("stimulus__source_image")}
        for session in (first, second)
    ]
    assert not originals[0] & originals[1]
    assert second.trials.filter(role="person").count() == 4
