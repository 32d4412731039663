"""Who goes on with a session: its page, its browser, a page its browser agreed to, or whom a researcher lets in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from humanexp.core import clock
from humanexp.core.errors import ApplicationError, NotAllowed, StudyRefused
from humanexp.core.models import AuditEvent, User
from humanexp.entry.identity import name_of
from humanexp.entry.models import ResumeConfirmation
from humanexp.participation.models import Session, SessionState
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.models import WayBack
from humanexp.recruiting.ways_back import address_of, make_personal_link, open_ways_back, release, revoke
from tests.recruitment.studies import Visitor, make_study
from tests.tampering import tampered

pytestmark = pytest.mark.django_db
MARKET = "http://localhost:8001"
CONFIRM = "/api/v1/run/resume/"


@pytest.fixture(autouse=True)
def market(settings: Any) -> None:
    settings.MARKETPLACE_URL = MARKET
    settings.RECRUITER_ORIGINS = [MARKET]


@pytest.fixture
def campaign() -> Campaign:
    return publish(study=make_study(), terms=LaunchTerms(to="marketplace", assignments=6, reward_cents=120))


@pytest.fixture
def link() -> Campaign:
    return publish(study=make_study(), terms=LaunchTerms(to="link", assignments=6))


@pytest.fixture
def visitor(campaign: Campaign) -> Callable[..., Visitor]:
    def make(assignment_id: str = "ASSIGNMENT1") -> Visitor:
        return Visitor(campaign, worker_id="AWORKER1", assignment_id=assignment_id, submit_to=MARKET)

    return make


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the clock on, for rows and for signatures."""

    def move(seconds: float) -> None:
        then = timezone.now() + timedelta(seconds=seconds)
        monkeypatch.setattr(clock, "now", lambda: then)
        monkeypatch.setattr("django.core.signing.time.time", then.timestamp)

    return move


def owner_of(campaign: Campaign, role: str = "owner") -> User:
    user = User.objects.create_user(f"ada-{role}")
    campaign.study.memberships.create(user=user, role=role)
    return user


class TestConfirmation:
    """A frame loses its tab; the study's window, at the top, holds the secret."""

    def asked(self, page: Visitor) -> dict[str, str]:
        reply = page.open()
        assert reply.status_code == 409
        resume: dict[str, str] = reply.json()["resume"]
        return resume

    def confirmed(self, page: Visitor, claim: str) -> Any:
        return page.call("POST", f"/take/{page.campaign.entry}/resume/", {"claim": claim})

    def test_the_page_goes_on_once_the_browser_that_began_agrees(self, visitor: Callable[..., Visitor]) -> None:
        first, again = visitor(), visitor()
        first.open()
        secret, resume = first.secret(), self.asked(again)
        assert not ResumeConfirmation.objects.exists(), "asking stores nothing"
        assert self.confirmed(again, resume["claim"]).json() == {"confirmed": False}
        agreed = first.call("POST", CONFIRM, {"ask": resume["ask"], "secret": secret})
        assert agreed.status_code == 200 and set(agreed.json()) == {"token"}
        assert self.confirmed(again, resume["claim"]).json() == {"confirmed": True}
        assert again.open(confirmed=resume["claim"]).status_code == 201
        assert again.session == first.session

    def test_it_is_used_once_and_lost_replies_are_repeated(self, visitor: Callable[..., Visitor]) -> None:
        first, again = visitor(), visitor()
        first.open()
        secret, resume = first.secret(), self.asked(again)
        for _ in range(2):
            assert first.call("POST", CONFIRM, {"ask": resume["ask"], "secret": secret}).status_code == 200
        for _ in range(2):
            assert again.open(confirmed=resume["claim"]).status_code == 201
        assert visitor().open(confirmed=resume["claim"]).status_code == 409
        assert ResumeConfirmation.objects.count() == 1

    def test_it_is_good_for_two_minutes(self, visitor: Callable[..., Visitor], later: Callable[[float], None]) -> None:
        first, again = visitor(), visitor()
        first.open()
        secret, resume = first.secret(), self.asked(again)
        later(121)
        assert first.call("POST", CONFIRM, {"ask": resume["ask"], "secret": secret}).status_code == 401
        later(200)
        assert self.confirmed(again, resume["claim"]).status_code == 401

    def test_another_hit_of_the_same_person_takes_the_session_along(self, visitor: Callable[..., Visitor]) -> None:
        first, second = visitor(), visitor("ASSIGNMENT2")
        first.open()
        secret = first.secret()
        refused = second.open()
        if refused.status_code == 201:
            pytest.skip("another assignment opens a session of its own")
        resume = refused.json()["resume"]
        first.call("POST", CONFIRM, {"ask": resume["ask"], "secret": secret})
        assert second.open(confirmed=resume["claim"], continueHere=True).status_code == 201
        assert second.session == first.session
        assert Assignment.objects.get(session=first.session).assignment_id == "ASSIGNMENT2"

    def test_a_finished_session_shows_its_receipt_to_its_own_browser(self, visitor: Callable[..., Visitor]) -> None:
        first, again = visitor(), visitor()
        first.open()
        secret = first.secret()
        receipt = first.answer_all()["receipt"]
        resume = self.asked(again)
        first.call("POST", CONFIRM, {"ask": resume["ask"], "secret": secret})
        again.open(confirmed=resume["claim"])
        assert again.status()["receipt"] == receipt

    def test_on_a_shared_computer_there_is_nobody_to_ask(self, visitor: Callable[..., Visitor]) -> None:
        first = visitor()
        first.open(sharedComputer=True)
        handoff = first.call("POST", f"/take/{first.campaign.entry}/handoff/").json()["handoff"]
        assert first.call("POST", "/api/v1/run/handoff/", {"code": handoff}).json()["resume"] is None
        refused = visitor().open()
        assert (refused.status_code, "resume" in refused.json()) == (409, False)


