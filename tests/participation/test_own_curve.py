"""The curve that a volunteer was promised: over all their sessions, with intervals, and the card that they share."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from humanexp.participation import sessions
from humanexp.participation.endings import erase_withdrawn, leave_session, promise_curve
from humanexp.participation.models import EarlierCurves, OwnCurve, Session
from humanexp.participation.own_curves import Earlier, EarlierLine, own_result_behind
from humanexp.participation.sessions import SessionClaim
from humanexp.studies.models import Study
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session

DESIGN = {"sessions": 4, "main_trials": 80, "practice_trials": 4, "consistency_pairs": 2}
GRID = (0.0, 0.5, 1.0)


@pytest.fixture
def study(db: None) -> Study:
    make_stimulus_set(per_category=12, per_function=192)
    return collecting_study(spec=4, design=DESIGN)


@pytest.fixture
def earlier(db: None) -> EarlierCurves:
    lines = (
        EarlierLine(name="humans", kind="people", visual_change=GRID, rate=(0.95, 0.6, 0.1)),
        EarlierLine(name="timm:resnet50<script>", kind="network", visual_change=GRID, rate=(0.9, 0.3, 0.07)),
    )
    content = Earlier(title="Earlier <b>", lines=lines).to_json()
    return EarlierCurves.objects.create(digest="d", content=content, frozen_at=timezone.now())


def finished(client: Client, session: Session, *, up_to: float = 0.6) -> str:
    """Right where the pictures are changed less than that; the address of the result."""
    tab = Tab(client, session)
    tab.take_lease()
    for trial in session.trials.select_related("stimulus").order_by("position"):
        others = [name for name in ("dog", "cat") if name != trial.correct_response]
        is_right = trial.stimulus.visual_change < up_to
        tab.answer(trial.position, trial.correct_response if is_right else others[0])
    return str(tab.post("complete/", {}).json()["own_result"])


def promised(study: Study, earlier: EarlierCurves | None = None, code: str = "P-1") -> Session:
    session = new_session(study, code)
    promise_curve(session=session, compared_with=earlier)
    return session


def said_in(address: str) -> str:
    return parse_qs(urlsplit(address).query)["of"][0]


def make_card(client: Client, address: str) -> str:
    assert client.post(address, {"make": "1"}).status_code == 303
    return str(OwnCurve.objects.get(card_key__isnull=False).card_key)


def test_a_curve_with_intervals_next_to_what_was_frozen(client: Client, study: Study, earlier: EarlierCurves) -> None:
    session = promised(study, earlier)
    address = finished(client, session)
    before = (Session.objects.values().get(), OwnCurve.objects.values().get())
    page = client.get(address)
    found = own_result_behind(said_in(address))[1]
    assert found.performance is not None and len(found.performance.windows) >= 3
    counted = session.trials.filter(role__in=["main", "clean"]).count()
    assert found.pictures == counted and f"You named {counted} pictures" in page.text
    for one in found.performance.windows:
        assert one.pictures >= 10 and one.lower <= one.rate <= one.upper
    assert "not an eye test" in page.text and "by guessing" not in page.text
    assert "Earlier &lt;b&gt;" in page.text and "resnet50&lt;script&gt;" in page.text
    assert "<script>" not in page.text and "<b>" not in page.text
    assert not re.search(r"\b(rank|gold|best|percentile|dog|cat|gaussian)\b", page.text)
    assert page["Referrer-Policy"] == "no-referrer" and "no-store" in page["Cache-Control"] and not page.cookies
    assert (Session.objects.values().get(), OwnCurve.objects.values().get()) == before, "looking stores nothing"
    german = client.get(f"{address}&language=de").text
    assert "kein Sehtest" in german and "Menschen im Durchschnitt" in german


def test_somebody_who_guesses_is_told_so_and_gets_an_interval(client: Client, study: Study) -> None:
    page = client.get(finished(client, promised(study), up_to=0.0))
    assert "also come about by guessing" in page.text and "were right in 0 %" in page.text
    assert re.search(r"between 0 and [1-9] %\.", page.text), "no answer right is not a chance of 0"


def test_few_pictures_are_too_few_to_tell(client: Client, db: None) -> None:
    make_stimulus_set()
    address = finished(client, promised(collecting_study(spec=4)))
    page = client.get(address)
    assert "too few to tell" in page.text and "<svg" not in page.text and "Make a card" not in page.text
    client.post(address, {"make": "1"})
    assert not OwnCurve.objects.filter(card_key__isnull=False).exists()
    OwnCurve.objects.update(card_key="k" * 32)
    assert client.get(f"/cards/{'k' * 32}/").status_code == 404


@pytest.mark.verify
def test_it_counts_all_sessions_of_the_person_and_of_nobody_else(client: Client, db: None) -> None:
    make_stimulus_set(per_category=30, per_function=480)
    study = collecting_study(spec=4, design=DESIGN, max_sessions_per_worker=2)
    first = promised(study)
    assert finished(client, first) == "", "only after the last one"
    finished(client, new_session(study, "P-2"), up_to=0.0)
    second = promised(study)
    assert second.participant == first.participant
    found = own_result_behind(said_in(finished(client, second)))[1]
    mine = sum(one.trials.filter(role__in=["main", "clean"]).count() for one in (first, second))
    assert found.pictures == mine


def test_a_card_has_no_id_in_its_address_and_can_be_taken_back(
    client: Client, study: Study, earlier: EarlierCurves
) -> None:
    session = promised(study, earlier)
    address = finished(client, session)
    assert "Make a card" in client.get(address).text
    key = make_card(client, address)
    assert make_card(client, address) == key, "twice is once"
    assert len(key) >= 32 and session.code not in key and str(session.participant) not in key
    shared = Client().get(f"/cards/{key}/")
    assert shared.status_code == 200 and "no-store" in shared["Cache-Control"] and "noindex" in shared.text
    for told in (session.code, session.participant.code, said_in(address), study.slug, "<script>", "<b>", "gaussian"):
        assert told not in shared.text
    assert "kein Sehtest" in Client().get(f"/cards/{key}/?language=de").text
    client.post(address, {"take-back": "1"})
    assert Client().get(f"/cards/{key}/").status_code == 404
    assert make_card(client, address) != key, "what was taken back stays so"


@pytest.mark.parametrize("key", ["", "x", "None", "1", "0", "%00", "a" * 400, "..%2f..%2f", "<script>"])
def test_a_guessed_address_leads_nowhere(client: Client, study: Study, key: str) -> None:
    finished(client, promised(study))  # a row without a card
    reply = client.get(f"/cards/{key}/")
    assert reply.status_code == 404 and "<script>" not in reply.text


def test_only_the_signed_address_makes_a_card(client: Client, study: Study) -> None:
    session = promised(study)
    address = finished(client, session)
    forged = sessions.TOKEN.sign(session.pk, session.token_nonce)
    for said in ("", forged, said_in(address)[:-2]):
        assert client.post(f"/run/result/?of={said}", {"make": "1"}).status_code == 404
    assert OwnCurve.objects.get().card_key is None


def test_card_and_curve_go_with_the_answers(client: Client, study: Study) -> None:
    session = promised(study)
    address = finished(client, session)
    key = make_card(client, address)
    leave_session(claim=SessionClaim(session.pk, session.token_nonce))
    assert client.get(address).status_code == 404 == client.get(f"/cards/{key}/").status_code
    Session.objects.update(erase_after=timezone.now() - timedelta(minutes=1))
    erase_withdrawn()
    assert not OwnCurve.objects.exists()


def test_a_card_ends_with_the_page(client: Client, study: Study) -> None:
    key = make_card(client, finished(client, promised(study)))
    Session.objects.update(completed_at=timezone.now() - timedelta(days=30, minutes=1))
    assert client.get(f"/cards/{key}/").status_code == 404


def test_others_keep_the_result_that_they_had(client: Client, study: Study) -> None:
    address = finished(client, new_session(study))
    page: Any = client.get(address)
    assert "of 10" in page.text and "Make a card" not in page.text
    client.post(address, {"make": "1"})
    assert not OwnCurve.objects.exists()
