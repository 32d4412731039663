"""One study with several recruiters at once: each is dealt a balanced share of the plan, whoever comes and goes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from humanexp.participation.models import Session, Trial
from humanexp.participation.openings import Agreement, SentBy, open_session, participant_for, withdraw_session
from humanexp.participation.sessions import holding_slots
from humanexp.studies.models import Study
from tests.factories import collecting_study
from tests.labels import of_the_sixteen

pytestmark = pytest.mark.django_db

SESSIONS = 18
PLACES = {"campus": 6, "crowd": 6, "friends": 6}
#: One trial more of each corruption in every third session of the plan.
DESIGN = {
    "sessions": SESSIONS,
    "main_trials": 7,
    "practice_trials": 4,
    "consistency_pairs": 0,
    "minimum_main_trials": 4,
}


def study_with(places: dict[str, int]) -> Study:
    study = collecting_study(recruitment={"places": places}, analysis={"estimand": "people"}, design=DESIGN)
    assert study.planned_sessions == SESSIONS
    return study


def enter(study: Study, code: str, recruiter: str) -> Session:
    person = participant_for(family=study.family, code=code)
    agreement = Agreement(version="1")
    return open_session(study=study, participant=person, agreement=agreement, sent_by=SentBy(recruiter=recruiter))


def corruptions_of(study: Study, recruiter: str) -> Counter[str]:
    """Main trials of what the recruiter's people hold, by corruption."""
    held = holding_slots(study).filter(recruiter=recruiter)
    trials = Trial.objects.filter(session__in=held, role="main", task="categorisation")
    return Counter(trials.order_by().values_list("stimulus__corruption", flat=True))


def test_recruiters_that_take_turns_get_equal_shares_of_every_corruption(stimulus_set: object) -> None:
    """In the order of the slots each would get the same corruption more often than the others, all the time."""
    study = study_with(PLACES)
    opened = [enter(study, f"P-{k:02}", list(PLACES)[k % 3]) for k in range(SESSIONS)]
    assert sorted(session.slot for session in opened) == list(range(SESSIONS))
    for recruiter in PLACES:
        shares = corruptions_of(study, recruiter)
        assert len(shares) == 3 and max(shares.values()) - min(shares.values()) <= 2, (recruiter, shares)
    # The slots that a recruiter would have got in their order.
    every_third = Trial.objects.filter(role="main", session__slot__in=range(0, SESSIONS, 3))
    skewed = Counter(every_third.order_by().values_list("stimulus__corruption", flat=True))
    assert max(skewed.values()) - min(skewed.values()) == 6


@of_the_sixteen
def test_the_balance_is_kept_when_people_drop_out_and_others_come(stimulus_set: object) -> None:
    study = study_with(PLACES)
    rng = np.random.default_rng(7)
    present: list[Session] = []
    for k in range(60):
        if len(present) == SESSIONS or (present and rng.random() < 0.35):
            gone = present.pop(int(rng.integers(len(present))))
            withdraw_session(session=gone)
        else:
            present.append(enter(study, f"P-{k:02}", str(rng.choice(list(PLACES)))))
    held = list(holding_slots(study).values_list("slot", flat=True))
    assert len(held) == len(set(held)) == len(present)
    for recruiter in PLACES:
        shares = corruptions_of(study, recruiter)
        assert max(shares.values()) - min(shares.values()) <= 2, (recruiter, shares)


def test_a_recruiter_that_comes_late_gets_a_share_like_the_whole(stimulus_set: object) -> None:
    study = study_with(PLACES)
    for k in range(12):
        enter(study, f"P-{k:02}", "campus" if k % 2 else "crowd")
    for k in range(12, SESSIONS):
        enter(study, f"P-{k:02}", "friends")
    shares = corruptions_of(study, "friends")
    assert sum(shares.values()) == 42 and max(shares.values()) - min(shares.values()) <= 2


def test_with_one_recruiter_slots_are_given_in_their_order(stimulus_set: object) -> None:
    for places in ({}, {"campus": 6}):
        study = collecting_study(
            title=f"Study {len(places)}", recruitment={"places": places}, analysis={"estimand": "people"}
        )
        slots = [enter(study, f"{study.slug}-{k}", "campus").slot for k in range(4)]
        assert slots == [0, 1, 2, 3]
