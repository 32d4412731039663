"""Whoever drops out, and whenever: after refill every planned count is exact, and nobody has held a slot of another."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from humanexp.core.errors import StudyRefused
from humanexp.participation.answers import iter_trial_rows
from humanexp.participation.models import Session, SessionState
from humanexp.participation.openings import withdraw_session
from humanexp.participation.sessions import holding_slots
from humanexp.participation.tallies import answer_counts
from humanexp.studies import services
from tests.factories import SIZE_PX, Tab, configuration, new_session, whole_plan

PROTOCOL = {"name": "vcr", "size_px": SIZE_PX, "fixation_ms": 0, "stimulus_ms": 1, "mask_ms": 0}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_slots_return_to_the_pool_and_counts_stay_exact(client, stimulus_set, seed):
    design = {"sessions": 5, "main_trials": 16, "practice_trials": 2, "consistency_pairs": 1, "clean_trials": 5}
    wanted = configuration(protocol=PROTOCOL, design=design, seed=seed)
    study = services.start_collecting(study=services.create_study(configuration=wanted))
    rng = random.Random(seed)
    under_way: dict[int, Tab] = {}
    number = 0
    while Session.objects.filter(study=study, state=SessionState.COMPLETED).count() < 5:
        number += 1
        try:
            session = new_session(study, f"P-{number}")
        except StudyRefused:
            session = None  # full for the moment
        if session is not None:
            tab = under_way[session.pk] = Tab(client, session, lease=f"lease-{session.pk:08d}")
            tab.take_lease()
        pk = rng.choice(list(under_way))
        session, tab = Session.objects.get(pk=pk), under_way[pk]
        drops_out = number < 12 and rng.random() < 0.5
        stop = rng.randint(session.cursor, session.total - 1) if drops_out else session.total
        for trial in session.trials.filter(position__gte=session.cursor, position__lt=stop).order_by("position"):
            assert tab.answer(trial.position, trial.correct_response).status_code == 201
        del under_way[pk]
        if drops_out:
            withdraw_session(session=session)
        else:
            assert tab.post("complete/", {}).status_code == 200
    for pk in under_way:
        withdraw_session(session=Session.objects.get(pk=pk))
    assert Session.objects.filter(study=study, state=SessionState.WITHDRAWN).exists()
    held = holding_slots(study)
    assert sorted(held.values_list("slot", flat=True)) == list(range(5))
    planned = Counter(
        (trial.role, trial.stimulus) for session in whole_plan(study).sessions for trial in session.trials
    )
    answered = Counter((row["role"], row["stimulus"]) for row in list(iter_trial_rows(study)))
    assert answered == planned
    assert all(row.answered == row.planned for row in answer_counts(study).bins)
