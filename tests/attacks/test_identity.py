"""Knowing a person's ids, and nothing else, gives nothing of theirs: no token, receipt, code or withdrawal."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import requests

from humanexp.participation.models import Response, Session, SessionState
from humanexp.participation.sessions import session_for_token
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiting.attendance import decide_all
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from tests.limits import LIMIT
from tests.recruitment.studies import LEASE, make_study

pytestmark = pytest.mark.django_db(transaction=True)
MARKET = "http://localhost:8001"
PERSON, STRANGER = "panel-7", "panel-8"


class Caller:
    """Somebody at the other end of a line: plain HTTP against the running server, nothing but what they know."""

    def __init__(self, address: str, campaign: Campaign, **ids: str) -> None:
        self.address, self.campaign = address, campaign
        self.ids = {"turkSubmitTo": "" if not campaign.capabilities.vouches else MARKET, **ids}
        self.token = ""
        self.lease = LEASE

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}", "X-Lease": self.lease, "Content-Type": "application/json"}
        return requests.request(
            method, self.address + path, data=json.dumps(body or {}), headers=headers, timeout=LIMIT
        )

    def open(self, **more: Any) -> requests.Response:
        reply = self.call("POST", f"/take/{self.campaign.entry}/open/", {"consent": True, **self.ids, **more})
        if reply.status_code == 201:
            self.token = reply.json()["token"]
        return reply

    def begins(self) -> Session:
        assert self.open().status_code == 201
        self.call("POST", "/api/v1/run/lease/", {"lease": self.lease})
        return Session.objects.get(pk=Session.objects.latest("pk").pk)

    def answers(self, positions: range | None = None) -> None:
        total = self.call("GET", "/api/v1/run/session/").json()["total"]
        for position in positions or range(total):
            answer = {"position": position, "response": "cat", "rt_ms": 700.0, "clicks": [], "timing": {}}
            assert self.call("POST", "/api/v1/run/responses/", answer).status_code == 201

    def finishes(self) -> dict[str, Any]:
        self.answers()
        done: dict[str, Any] = self.call("POST", "/api/v1/run/complete/", {"environment": {}}).json()
        return done


@pytest.fixture(autouse=True)
def market(settings: Any) -> None:
    settings.MARKETPLACE_URL = MARKET
    settings.RECRUITER_ORIGINS = [MARKET]


@pytest.fixture
def link() -> Campaign:
    return publish(study=make_study(), terms=LaunchTerms(to="link", assignments=6))


@pytest.fixture
def hits() -> Campaign:
    return publish(study=make_study(), terms=LaunchTerms(to="marketplace", assignments=6, reward_cents=120))


@pytest.fixture
def caller(live_server: Any) -> Callable[..., Caller]:
    def make(campaign: Campaign, **ids: str) -> Caller:
        known = (
            {"workerId": PERSON}
            if not campaign.capabilities.vouches
            else {"workerId": "AWORKER1", "assignmentId": "ASSIGNMENT1"}
        )
        return Caller(live_server.url, campaign, **{**known, **ids})

    return make


#: What a stranger can add to the ids: nothing, everything that the old protocol believed, and made-up proofs.
GUESSES: list[dict[str, Any]] = [
    {},
    {"continueHere": True},
    {"simulated": False, "continueHere": True},
    {"secret": "x", "opening": "x" * 32, "confirmed": "x"},
    {"secret": "WzEsIm4iXQ:1:x", "continueHere": True},
    {"opening": ""},
]


def gets_nothing(reply: requests.Response) -> bool:
    """No credential of any kind stands in the reply, and nothing of the session but that something was begun."""
    text = reply.text
    secret = [word for word in ("token", "handoff", "receipt", "completion", "cursor", "state") if f'"{word}' in text]
    return reply.status_code in (409, 422) and not secret


class TestPlainLink:
    @pytest.mark.gate
    @pytest.mark.promise(8)
    def test_the_id_of_a_session_under_way_opens_nothing(self, link: Campaign, caller: Callable[..., Caller]) -> None:
        owner = caller(link)
        session = owner.begins()
        owner.answers(range(1))
        for guess in GUESSES:
            thief = caller(link)
            refused = thief.open(**guess)
            assert gets_nothing(refused) and refused.json()["type"] == "already-begun", guess
            assert [owner.call("GET", "/api/v1/run/session/").status_code, thief.token] == [200, ""]
        owner.answers(range(1, session.total))
        assert Response.objects.filter(session=session).count() == session.total

    def test_nobody_is_withdrawn_or_put_out_by_a_stranger(self, link: Campaign, caller: Callable[..., Caller]) -> None:
        owner, thief = caller(link), caller(link)
        session = owner.begins()
        owner.answers(range(1))
        thief.open()
        thief.lease = "fedcba9876543210"
        tried = [
            thief.call("POST", "/api/v1/run/lease/", {"lease": thief.lease}),
            thief.call("POST", "/api/v1/run/withdraw/"),
            thief.call("GET", "/api/v1/run/status/"),
            thief.call("POST", f"/take/{link.entry}/handoff/"),
            thief.call("POST", f"/take/{link.entry}/finish/"),
        ]
        assert [reply.status_code for reply in tried] == [401] * 5
        session.refresh_from_db()
        assert (session.state, session.lease) == (SessionState.OPEN, LEASE)
        assert Response.objects.filter(session=session).count() == 1

    @pytest.mark.parametrize("is_submitted", [False, True])
    @pytest.mark.gate
    @pytest.mark.promise(8)
    def test_of_a_finished_session_nobody_else_reads_the_code(
        self, link: Campaign, caller: Callable[..., Caller], is_submitted: bool
    ) -> None:
        owner = caller(link)
        session = owner.begins()
        done = owner.finishes()
        if is_submitted:
            owner.call("POST", f"/take/{link.entry}/finish/")
        for guess in GUESSES:
            refused = caller(link).open(**guess)
            assert gets_nothing(refused) and done["completion_code"] not in refused.text, guess
        assert owner.call("GET", "/api/v1/run/status/").json()["completion_code"] == done["completion_code"]
        assert Response.objects.filter(session=session).count() == session.total

    def test_a_request_to_go_on_is_worth_nothing_without_the_browser_that_holds_the_secret(
        self, link: Campaign, caller: Callable[..., Caller]
    ) -> None:
        owner, thief, other = caller(link), caller(link), caller(link, workerId=STRANGER)
        owner.begins()
        own_secret = self.secret_of(other)
        resume = thief.open().json()["resume"]
        for secret in ("x", own_secret, resume["ask"], resume["claim"]):
            refused = thief.call("POST", "/api/v1/run/resume/", {"ask": resume["ask"], "secret": secret})
            assert refused.status_code == 401, secret
        swapped = thief.call("POST", "/api/v1/run/resume/", {"ask": resume["claim"], "secret": self.secret_of(owner)})
        assert swapped.status_code == 401
        waiting = thief.call("POST", f"/take/{link.entry}/resume/", {"claim": resume["claim"]})
        assert waiting.json() == {"confirmed": False}
        for proof in (resume["claim"], resume["ask"]):
            assert gets_nothing(thief.open(confirmed=proof))

    def secret_of(self, person: Caller) -> str:
        if not person.token:
            person.begins()
        handoff = person.call("POST", f"/take/{person.campaign.entry}/handoff/").json()["handoff"]
        reply = person.call("POST", "/api/v1/run/handoff/", {"code": handoff})
        return str(reply.json()["resume"]["secret"])


@pytest.mark.parametrize("assignment", ["ASSIGNMENT1", "INVENTED"])
class TestMarketplace:
    def test_worker_and_assignment_ids_give_no_part_of_a_session_under_way(
        self, hits: Campaign, caller: Callable[..., Caller], assignment: str
    ) -> None:
        owner = caller(hits)
        session = owner.begins()
        owner.answers(range(1))
        for guess in GUESSES:
            thief = caller(hits, assignmentId=assignment)
            thief.open(**guess)
            self.is_untouched(owner, session, thief)
        owner.answers(range(1, session.total))

    @pytest.mark.parametrize("is_submitted", [False, True])
    def test_a_finished_session_stays_where_it_is_with_its_receipt(
        self, hits: Campaign, caller: Callable[..., Caller], assignment: str, is_submitted: bool
    ) -> None:
        owner = caller(hits)
        session = owner.begins()
        done = owner.finishes()
        if is_submitted:
            Assignment.objects.update(state=AssignmentState.SUBMITTED)
        for guess in GUESSES:
            thief = caller(hits, assignmentId=assignment)
            refused = thief.open(**guess)
            assert done["receipt"] not in refused.text and done["completion_code"] not in refused.text
            self.is_untouched(owner, session, thief)
        assert Response.objects.filter(session=session).count() == session.total

    def is_untouched(self, owner: Caller, session: Session, thief: Caller) -> None:
        """The thief may have been given a session of their own, never a part of this one."""
        standing = Session.objects.get(pk=session.pk)
        assert standing.state in (SessionState.OPEN, SessionState.COMPLETED)
        assert standing.lease == LEASE
        row = Assignment.objects.get(session=session)
        assert row.assignment_id == "ASSIGNMENT1" and row.state != AssignmentState.RETURNED
        seen = thief.call("GET", "/api/v1/run/status/")
        assert seen.status_code == 401 or seen.json()["cursor"] == 0 != standing.cursor
        thief.call("POST", "/api/v1/run/withdraw/")
        assert owner.call("GET", "/api/v1/run/status/").json()["state"] == standing.state


class TestComingFirst:
    """Whoever opens a known id before its person does owns nothing by it, and puts nobody out."""

    @pytest.fixture(params=["link", "hits"])
    def campaign(self, request: pytest.FixtureRequest) -> Campaign:
        made: Campaign = request.getfixturevalue(request.param)
        return made

    def test_the_person_begins_although_a_script_holds_the_id(
        self, campaign: Campaign, caller: Callable[..., Caller]
    ) -> None:
        thief, person = caller(campaign), caller(campaign)
        thief.begins()
        for _ in range(3):
            assert thief.call("POST", "/api/v1/run/lease/", {"lease": "fedcba9876543210"}).status_code == 200
        refused = person.open()
        assert (refused.status_code, refused.json()["begin_here"]) == (409, True)
        assert person.open(beginHere=True).status_code == 201
        assert person.token != thief.token

    def test_somebody_at_work_is_not_put_out_by_whoever_knows_the_ids(
        self, campaign: Campaign, caller: Callable[..., Caller]
    ) -> None:
        person, thief = caller(campaign), caller(campaign)
        mine = person.begins()
        assert thief.open(beginHere=True).status_code == 201
        person.finishes()
        decide_all(campaign=campaign)
        row = Assignment.objects.get()
        assert row.session == mine, "the first answer that counts decides"
        theirs = Session.objects.exclude(pk=mine.pk).get()
        assert theirs.rival_of == mine and not theirs.is_verified
        mine.refresh_from_db()
        counts = not campaign.capabilities.vouches  # else once the recruiter lists the person
        assert (mine.is_verified, mine.holds_slot) == (counts, counts)

    def test_of_two_who_answer_the_first_counts_and_both_are_kept(
        self, link: Campaign, caller: Callable[..., Caller]
    ) -> None:
        first, second = caller(link), caller(link)
        one = first.begins()
        second.open(beginHere=True)
        second.call("POST", "/api/v1/run/lease/", {"lease": second.lease})
        second.finishes()
        first.finishes()
        sync(study=link.study)
        assert Session.objects.get(is_verified=True) == Assignment.objects.get().session != one
        assert Response.objects.values("session").distinct().count() == 2

    def test_after_an_answer_that_counts_nobody_begins_anew(
        self, campaign: Campaign, caller: Callable[..., Caller]
    ) -> None:
        person = caller(campaign)
        person.begins()
        person.answers(range(1))
        refused = caller(campaign).open(beginHere=True)
        assert (refused.status_code, refused.json()["begin_here"]) == (409, False)

    def test_a_full_study_still_takes_the_person_whose_id_was_taken(self, caller: Callable[..., Caller]) -> None:
        campaign = publish(study=make_study("small"), terms=LaunchTerms(to="link", assignments=1))
        caller(campaign).begins()
        assert caller(campaign, workerId=STRANGER).open().status_code == 409
        assert caller(campaign).open(beginHere=True).status_code == 201

    def test_each_browser_comes_back_to_its_own(self, link: Campaign, caller: Callable[..., Caller]) -> None:
        first, second, secret = caller(link), caller(link), TestPlainLink().secret_of
        one = first.begins()
        kept = secret(first)
        second.open(beginHere=True)
        again = caller(link)
        assert again.open(secret=kept).status_code == 201
        assert session_for_token(again.token) == one
