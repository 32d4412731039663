"""The entry page: what is shown, what is written, and who gets a session."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from humanexp.core.errors import Conflict, StudyRefused
from humanexp.core.models import AuditEvent, User
from humanexp.ledger.payments import free_sessions, places_left
from humanexp.ledger.settlement import settle
from humanexp.participation.models import Participant, RefusedCall, Session, SessionState
from humanexp.participation.places import verify_session
from humanexp.recruiters.campaigns import HOUSE_VERSION
from humanexp.recruiters.models import Assignment, Campaign, RecruitedPerson
from humanexp.recruiters.mturk.kinds import origin
from humanexp.recruiters.people import person_for
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiting.extension import reopen_campaign, stop
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.recruitment.studies import LEASE, Visitor, make_study

pytestmark = pytest.mark.django_db
MARKET = "http://localhost:8001"


@pytest.fixture(autouse=True)
def market(settings: Any) -> None:
    settings.MARKETPLACE_URL = MARKET
    settings.RECRUITER_ORIGINS = [MARKET, "https://workersandbox.mturk.com", "https://www.mturk.com"]


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture
def campaign(study: Study) -> Campaign:
    """On the marketplace; nothing has been sent there."""
    return publish(study=study, terms=LaunchTerms(to="marketplace", assignments=6, reward_cents=120))


@pytest.fixture
def link(study: Study) -> Campaign:
    return publish(study=study, terms=LaunchTerms(to="link", assignments=3))


@pytest.fixture
def visitor(campaign: Campaign) -> Callable[..., Visitor]:
    def make(worker_id: str = "AWORKER1", assignment_id: str = "ASSIGNMENT1", submit_to: str = MARKET) -> Visitor:
        return Visitor(campaign, worker_id=worker_id, assignment_id=assignment_id, submit_to=submit_to)

    return make


def list_all() -> None:
    """As if the recruiter listed whoever has begun."""
    Assignment.objects.update(state=AssignmentState.SUBMITTED)
    for session in Session.objects.all():
        assert verify_session(session=session)


def test_a_marketplace_s_deadline_reaches_the_page_and_a_link_has_none(
    visitor: Callable[..., Visitor], link: Campaign, campaign: Campaign
) -> None:
    person = visitor()
    assert person.open().status_code == 201
    person.call("POST", "/api/v1/run/lease/", {"lease": LEASE})
    told = person.call("GET", "/api/v1/run/session/").json()["due_in_s"]
    opened_at = Assignment.objects.get().opened_at
    assert opened_at is not None
    assert person.session.due_at == opened_at + campaign.assignment_duration
    assert 0 <= campaign.assignment_duration.total_seconds() - told < 60
    guest = Visitor(link)
    assert guest.open().status_code == 201
    guest.call("POST", "/api/v1/run/lease/", {"lease": LEASE})
    assert guest.call("GET", "/api/v1/run/session/").json()["due_in_s"] is None


def nothing_is_written() -> bool:
    return not any(model.objects.exists() for model in (Session, Participant, RecruitedPerson, Assignment))


class TestPage:
    def test_a_preview_writes_nothing_and_sets_no_cookie(self, visitor: Callable[..., Visitor]) -> None:
        page = visitor().get(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", hitId="H1", turkSubmitTo=MARKET)
        assert page.status_code == 200
        assert b"This is a preview" in page.content
        assert b"$1.20 for everyone who submits" in page.content
        assert not page.cookies
        assert nothing_is_written()

    def test_the_page_of_a_worker_writes_nothing_before_consent(self, visitor: Callable[..., Visitor]) -> None:
        page = visitor().get(assignmentId="A1", hitId="H1", workerId="AWORKER1", turkSubmitTo=MARKET)
        assert b"I agree to take part" in page.content
        assert b"This is a preview" not in page.content
        assert not page.cookies
        assert nothing_is_written()

    def test_only_the_campaigns_recruiter_may_frame_it_and_take_its_form(self, visitor: Callable[..., Visitor]) -> None:
        page = visitor().get(assignmentId="A1", workerId="AWORKER1", turkSubmitTo=MARKET)
        policy = dict(part.strip().split(" ", 1) for part in page["Content-Security-Policy"].split(";"))
        assert policy["frame-ancestors"] == MARKET
        assert policy["form-action"] == MARKET
        assert policy["default-src"] == "'self'"
        assert "X-Frame-Options" not in page
        assert page["Referrer-Policy"] == "no-referrer"
        assert "no-store" in page["Cache-Control"]

    def test_a_plain_link_cannot_be_framed(self, link: Campaign) -> None:
        page = Visitor(link).get()
        assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
        assert page["X-Frame-Options"] == "DENY"

    @pytest.mark.parametrize(
        "target",
        [
            "https://evil.example",
            "http://localhost:8001.evil.example",
            "http://localhost:8001@evil.example",
            "",
            "javascript:1",
        ],
    )
    def test_a_form_target_that_is_not_the_recruiters_is_refused(
        self, visitor: Callable[..., Visitor], target: str
    ) -> None:
        page = visitor().get(assignmentId="A1", workerId="AWORKER1", turkSubmitTo=target)
        assert b"cannot be submitted from here" in page.content
        assert b"externalSubmit" not in page.content
        refused = visitor(submit_to=target).open()
        assert refused.status_code == 422
        assert refused.json()["fields"] == {"turkSubmitTo": "Not a recruiter of this study."}
        assert nothing_is_written()

    def test_the_form_target_is_built_from_our_list(self, visitor: Callable[..., Visitor]) -> None:
        page = visitor().get(assignmentId="A1", workerId="AWORKER1", turkSubmitTo=f"{MARKET}/some/path?x=1")
        assert f'action="{MARKET}/mturk/externalSubmit"'.encode() in page.content

    def test_an_amazon_origin_is_no_target_of_a_marketplace_campaign(self, visitor: Callable[..., Visitor]) -> None:
        assert visitor(submit_to="https://www.mturk.com").open().status_code == 422

    def test_what_the_address_says_is_escaped(self, visitor: Callable[..., Visitor]) -> None:
        evil = "</script><script>alert(1)</script>"
        page = visitor().get(assignmentId=evil, workerId=evil, turkSubmitTo=MARKET)
        assert b"<script>alert" not in page.content

    def test_an_unknown_link_says_so(self) -> None:
        page = Client().get("/take/nothing/")
        assert page.status_code == 404
        assert b"belongs to no study" in page.content


def test_origin_of_addresses() -> None:
    assert origin("https://www.mturk.com/") == origin("https://www.mturk.com:443") == "https://www.mturk.com"
    assert origin("http://localhost:8001/x") == "http://localhost:8001"
    assert origin("http://[::1]:80/") == "http://[::1]"
    assert [origin(bad) for bad in ("", "ftp://x", "//x", "http://a@b", "http://x:y", "http://")] == [""] * 6


class TestOpening:
    def test_consent_opens_a_session_that_remembers_what_was_agreed_to(self, visitor: Callable[..., Visitor]) -> None:
        someone = visitor()
        reply = someone.open()
        assert reply.status_code == 201
        assert set(reply.json()) == {"token", "handoff", "status_url", "run_url"}
        assert not reply.cookies
        assert someone.status()["state"] == "open"
        assert someone.session.consent_version == HOUSE_VERSION
        assert someone.session.consented_at is not None
        person = RecruitedPerson.objects.get()
        assert person.worker_id == "AWORKER1"
        assert "AWORKER1" not in f"{person} {person.participant.code} {someone.session}"

    def test_without_consent_nothing_is_written(self, visitor: Callable[..., Visitor]) -> None:
        refused = visitor().open(consent=False)
        assert (refused.status_code, refused.json()["type"]) == (422, "invalid")
        assert nothing_is_written()

    def test_a_preview_opens_nothing(self, visitor: Callable[..., Visitor]) -> None:
        assert visitor(assignment_id="ASSIGNMENT_ID_NOT_AVAILABLE").open().status_code == 422
        assert visitor(worker_id="").open().status_code == 422
        assert nothing_is_written()

    def test_a_page_may_repeat_its_call(self, visitor: Callable[..., Visitor]) -> None:
        """A double click, or a reply that was lost: the same page says the same again."""
        first, second = visitor(), visitor()
        second.opening = first.opening
        assert (first.open().status_code, second.open().status_code) == (201, 201)
        assert first.session == second.session
        assert Session.objects.count() == Assignment.objects.count() == 1

    def test_one_assignment_taken_by_two_workers_is_two_sessions(self, visitor: Callable[..., Visitor]) -> None:
        first, second = visitor(), visitor(worker_id="AWORKER2")
        first.open()
        second.open()
        assert first.session != second.session

    def test_a_second_hit_of_somebody_under_way_can_take_over_the_session_once_asked(
        self, visitor: Callable[..., Visitor]
    ) -> None:
        first, second = visitor(), visitor(assignment_id="ASSIGNMENT2")
        first.open()
        refused = second.open()
        assert (refused.status_code, refused.json()["type"]) == (409, "already-begun")
        assert second.open(continueHere=True).status_code == 409
        assert second.open(continueHere=True, secret=first.secret()).status_code == 201
        assert second.session == first.session
        assert [row.state for row in Assignment.objects.order_by("pk")] == ["returned", "opened"]
        # the session has moved: the first HIT cannot be submitted with it as well
        assert Assignment.objects.get(assignment_id="ASSIGNMENT1").session is None

    def test_somebody_in_whose_name_another_began_begins_all_the_same(self, visitor: Callable[..., Visitor]) -> None:
        stranger, worker = visitor(assignment_id="INVENTED"), visitor()
        stranger.open()
        assert worker.open().json()["type"] == "already-begun"
        assert worker.open(beginHere=True).status_code == 201
        assert worker.session != stranger.session
        assert Assignment.objects.filter(session__isnull=False).count() == 2

    def test_somebody_who_opened_under_the_very_assignment_and_answered_nothing_keeps_nobody_out(
        self, visitor: Callable[..., Visitor]
    ) -> None:
        stranger, worker = visitor(), visitor()
        stranger.open()
        refused = worker.open()
        assert (refused.status_code, refused.json()["begin_here"]) == (409, True)
        # the reply is lost, and the page repeats its call
        assert [worker.open(beginHere=True).status_code for _ in range(2)] == [201, 201]
        assert stranger.status()["state"] == "open", "nobody is put out"
        assert [(row.holds_slot, row.is_verified) for row in Session.objects.order_by("pk")] == [
            (False, False),
            (True, False),
        ]
        assert Assignment.objects.get().session == worker.session
        worker.answer_all()
        # Where an answer was given there is work to take over: only whoever gave it goes on.
        refused = visitor().open(beginHere=True)
        assert (refused.status_code, refused.json()["begin_here"]) == (409, False)

    def test_a_finished_session_that_could_not_be_submitted_moves_too(self, visitor: Callable[..., Visitor]) -> None:
        first, second = visitor(), visitor(assignment_id="ASSIGNMENT2")
        first.open()
        receipt = first.answer_all()["receipt"]
        assert second.open(continueHere=True).status_code == 409
        assert second.open(continueHere=True, secret=first.secret()).status_code == 201
        assert second.status()["receipt"] == receipt

    def test_whoever_has_submitted_is_asked_to_return_a_second_hit(self, visitor: Callable[..., Visitor]) -> None:
        first = visitor()
        first.open()
        first.answer_all()
        list_all()
        for asked in (False, True):
            refused = visitor(assignment_id="ASSIGNMENT2").open(continueHere=asked)
            assert (refused.status_code, refused.json()["type"]) == (409, "already-took-part")
            assert "does you no harm" in refused.json()["detail"]

    def test_another_study_of_the_family_is_closed_to_them_too(self, visitor: Callable[..., Visitor]) -> None:
        first = visitor()
        first.open()
        first.answer_all()
        list_all()
        sister = make_study("noise-2", family="noise")
        campaign = publish(study=sister, terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=100))
        refused = Visitor(campaign, worker_id="AWORKER1", assignment_id="OTHER", submit_to=MARKET).open()
        assert refused.json()["type"] == "already-took-part"
        stranger = make_study("blur")
        campaign = publish(study=stranger, terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=100))
        assert (
            Visitor(campaign, worker_id="AWORKER1", assignment_id="THIRD", submit_to=MARKET).open().status_code == 201
        )

    def test_a_hit_returned_and_accepted_again_goes_on(self, visitor: Callable[..., Visitor]) -> None:
        someone = visitor()
        someone.open()
        Assignment.objects.update(state=AssignmentState.RETURNED)
        again = visitor()
        assert again.open(secret=someone.secret()).status_code == 201
        assert again.session == someone.session
        assert Assignment.objects.get().state == AssignmentState.OPENED

    def test_a_withdrawn_session_is_followed_by_a_new_one(self, visitor: Callable[..., Visitor]) -> None:
        someone = visitor()
        someone.open()
        old = someone.session
        Session.objects.filter(pk=old.pk).update(state=SessionState.WITHDRAWN)
        Assignment.objects.update(state=AssignmentState.RETURNED)
        assert someone.open().status_code == 201
        assert someone.session != old

    def test_a_fresh_hand_off_only_for_the_bearer_of_this_study(self, visitor: Callable[..., Visitor]) -> None:
        someone = visitor()
        handoff = someone.open().json()["handoff"]
        path = f"/take/{someone.campaign.entry}/handoff/"
        fresh = someone.call("POST", path).json()["handoff"]
        exchange = "/api/v1/run/handoff/"
        assert someone.call("POST", exchange, {"code": handoff}).status_code == 401  # replaced
        assert someone.call("POST", exchange, {"code": fresh}).status_code == 200
        assert someone.call("POST", exchange, {"code": fresh}).status_code == 401  # used
        assert Client().post(path).status_code == 401
        other = publish(study=make_study("blur"), terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=1))
        assert someone.call("POST", f"/take/{other.entry}/handoff/").status_code == 401
        entry = RefusedCall.objects.order_by("-at", "-pk")[0]
        assert (entry.reason, entry.call, entry.session) == ("foreign", "handoff", someone.session)

    def test_the_same_person_has_one_code_in_sandbox_and_production(self, study: Study) -> None:
        codes = {
            environment: person_for(environment=environment, worker_id="AWORKER1", family=study.family).participant.code
            for environment in ("sandbox", "production", "marketplace")
        }
        assert codes["sandbox"] == codes["production"] != codes["marketplace"]
        assert RecruitedPerson.objects.count() == 3

    def test_scripted_participants_and_people_do_not_mix(self, visitor: Callable[..., Visitor]) -> None:
        assert visitor().open(simulated=True).status_code == 409
        scripted = make_study("scripted", population="scripted")
        link = publish(study=scripted, terms=LaunchTerms(to="link", assignments=2))
        assert Visitor(link).open().status_code == 409
        assert Visitor(link).open(simulated=True).status_code == 201

    def test_after_a_stop_those_who_hold_a_hit_may_still_begin(
        self, campaign: Campaign, visitor: Callable[..., Visitor]
    ) -> None:
        stop(study=campaign.study)
        someone = visitor()
        assert someone.open().status_code == 201
        Campaign.objects.update(stopped_at=timezone.now() - campaign.assignment_duration - timedelta(minutes=1))
        refused = visitor(worker_id="AWORKER2", assignment_id="ASSIGNMENT2").open()
        assert "has ended" in refused.json()["detail"]
        assert someone.open().status_code == 201  # under way: to the end


class TestLink:
    def test_whoever_comes_back_in_the_same_browser_goes_on(self, link: Campaign) -> None:
        first, again, other = (Visitor(link, worker_id=code) for code in ("panel-7", "panel-7", "panel-8"))
        for someone in (first, other):
            assert someone.open().status_code == 201
        assert again.open().status_code == 409
        assert again.open(secret=first.secret()).status_code == 201
        assert first.session == again.session != other.session

    def test_without_an_id_everyone_is_new(self, link: Campaign) -> None:
        first, second = Visitor(link), Visitor(link)
        first.open()
        second.open()
        assert first.session != second.session
        again = Visitor(link)
        assert again.open(secret=first.secret()).status_code == 201
        assert again.session == first.session

    def test_places_run_out(self, link: Campaign) -> None:
        assert [Visitor(link).open().status_code for _ in range(4)] == [201, 201, 201, 409]

    def test_finishing_is_submitting(self, link: Campaign) -> None:
        someone = Visitor(link)
        someone.open()
        path = f"/take/{link.entry}/finish/"
        assert someone.call("POST", path).status_code == 409
        someone.answer_all()
        assert [someone.call("POST", path).status_code for _ in range(2)] == [204, 204]
        assert someone.status()["state"] == "submitted"
        row = Assignment.objects.get()
        assert (row.state, row.evidence) == ("submitted", "receipt")

    def test_sync_finds_who_closed_the_page(self, link: Campaign) -> None:
        someone = Visitor(link)
        someone.open()
        someone.answer_all()
        assert sync(study=link.study).submitted == 1
        assert someone.status()["state"] == "submitted"
        assert sync(study=link.study).submitted == 0
        assert settle(study=link.study).planned == 0

    def test_a_stopped_link_takes_nobody_new(self, link: Campaign) -> None:
        someone = Visitor(link, worker_id="panel-7")
        someone.open()
        stop(study=link.study)
        link.refresh_from_db()
        assert (link.state, link.hits.get().state) == ("stopped", "open")
        assert b"This study has ended" in someone.get().content
        assert Visitor(link).open().status_code == 409
        assert someone.open().status_code == 201  # who has begun may finish

    def test_stopped_it_is_opened_again_at_its_address_and_stopped_again(
        self, link: Campaign, admin_user: User
    ) -> None:
        first = Visitor(link, worker_id="panel-7")
        first.open()
        first.answer_all()
        for time in (1, 2):
            stop(study=link.study)
            sync(study=link.study)
            link.refresh_from_db()
            assert (link.state, link.hits.get().state) == ("stopped", "closed")
            assert Visitor(link, worker_id=f"panel-8{time}").open().status_code == 409
            for _ in range(2):  # twice is once
                reopen_campaign(campaign=link, by=admin_user)
            sync(study=link.study)
            link.refresh_from_db()
            assert (link.state, link.stopped_at, link.hits.get().state) == ("live", None, "open")
            assert free_sessions(link.study) + places_left(link) == link.study.planned_sessions - 1
            assert AuditEvent.objects.filter(action="reopen", by=admin_user).count() == time
        assert Visitor(link, worker_id="panel-9").open().status_code == 201
        first.open()
        assert Session.objects.count() == 2, "who has finished gets no second one"

    def test_it_stays_closed_where_others_have_its_sessions(self, link: Campaign, admin_user: User) -> None:
        stop(study=link.study)
        free = free_sessions(link.study)
        others = LaunchTerms(to="link", assignments=free - link.assignments + 1)
        publish(study=link.study, terms=others)
        with pytest.raises(StudyRefused, match="Launch a new link with at most"):
            reopen_campaign(campaign=link, by=admin_user)

    def test_a_campaign_through_a_recruiter_is_never_opened_again(self, study: Study, admin_user: User) -> None:
        terms = LaunchTerms(to="marketplace", assignments=1, reward_cents=100)
        campaign = publish(study=study, terms=terms)
        Campaign.objects.update(state="stopped")
        campaign.refresh_from_db()
        with pytest.raises(Conflict, match="new address"):
            reopen_campaign(campaign=campaign, by=admin_user)

    def test_an_address_is_no_panel_id(self, link: Campaign) -> None:
        assert Visitor(link, worker_id="ada@example.org").open().status_code == 422
        assert nothing_is_written()


@pytest.mark.parametrize("raw", ["{{%PROLIFIC_PID%}}", "${e://Field/id}", "%SURVEY_CODE%", "[%USER_ID%]"])
def test_a_panels_preview_with_a_raw_placeholder_stores_nothing(link: Campaign, raw: str) -> None:
    visitor = Visitor(link, worker_id=raw)
    assert visitor.get(p=raw).status_code == 200
    refused = visitor.open()
    assert refused.status_code == 422 and "does not say who you are" in refused.json()["detail"]
    assert not Session.objects.exists() and not RecruitedPerson.objects.exists() and not Assignment.objects.exists()
