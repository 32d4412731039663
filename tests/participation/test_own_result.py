"""A participant's own result: shares by amount of change, after the last session, for 30 days, and no single answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from analysis.own_performance import FEWEST_IN_WINDOW, joined
from humanexp.participation import sessions
from humanexp.participation.endings import leave_session
from humanexp.participation.models import Session, SessionState, Trial
from humanexp.participation.own_curves import OwnShares, own_result_address, own_result_behind
from humanexp.participation.sessions import SessionClaim
from humanexp.studies.models import Study
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session

DESIGN = {"sessions": 4, "main_trials": 48, "practice_trials": 4, "consistency_pairs": 2}


@pytest.fixture
def study(db: None) -> Study:
    make_stimulus_set(per_category=8)
    return collecting_study(spec=4, design=DESIGN)


def finished(client: Any, session: Session) -> str:
    """Every trial answered, right where the pictures are little changed; the address of the result."""

    def answer(trial: Trial) -> str:
        is_right = trial.stimulus.visual_change < 0.5 and trial.role != "gold"
        others = [name for name in ("dog", "cat") if name != trial.correct_response]
        return str(trial.correct_response if is_right else others[0])

    return finished_as(client, session, answer)


def finished_as(client: Any, session: Session, answer: Callable[[Trial], str]) -> str:
    tab = Tab(client, session)
    tab.take_lease()
    for trial in session.trials.select_related("stimulus").order_by("position"):
        tab.answer(trial.position, answer(trial))
    return str(tab.post("complete/", {}).json()["own_result"])


def shares_behind(address: str) -> OwnShares:
    _session, result = own_result_behind(address.split("of=")[1].replace("%3A", ":"))
    [shares] = result.shares
    return shares


def assert_nothing_is_missing(shares: OwnShares, counted: Any) -> None:
    """Every picture is behind one of the rows, and ten or more behind each."""
    assert [part.first for part in shares.parts] == [0, *(part.end for part in shares.parts[:-1])]
    assert shares.parts[-1].end == 4
    for part in shares.parts:
        inside = [one for one in counted if part.first <= min(int(4 * one.stimulus.visual_change), 3) < part.end]
        assert len(inside) >= FEWEST_IN_WINDOW


def test_shares_by_amount_of_change_and_nothing_else(client: Any, study: Study) -> None:
    session = new_session(study)
    address = finished(client, session)
    before = (Session.objects.values().get(), list(session.responses.values()))
    page = client.get(address)
    assert page.status_code == 200 and page["Referrer-Policy"] == "no-referrer" and "no-store" in page["Cache-Control"]
    shares = shares_behind(address)
    counted = session.trials.filter(role__in=["main", "clean"])
    assert shares.answers == counted.count() < session.total, "nothing that checks the participant"
    assert_nothing_is_missing(shares, counted)
    assert shares.parts[0].of_ten == 10 and shares.parts[-1].of_ten < 5
    assert "not an eye test" in page.text and f"You named {shares.answers} pictures" in page.text
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
    for forged in ("", "x", sessions.TOKEN.sign(session.pk, session.token_nonce), address.split("of=")[1][:-2]):
        gone = client.get("/run/result/", {"of": forged})
        assert gone.status_code == 404 and "You named" not in gone.text
    leave_session(claim=SessionClaim(session.pk, session.token_nonce))
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


def test_amounts_with_too_few_pictures_are_joined_with_their_neighbours(client: Any, db: None) -> None:
    make_stimulus_set()
    session = new_session(collecting_study(spec=4))
    address = finished(client, session)
    counted = session.trials.filter(role__in=["main", "clean"])
    much = [one for one in counted if one.stimulus.visual_change > 0.75]
    assert 0 < len(much) < FEWEST_IN_WINDOW <= counted.count()
    shares = shares_behind(address)
    assert len(shares.parts) < 4 and shares.answers == counted.count()
    assert_nothing_is_missing(shares, counted)
    page = client.get(address).text
    assert "to changed very much" in page or "all together" in page


def test_neighbours_are_joined_from_the_least_on_and_what_is_left_joins_the_last() -> None:
    yes = [True]
    assert [group[:2] for group in joined([yes * 10, yes * 4, yes * 6, yes * 9])] == [(0, 1), (1, 4)]
    assert [group[:2] for group in joined([[], yes * 10, []])] == [(0, 3)]
    assert joined([yes * 4, yes * 5]) == []


PAIRS = {"sessions": 2, "main_trials": 0, "discrimination": {"trials": 24, "sentinels": 2, "practice": 1}}


def test_comparisons_are_told_by_what_was_right(client: Any, db: None) -> None:
    make_stimulus_set(per_category=8, per_function=160)
    session = new_session(collecting_study(spec=4, design=PAIRS))
    address = finished_as(client, session, lambda trial: "same")
    shares = shares_behind(address)
    asked = session.trials.filter(role="main")
    assert (shares.task, shares.answers) == ("discrimination", asked.count())
    n_same = asked.filter(correct_response="same").count()
    if min(n_same, shares.answers - n_same) >= FEWEST_IN_WINDOW:
        assert [part.of_ten for part in shares.parts] == [10, 0]
    page = client.get(address).text
    assert f"You made {shares.answers} comparisons of pictures" in page and "changed in the same way" in page
    german = client.get(f"{address}&language=de").text
    assert "Vergleiche von Bildern gemacht" in german and "auf verschiedene Weise" in german


def test_of_three_pictures_all_are_counted_together(client: Any, db: None) -> None:
    make_stimulus_set(per_category=8, per_function=160)
    design = {**PAIRS, "discrimination": {**PAIRS["discrimination"], "form": "abx"}}
    session = new_session(collecting_study(spec=4, design=design))
    address = finished_as(client, session, lambda trial: trial.correct_response)
    shares = shares_behind(address)
    assert (shares.task, [part.of_ten for part in shares.parts]) == ("abx", [10])
    assert "all together" in client.get(address).text
