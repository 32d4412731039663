"""Made-up ids against the places of a study: they fill no plan, cost the recruiter nothing, burn nobody's session."""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import requests

from humanexp.core import clock
from humanexp.ledger.models import MARKS, Call
from humanexp.ledger.payments import free_sessions, places_left
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import settle
from humanexp.participation import sessions
from humanexp.participation.models import Session, SessionState
from humanexp.participation.sessions import session_for_token
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.results.tables import sessions_of, trials_of
from humanexp.studies.models import Study
from tests.limits import LIMIT
from tests.marketplace.server import MarketplaceServer, RequesterKeys, WorkerClient
from tests.recruitment.studies import DESIGN, LEASE, make_study

PLACES = 42


class Door:
    """Stands before the marketplace and counts what is asked of it, by operation."""

    def __init__(self, url: str) -> None:
        self.calls: Counter[str] = Counter()
        host, _, port = url.removeprefix("http://").partition(":")
        door = self

        class Passing(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                door.calls[self.headers.get("X-Amz-Target", self.path).rpartition(".")[2]] += 1
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                there = HTTPConnection(host, int(port), timeout=LIMIT)
                there.putrequest("POST", self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    there.putheader(name, value)
                there.endheaders(body)
                reply = there.getresponse()
                content = reply.read()
                self.send_response(reply.status)
                for name, value in reply.getheaders():
                    if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                there.close()

            def log_message(self, format: str, *args: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Passing)
        self.url = f"http://localhost:{self.server.server_port}"

    def __enter__(self) -> Door:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study("wide", design=DESIGN.but(sessions=PLACES, main_trials=1))


@pytest.fixture
def door(
    marketplace_process: MarketplaceServer, rich_keys: RequesterKeys, settings: Any, study: Study
) -> Iterator[Door]:
    with Door(marketplace_process.url) as opened:
        settings.MARKETPLACE_URL = opened.url
        settings.RECRUITER_ORIGINS = [opened.url]
        settings.MARKETPLACE_ACCESS_KEY_ID = rich_keys.access_key_id
        settings.MARKETPLACE_SECRET_ACCESS_KEY = rich_keys.secret_access_key
        yield opened


@pytest.fixture
def campaign(door: Door, study: Study) -> Campaign:
    """Recruited by name: a HIT for as many people as the plan has sessions."""
    made = publish(
        study=study,
        terms=LaunchTerms(
            to="marketplace", assignments=PLACES, reward_cents=10, title=f"Pictures {secrets.token_hex(3)}"
        ),
    )
    send(environment="marketplace")
    made.refresh_from_db()
    return made


@pytest.fixture
def link(study: Study) -> Campaign:
    return publish(study=study, terms=LaunchTerms(to="link", assignments=PLACES))


class Caller:
    """Somebody with an address, over HTTP."""

    def __init__(self, site: str, campaign: Campaign, address: str, origin: str = "") -> None:
        self.site, self.entry, self.origin = site, campaign.entry, origin
        self.headers = {"X-Forwarded-For": address}

    def open(self, worker_id: str = "", assignment_id: str = "", **more: Any) -> requests.Response:
        body = {"consent": True, "workerId": worker_id, "assignmentId": assignment_id, "turkSubmitTo": self.origin}
        address = f"{self.site}/take/{self.entry}/open/"
        return requests.post(address, json={**body, **more}, headers=self.headers, timeout=LIMIT)

    def run(self, token: str, method: str, path: str, body: Any = None) -> requests.Response:
        headers = {**self.headers, "Authorization": f"Bearer {token}", "X-Lease": LEASE}
        return requests.request(method, f"{self.site}/api/v1/run/{path}", json=body, headers=headers, timeout=LIMIT)

    def answer(self, token: str, *, but: int = 0) -> None:
        """The whole study but its last so many trials."""
        self.run(token, "POST", "lease/", {"lease": LEASE}).raise_for_status()
        session = self.run(token, "GET", "session/").json()
        fetched = f"{(1 << session['total']) - 1:x}"  # as a page that shows them: the pictures have no files here
        Session.objects.filter(pk=session_for_token(token).pk).update(pictures_fetched=fetched)
        for position in range(session["cursor"], session["total"] - but):
            answer = {"position": position, "response": "cat", "rt_ms": 700.0, "clicks": [], "timing": {}}
            reply = self.run(token, "POST", "responses/", {**answer, "simulated": False})
            assert reply.status_code == 201, reply.text

    def answer_all(self, token: str) -> str:
        """The whole study; the receipt is returned."""
        self.answer(token)
        done = self.run(token, "POST", "complete/", {"environment": {}})
        return str(done.json()["receipt"])


@pytest.fixture
def caller(live_server: Any, settings: Any, study: Study) -> Callable[..., Caller]:
    """Behind the proxy that every installation has, which tells the address."""
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

    def of(campaign: Campaign, address: str = "198.51.100.1") -> Caller:
        return Caller(live_server.url, campaign, address, settings.MARKETPLACE_URL)

    return of


def made_up(count: int) -> Iterator[tuple[str, str]]:
    return ((f"A{secrets.token_hex(6).upper()}", f"3{secrets.token_hex(12).upper()}") for _ in range(count))


def real_worker(marketplace: MarketplaceServer, campaign: Campaign) -> tuple[WorkerClient, str]:
    worker = marketplace.worker()
    return worker, str(worker.accept(campaign.hits.get(number=1).hit_id)["assignment_id"])


class TestRecruited:
    @pytest.mark.gate
    def test_a_flood_of_made_up_ids_takes_no_place_makes_no_call_and_keeps_nobody_out(
        self, campaign: Campaign, door: Door, caller: Callable[..., Caller], marketplace_process: MarketplaceServer
    ) -> None:
        door.calls.clear()
        statuses: Counter[int] = Counter()
        for number, (worker_id, assignment_id) in enumerate(made_up(140)):
            flood = caller(campaign, f"203.0.113.{number % 2}")
            statuses[flood.open(worker_id, assignment_id).status_code] += 1
        assert set(statuses) == {201, 429}
        send(environment="marketplace")
        assert not door.calls and not Call.objects.filter(kind__in=MARKS).exists()
        assert places_left(campaign) == PLACES and free_sessions(campaign.study) == 0
        # Real people come, each from a home of their own.
        workers = []
        for number in range(4):
            worker, assignment_id = real_worker(marketplace_process, campaign)
            home = caller(campaign, f"192.0.2.{number}")
            opened = home.open(worker.worker_id, assignment_id)
            assert opened.status_code == 201, opened.text
            worker.submit(assignment_id, receipt=home.answer_all(opened.json()["token"]))
            workers.append(worker)
        report = sync(study=campaign.study)
        assert (report.submitted, report.unmatched) == (4, 0)
        assert places_left(campaign) == PLACES - 4
        assert Session.objects.filter(is_verified=True).count() == 4
        assert sorted({row["accepted"] for row in trials_of(campaign.study).to_dict("records")}) == [False]
        assert len(trials_of(campaign.study)) == sum(
            Session.objects.filter(is_verified=True).values_list("total", flat=True)
        )
        table = sessions_of(campaign.study)
        assert table is not None and int(table["verified"].sum()) == 4
        assert settle(study=campaign.study).planned == 4

    def test_a_known_worker_id_burns_nobodys_session(
        self, campaign: Campaign, door: Door, caller: Callable[..., Caller], marketplace_process: MarketplaceServer
    ) -> None:
        worker, assignment_id = real_worker(marketplace_process, campaign)
        stranger, home = caller(campaign, "203.0.113.9"), caller(campaign, "192.0.2.1")
        false = stranger.open(worker.worker_id, "3INVENTED")
        assert false.status_code == 201
        stranger.answer_all(false.json()["token"])
        # Asked whether it was they who began, the worker says no.
        assert home.open(worker.worker_id, assignment_id).json()["type"] == "already-begun"
        opened = home.open(worker.worker_id, assignment_id, beginHere=True)
        assert opened.status_code == 201 and opened.json()["token"] != false.json()["token"]
        worker.submit(assignment_id, receipt=home.answer_all(opened.json()["token"]))
        sync(study=campaign.study)
        send(environment="marketplace")
        counts = Session.objects.filter(is_verified=True)
        assert counts.get().assignment.assignment_id == assignment_id
        assert set(trials_of(campaign.study)["session"]) == {counts.get().code}
        # Everybody takes part once, and the recruiter has heard of the one who did.
        assert Call.objects.get(kind__in=MARKS).person.worker_id == worker.worker_id
        assert home.open(worker.worker_id, "3ANOTHER").json()["type"] == "already-took-part"
        # Nor does the invented one count later.
        assert not Assignment.objects.get(assignment_id="3INVENTED").session.is_verified


class TestLink:
    def test_a_script_of_made_up_ids_from_one_address_leaves_places_for_others(
        self, link: Campaign, caller: Callable[..., Caller]
    ) -> None:
        script = caller(link, "203.0.113.1")
        statuses = Counter(script.open(worker_id).status_code for worker_id, _ in made_up(2 * PLACES))
        assert set(statuses) == {201, 429} and statuses[201] < PLACES
        refused = script.open("one-more")
        assert refused.headers["Content-Type"] == "application/problem+json"
        assert int(refused.headers["Retry-After"]) >= 1
        assert refused.json()["type"] == "too-many-openings" and "wait" in refused.json()["detail"]
        assert caller(link, "192.0.2.1").open("panel-7").status_code == 201

    def test_a_script_that_answers_leaves_places_for_others_too(
        self, link: Campaign, caller: Callable[..., Caller]
    ) -> None:
        """One answer that counts holds a place for good: whoever begins many and finishes none gets no more."""
        script, statuses = caller(link, "203.0.113.1"), Counter[int]()
        for worker_id, _ in made_up(PLACES):
            opened = script.open(worker_id)
            statuses[opened.status_code] += 1
            if opened.status_code == 201:
                script.answer(opened.json()["token"], but=1)
        assert not Session.objects.filter(confirmed_at=None).exists()
        assert statuses == {201: PLACES // 3, 429: PLACES - PLACES // 3}
        assert caller(link, "192.0.2.1").open("panel-7").status_code == 201

    def test_places_that_a_script_holds_without_an_answer_are_free_again_after_a_while(
        self, link: Campaign, caller: Callable[..., Caller]
    ) -> None:
        for number, (worker_id, _) in enumerate(made_up(PLACES)):
            assert caller(link, f"203.0.113.{number}").open(worker_id).status_code == 201
        home = caller(link, "192.0.2.1")
        assert home.open("panel-7").status_code == 409
        Session.objects.update(opened_at=clock.now() - 2 * sessions.SILENT_AFTER, last_seen_at=clock.now())
        assert home.open("panel-7").status_code == 201

    def test_a_small_study_is_not_closed_from_one_address(self, caller: Callable[..., Caller]) -> None:
        """Nor by loading the pages again and again for longer than a place is kept."""
        small = publish(study=make_study("small"), terms=LaunchTerms(to="link", assignments=24))
        script = caller(small, "203.0.113.1")
        tokens = [reply.json()["token"] for _ in range(24) if (reply := script.open(secrets.token_hex(8))).ok]
        assert len(tokens) == 8
        Session.objects.update(opened_at=clock.now() - 2 * sessions.SILENT_AFTER)
        for token in tokens:
            script.run(token, "POST", "lease/", {"lease": LEASE}).raise_for_status()
        assert places_left(small) == 24

    def test_a_page_that_repeats_its_call_at_once_is_one_visitor(
        self, link: Campaign, caller: Callable[..., Caller]
    ) -> None:
        """Nobody sent them with an id: the page's own key tells, also before its first call is answered."""
        home = caller(link, "192.0.2.1")
        with ThreadPoolExecutor(6) as pool:
            replies = list(pool.map(lambda _: home.open(opening="a-key-of-the-page"), range(6)))
        assert {reply.status_code for reply in replies} == {201}
        assert Session.objects.count() == Assignment.objects.count() == 1
        assert home.open(opening="another-key").status_code == 201 and Session.objects.count() == 2
        assert home.open().status_code == 201 and Session.objects.count() == 3

    def test_a_class_of_thirty_behind_one_address_begins_at_once_and_twice(
        self, study: Study, caller: Callable[..., Caller]
    ) -> None:
        announced = LaunchTerms(to="link", assignments=PLACES, shared_computers=True)
        link = publish(study=study, terms=announced)
        school = caller(link, "198.51.100.1")
        statuses = [school.open(f"pupil-{n}", opening=f"key-{n}").status_code for n in range(30)]
        # Half of them press twice.
        statuses += [school.open(f"pupil-{n}", opening=f"key-{n}").status_code for n in range(15)]
        assert statuses == [201] * 45
        assert len({session.slot for session in Session.objects.all()}) == 30
        # The next class finds the machines free, and one session that nobody will end.
        Session.objects.exclude(slot=0).update(state=SessionState.COMPLETED)
        assert [school.open(f"next-{n}").status_code for n in range(12)] == [201] * 12


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("open/", b"{", {"Content-Type": "application/json"}),
        ("open/", b"\xff\xfe", {"Content-Type": "application/json"}),
        ("open/", b"{}", {"Content-Type": "application/json; charset=no-such"}),
        ("open/", b"[" * 100_000, {"Content-Type": "application/json"}),
        ("open/", b"x" * 3_000_000, {"Content-Type": "application/json"}),
        ("open/", b"--x", {"Content-Type": "multipart/form-data; boundary=x"}),
        ("open/", b"{}", {"Content-Type": "application/json", "Host": "elsewhere.example"}),
        ("handoff/", b"{}", {"Content-Type": "application/json", "Host": "elsewhere.example"}),
        ("nothing/", b"{}", {"Content-Type": "application/json"}),
    ],
)
def test_the_entrys_calls_are_refused_in_json(
    link: Campaign, live_server: Any, path: str, body: bytes, headers: dict[str, str]
) -> None:
    reply = requests.post(f"{live_server.url}/take/{link.entry}/{path}", data=body, headers=headers, timeout=LIMIT)
    assert 400 <= reply.status_code < 500, reply.text[:300]
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert reply.json()["detail"]