def test_the_name_under_which_a_secret_is_kept_tells_no_id(link: Campaign) -> None:
    names = [name_of(link, worker_id) for worker_id in ("panel-7", "panel-8", "")]
    assert len(set(names)) == 3 and all(name.startswith(link.entry) for name in names)
    assert "panel" not in "".join(names)
    someone = Visitor(link, worker_id="panel-7")
    assert someone.open().status_code == 201
    handoff = someone.call("POST", f"/take/{link.entry}/handoff/").json()["handoff"]
    kept = someone.call("POST", "/api/v1/run/handoff/", {"code": handoff}).json()["resume"]
    assert kept["name"] == names[0]
    assert f'"resumeName": "{names[0]}"' in someone.get(p="panel-7").content.decode()


def test_a_secret_of_another_session_opens_nothing(link: Campaign) -> None:
    mine, other = Visitor(link, worker_id="panel-7"), Visitor(link, worker_id="panel-8")
    mine.open()
    other.open()
    assert Visitor(link, worker_id="panel-7").open(secret=other.secret()).status_code == 409


def test_secrets_outlive_a_change_of_the_key_while_it_is_among_the_fallbacks(link: Campaign, settings: Any) -> None:
    someone = Visitor(link, worker_id="panel-7")
    someone.open()
    secret, old = someone.secret(), settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another" * 8, [old]
    assert Visitor(link, worker_id="panel-7").open(secret=secret).status_code == 201
    settings.SECRET_KEY_FALLBACKS = []
    refused = Visitor(link, worker_id="panel-7").open(secret=secret)
    assert (refused.status_code, refused.json()["type"].rpartition("/")[2]) == (503, "secret-key")


