"""A participant's own result: shares by amount of change, after the last session, for 30 days, and no single answer."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from humanexp.participation import credentials, services
from humanexp.participation.models import Session, SessionState
from humanexp.participation.selectors import own_result_address, own_result_behind
from humanexp.participation.selectors.own_results import FEWEST
from humanexp.studies.models import Study
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session

DESIGN = {"sessions": 4, "main_trials": 48, "practice_trials": 4, "consistency_pairs": 2}


@pytest.fixture
def study(db: None) -> Study:
    make_stimulus_set(per_category=8)
    return collecting_study(spec=4, design=DESIGN)


def finished(client: Any, session: Session) -> str:
    """Every trial answered, right where the pictures are little changed; the address of the result."""
    tab = Tab(client, session)
    tab.take_lease()
    for trial in session.trials.select_related("stimulus").order_by("position"):
        is_right = trial.stimulus.visual_change < 0.5 and trial.role != "gold"
        others = [name for name in ("dog", "cat") if name != trial.correct_response]
        tab.answer(trial.position, trial.correct_response if is_right else others[0])
    return str(tab.post("complete/", {}).json()["own_result"])


def test_shares_by_amount_of_change_and_nothing_else(client: Any, study: Study) -> None:
    session = new_session(study)
    address = finished(client, session)
    before = (Session.objects.values().get(), list(session.responses.values()))
    page = client.get(address)
    assert page.status_code == 200 and page["Referrer-Policy"] == "no-referrer" and "no-store" in page["Cache-Control"]
    _session, result = own_result_behind(address.split("of=")[1].replace("%3A", ":"))
    counted = session.trials.filter(role__in=["main", "clean"])
    assert result.pictures == counted.count() < session.total, "nothing that checks the participant"
    for part in result.parts:
        lowest, highest = part.amount / 4, (part.amount + 1) / 4
        inside = [one for one in counted if lowest <= one.stimulus.visual_change <= highest]
        assert len(inside) >= FEWEST and part.of_ten == (10 if part.amount < 2 else 0)
    assert {part.amount for part in result.parts} >= {0, 3}
    told = {part.amount for part in result.parts}
    assert result.left_out == sum(min(int(4 * one.stimulus.visual_change), 3) not in told for one in counted)
    assert "not an eye test" in page.text and f"You named {result.pictures} pictures" in page.text
    assert not re.search(r"\b(rank|gold|best|percentile|dog|cat)\b", page.text)
    assert (Session.objects.values().get(), list(session.responses.values())) == before, "nothing is stored"
    assert "kein Sehtest" in client.get(f"{address}&language=de").text


def test_it_is_gone_after_thirty_days_after_a_withdrawal_and_for_others(client: Any, study: Study) -> None:
    session = new_session(study)
    address = finished(client, session)
    ended = Session.objects.get().completed_at
    Session.objects.update(completed_at=timezone.now() - timedelta(days=30, minutes=1))
    assert client.get(address).status_code == 404
    Session.objects.update(completed_at=ended)
    assert client.get(address).status_code == 200
    for forged in ("", "x", credentials.TOKEN.sign(session.pk, session.token_nonce), address.split("of=")[1][:-2]):
        gone = client.get("/run/result/", {"of": forged})
        assert gone.status_code == 404 and "You named" not in gone.text
    services.leave_session(claim=credentials.SessionClaim(session.pk, session.token_nonce))
    assert Session.objects.get().state == SessionState.WITHDRAWN
    assert client.get(address).status_code == 404


def test_only_after_the_last_session_of_the_person(client: Any, db: None) -> None:
    make_stimulus_set(per_category=16)
    study = collecting_study(spec=4, design=DESIGN, max_sessions_per_worker=2)
    session = new_session(study)
    assert finished(client, session) == "" == own_result_address(session)
    session.refresh_from_db()
    facts = {"participant": session.participant, "number": 2, "slot": 3, "total": 1, "opened_at": timezone.now()}
    Session.objects.create(study=study, code="S-second", state=SessionState.COMPLETED, **facts)
    assert own_result_address(session) != ""


@pytest.mark.parametrize("changes", [{"spec": 4, "ending": {"own_result": False}}, {}])
def test_the_study_decides_and_earlier_ones_offer_none(client: Any, db: None, changes: dict[str, Any]) -> None:
    make_stimulus_set(per_category=8)
    assert finished(client, new_session(collecting_study(design=DESIGN, **changes))) == ""


def test_who_ended_with_the_qualification_has_none(client: Any, study: Study) -> None:
    address = finished(client, new_session(study))
    Session.objects.update(qualified=False)
    assert client.get(address).status_code == 404


def test_too_few_pictures_of_one_amount_are_left_out(client: Any, db: None) -> None:
    make_stimulus_set()
    session = new_session(collecting_study(spec=4))
    address = finished(client, session)
    shown = own_result_behind(address.split("of=")[1].replace("%3A", ":"))[1].parts if address else ()
    counted = session.trials.filter(role__in=["main", "clean"])
    much = [one for one in counted if one.stimulus.visual_change > 0.75]
    assert 0 < len(much) < FEWEST and 3 not in {part.amount for part in shown}
