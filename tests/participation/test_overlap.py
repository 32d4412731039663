"""Shared trials from the study file to error consistency."""

from __future__ import annotations

from collections import Counter

import pytest

from analysis.findings.agreement import error_consistency_entries
from analysis.findings.observations import read_predictions, read_trials
from analysis.tables.trials import TRIALS
from humanexp.participation.answers import iter_trial_rows
from humanexp.participation.models import Session
from humanexp.participation.openings import withdraw_session
from humanexp.participation.tallies import answer_counts
from humanexp.studies.pages.design import design_page
from humanexp.studies.selectors import configuration_of
from humanexp.studies.services import create_study, new_version, start_collecting
from tests.factories import SIZE_PX, Tab, collecting_study, configuration, make_stimulus_set, new_session, whole_plan

PROTOCOL = {"name": "vcr", "size_px": SIZE_PX, "fixation_ms": 0, "stimulus_ms": 1, "mask_ms": 0}
DESIGN = {
    **{"sessions": 4, "main_trials": 16, "overlap": 0.5, "practice_trials": 0, "gold_trials": 0, "negative_trials": 0},
    **{"consistency_pairs": 0, "clean_trials": 2},
}


@pytest.fixture
def shared(db):
    make_stimulus_set(per_category=8, per_function=120)
    return collecting_study(protocol=PROTOCOL, design=DESIGN, rules="none")


def answer_all(client, session, wrong_every=0):
    tab = Tab(client, session, lease=f"lease-{session.pk:08d}")
    tab.take_lease()
    for trial in session.trials.order_by("position"):
        is_wrong = wrong_every and trial.stimulus_id % wrong_every == 0
        given = ("dog" if trial.correct_response != "dog" else "cat") if is_wrong else trial.correct_response
        assert tab.answer(trial.position, given).status_code == 201
    assert tab.post("complete/", {}).status_code == 200


def main_stimuli(session):
    return set(session.trials.filter(role="main").values_list("stimulus__key", flat=True))


def test_any_two_people_have_a_kappa_on_the_pictures_that_they_share(client, shared):
    for number in range(3):
        answer_all(client, new_session(shared, f"P-{number}"), wrong_every=number + 2)
    rows = [{**row, "accepted": True} for row in list(iter_trial_rows(shared))]
    people = read_trials(TRIALS.frame(rows))
    entries, _ = error_consistency_entries(people, read_predictions(None)[0])
    main = [entry for entry in entries if entry.n > 0]
    per_pair = Counter()
    for entry in main:
        per_pair[entry.pair] += entry.n
    common = set.intersection(*(main_stimuli(session) for session in Session.objects.all()))
    assert len(common) == 8
    # Clean showings of one original to two people are shared pictures, too.
    assert set(per_pair) == {("P-0", "P-1"), ("P-0", "P-2"), ("P-1", "P-2")}
    assert all(count >= 8 for count in per_pair.values())


def test_the_design_page_counts_them(shared):
    page = design_page(shared, configuration_of(shared))
    rows = {str(row.name): row.trials for row in page.roles}
    assert rows == {"main": 16, "of these, the same for all": 8, "clean": 2}
    assert page.summary["overlap"] == {"trials": 8, "answers": 32}


def test_planned_counts_are_exact_after_somebody_dropped_out(client, shared):
    gone = new_session(shared, "P-0")
    tab = Tab(client, gone)
    tab.take_lease()
    for position in range(5):
        tab.answer(position)
    withdraw_session(session=gone)
    for number in range(1, 5):
        answer_all(client, new_session(shared, f"P-{number}"))
    answered = Counter(row["stimulus"] for row in list(iter_trial_rows(shared)) if row["role"] == "main")
    assert sorted(answered.values()) == [1] * 32 + [4] * 8
    assert sum(row.answered for row in answer_counts(shared).bins) == 64
    assert all(row.answered == row.planned for row in answer_counts(shared).bins)


def test_who_comes_again_sees_no_common_picture_again(client, db):
    make_stimulus_set(per_category=12, per_function=240)
    wanted = configuration(protocol=PROTOCOL, design=DESIGN, rules="none", max_sessions_per_worker=2)
    study = start_collecting(study=create_study(configuration=wanted))
    first = new_session(study, "P-1")
    answer_all(client, first)
    second, other = new_session(study, "P-1"), new_session(study, "P-2")
    answer_all(client, second)

    def originals(session):
        return set(session.trials.values_list("stimulus__source_image__key", flat=True))

    assert not originals(first) & originals(second)
    assert len(main_stimuli(first) & main_stimuli(other)) == 8
    assert len(main_stimuli(second)) == 16 and not main_stimuli(second) & main_stimuli(other)
    later = new_version(study=study, configuration=wanted)
    assert later.version == 2 and whole_plan(later).summary["overlap"]["trials"] == 8