class TestWaysBack:
    def test_a_release_lets_the_next_one_in_once_and_puts_all_others_out(
        self, visitor: Callable[..., Visitor], campaign: Campaign
    ) -> None:
        lost, back, late = visitor(), visitor(), visitor()
        lost.open()
        session, secret = lost.session, lost.secret()
        release(assignment=session.assignment, by=owner_of(campaign))
        assert back.open().status_code == 201
        assert back.session == session
        assert late.open().status_code == 409, "used up"
        for revoked in (lost.call("GET", "/api/v1/run/status/"), lost.call("POST", "/api/v1/run/withdraw/")):
            assert revoked.status_code == 401
        assert (lost.open().status_code, visitor().open(secret=secret).status_code) == (409, 409)
        assert visitor().open(secret=back.secret()).status_code == 201
        acts = list(AuditEvent.objects.filter(study=campaign.study.slug).values_list("action", flat=True))
        assert {"make-way-back", "use-way-back"} <= set(acts)

    def test_it_lasts_half_an_hour_and_can_be_taken_back(
        self, visitor: Callable[..., Visitor], campaign: Campaign, later: Callable[[float], None]
    ) -> None:
        someone, ada = visitor(), owner_of(campaign)
        someone.open()
        row = someone.session.assignment
        revoke(way=release(assignment=row, by=ada), by=ada)
        assert visitor().open().status_code == 409
        release(assignment=row, by=ada)
        later(31 * 60)
        assert open_ways_back(row) == []
        assert visitor().open().status_code == 409

    def test_a_personal_link_goes_on_until_it_expires(
        self, visitor: Callable[..., Visitor], campaign: Campaign, later: Callable[[float], None], settings: Any
    ) -> None:
        settings.PUBLIC_URL = "https://lab.example"
        lost = visitor()
        lost.open()
        session = lost.session
        way = make_personal_link(assignment=session.assignment, by=owner_of(campaign))
        address = address_of(way)
        page, _, proof = address.partition("#")
        assert page == f"https://lab.example/take/{campaign.entry}/personal/", "the proof reaches no log"
        seen = lost.http.get(f"/take/{campaign.entry}/personal/")
        assert seen.status_code == 200 and b"Continue the study" in seen.content
        assert lost.status()["state"] == "open", "looking changes nothing"
        follow = f"/take/{campaign.entry}/personal/follow/"
        for _ in range(2):
            reply = visitor().call("POST", follow, {"link": proof})
            assert reply.status_code == 200
            code = reply.json()["handoff"]
            kept = visitor().call("POST", "/api/v1/run/handoff/", {"code": code}).json()
            assert kept["resume"]["name"] == session.assignment.resume_name
        assert lost.call("GET", "/api/v1/run/status/").status_code == 401
        assert visitor().call("POST", follow, {"link": tampered(proof)}).status_code == 401
        other = publish(study=make_study("blur"), terms=LaunchTerms(to="link", assignments=1))
        assert visitor().call("POST", f"/take/{other.entry}/personal/follow/", {"link": proof}).status_code == 401
        later(8 * 24 * 3600)
        assert visitor().call("POST", follow, {"link": proof}).status_code == 401

    def test_a_finished_or_left_session_has_no_way_back(
        self, visitor: Callable[..., Visitor], campaign: Campaign
    ) -> None:
        someone, ada = visitor(), owner_of(campaign)
        someone.open()
        row = someone.session.assignment
        link = address_of(make_personal_link(assignment=row, by=ada)).partition("#")[2]
        release(assignment=row, by=ada)
        code = someone.answer_all()["completion_code"]
        row.refresh_from_db()
        for make in (release, make_personal_link):
            with pytest.raises(StudyRefused, match="under way"):
                make(assignment=row, by=ada)
        refused = visitor().open()
        assert refused.status_code == 409 and code not in refused.content.decode()
        refused = visitor().call("POST", f"/take/{campaign.entry}/personal/follow/", {"link": link})
        assert refused.status_code == 409 and "handoff" not in refused.json()
        assert someone.status()["completion_code"] == code, "nobody was put out"

    @pytest.mark.parametrize("role", ["viewer", "payer", ""])
    def test_the_service_asks_for_the_role_itself(
        self, visitor: Callable[..., Visitor], campaign: Campaign, role: str
    ) -> None:
        someone = visitor()
        someone.open()
        row = someone.session.assignment
        by = owner_of(campaign, role) if role else User.objects.create_user("stranger")
        way = release(assignment=row, by=owner_of(campaign))
        for act in (
            lambda: release(assignment=row, by=by),
            lambda: make_personal_link(assignment=row, by=by),
            lambda: revoke(way=way, by=by),
        ):
            with pytest.raises(NotAllowed):
                act()
        assert WayBack.objects.count() == 1

    def test_a_link_lives_for_a_stated_number_of_days(
        self, visitor: Callable[..., Visitor], campaign: Campaign
    ) -> None:
        someone = visitor()
        someone.open()
        ada = owner_of(campaign)
        for days in (0, 31):
            with pytest.raises(ApplicationError, match="1 to 30 days"):
                make_personal_link(assignment=someone.session.assignment, by=ada, days=days)

    def test_a_withdrawn_session_is_followed_by_a_new_one_without_any_proof(
        self, visitor: Callable[..., Visitor]
    ) -> None:
        first, again = visitor(), visitor()
        first.open()
        Session.objects.update(state=SessionState.WITHDRAWN)
        assert again.open().status_code == 201
        assert again.session != first.session
