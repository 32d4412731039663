"""The worker site as a scripted browser sees it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import requests

from tests.limits import LIMIT
from tests.marketplace.documents import SCHEMAS, file_question, free_text_question, question_form, selection_question
from tests.marketplace.server import MarketplaceServer, WorkerClient, external_question
from tests.served import ROOT
from tests.tampering import tampered

MakeHit = Callable[..., dict[str, Any]]


def html(worker: WorkerClient, path: str) -> str:
    answer = worker.http.get(f"{worker.url}{path}", headers={"Accept": "text/html"}, timeout=LIMIT)
    assert answer.status_code == 200
    return answer.text


def query_of(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


def test_sign_up_log_out_log_in(marketplace: MarketplaceServer) -> None:
    worker = WorkerClient(marketplace.url).sign_up(username="ada", password="correct horse")
    assert re.fullmatch(r"A[A-Z0-9]{13}", worker.worker_id)
    assert worker.get("/")["worker_id"] == worker.worker_id
    worker.post("/logout/")
    assert worker.get("/")["worker_id"] is None
    wrong = worker.post("/login/", {"username": "ada", "password": "wrong"})
    assert (wrong.status_code, wrong.json()["type"]) == (422, "invalid")
    assert worker.post("/login/", {"username": "ada", "password": "correct horse"}).json()["worker_id"] == (
        worker.worker_id
    )
    taken = WorkerClient(marketplace.url)
    taken.get("/signup/")
    refusal = taken.post("/signup/", {"username": "ada", "password": "another pass phrase"})
    assert refusal.json()["fields"] == {"username": ["This user name is taken."]}


@pytest.mark.parametrize(
    ("field", "value"), [("password", "short"), ("password", "password123"), ("username", "a b"), ("country", "1")]
)
def test_sign_up_says_what_is_wrong(marketplace: MarketplaceServer, field: str, value: str) -> None:
    visitor = WorkerClient(marketplace.url)
    visitor.get("/signup/")
    form = {"username": "somebody", "password": "a long pass phrase", field: value}
    refusal = visitor.post("/signup/", form)
    assert refusal.status_code == 422
    assert list(refusal.json()["fields"]) == [field]


def test_log_in_goes_back_to_this_site_only(marketplace: MarketplaceServer) -> None:
    WorkerClient(marketplace.url).sign_up(username="grace", password="a long pass phrase")
    for target, expected in (("/earnings/", "/earnings/"), ("https://evil.example/", "/"), ("//evil.example", "/")):
        visitor = WorkerClient(marketplace.url)
        visitor.get("/login/")
        form = {
            "username": "grace",
            "password": "a long pass phrase",
            "next": target,
            "csrfmiddlewaretoken": visitor.http.cookies["marketplace_csrftoken"],
        }
        answer = visitor.http.post(
            f"{visitor.url}/login/", data=form, headers={"Accept": "text/html"}, allow_redirects=False, timeout=LIMIT
        )
        assert answer.headers["Location"] == expected


def test_writes_by_cookie_need_the_csrf_token(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    hit, worker = make_hit(mturk), marketplace.worker()
    answer = worker.http.post(f"{worker.url}/hits/{hit['HITId']}/accept/", timeout=LIMIT)
    assert (answer.status_code, answer.json()["type"]) == (403, "csrf")
    stranger = WorkerClient(marketplace.url)
    stranger.get("/")
    assert stranger.post(f"/hits/{hit['HITId']}/accept/").status_code == 401


def test_list_preview_accept_submit(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    hit = make_hit(mturk, Reward="1.25", MaxAssignments=3, Question=external_question(height=500))
    make_hit(mturk, **{name: hit[name] for name in ("Title", "Reward")}, MaxAssignments=2)
    worker = marketplace.worker()
    group = next(group for group in worker.groups() if group["hit_type_id"] == hit["HITTypeId"])
    assert (group["reward_cents"], group["hits"], group["available"]) == (125, 2, 5)
    assert group["requester"] == "A lab"

    preview = worker.get(group["preview_url"])
    assert query_of(preview["frame_url"]) == {
        "list": "1",
        "colour": "grey",
        "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE",
        "hitId": hit["HITId"],
        "turkSubmitTo": marketplace.url,
    }
    assert worker.try_submit("ASSIGNMENT_ID_NOT_AVAILABLE").status_code == 404

    accepted = worker.accept_from_group(hit["HITTypeId"])
    assert accepted["hit_id"] == hit["HITId"]
    assert accepted["worker_id"] == worker.worker_id
    assert query_of(accepted["frame_url"]) == {
        "list": "1",
        "colour": "grey",
        "assignmentId": accepted["assignment_id"],
        "hitId": hit["HITId"],
        "workerId": worker.worker_id,
        "turkSubmitTo": marketplace.url,
    }
    # A second click, and a reload, find the same work.
    assert worker.accept_from_group(hit["HITTypeId"])["assignment_id"] == accepted["assignment_id"]
    assert [row["assignment_id"] for row in worker.get("/")["in_hand"]] == [accepted["assignment_id"]]
    page = html(worker, accepted["work_url"])
    frame = re.search(r"<iframe[^>]*>", page)
    assert frame is not None
    assert 'allow="fullscreen"' in frame[0]
    assert 'height="500"' in frame[0]
    assert accepted["frame_url"].replace("&", "&amp;") in frame[0]

    submitted = worker.try_submit(accepted["assignment_id"], receipt="r")
    assert submitted.status_code == 200
    # The next one of the group is the other HIT.
    assert worker.accept_from_group(hit["HITTypeId"])["hit_id"] != hit["HITId"]


def test_submitting_twice_stores_once(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    hit, worker = make_hit(mturk), marketplace.worker()
    assignment_id = worker.accept(hit["HITId"])["assignment_id"]
    first = worker.submit(assignment_id, receipt="first")
    marketplace.advance(5)
    assert worker.submit(assignment_id, receipt="second") == first
    listed = mturk.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert len(listed) == 1
    assert "first" in listed[0]["Answer"]
    assert "second" not in listed[0]["Answer"]

    def page() -> str:
        form = {"assignmentId": assignment_id, "receipt": "third"}
        return requests.post(f"{worker.url}/mturk/externalSubmit", data=form, timeout=LIMIT).text

    assert page() == page()


def test_a_lost_submission_can_be_sent_again(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    hit, worker = make_hit(mturk), marketplace.worker()
    assignment_id = worker.accept(hit["HITId"])["assignment_id"]
    marketplace.arm("externalSubmit", "drop_after_commit")
    with pytest.raises(requests.ConnectionError):
        worker.try_submit(assignment_id, receipt="first")
    assert worker.submit(assignment_id, receipt="again")["state"] == "Submitted"
    assert "first" in mturk.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"][0]["Answer"]


def test_what_cannot_be_submitted(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    hit, worker = make_hit(mturk), marketplace.worker()
    assignment_id = worker.accept(hit["HITId"])["assignment_id"]
    reserved = {"hitId": "3A", "workerId": "A1", "turkSubmitTo": "https://x.example"}
    empty = worker.try_submit(assignment_id, **reserved)
    assert (empty.status_code, empty.json()["type"]) == (400, "empty-submission")
    assert worker.try_submit("3UNKNOWN").status_code == 404
    assert worker.give_back(assignment_id).json()["state"] == "Returned"
    assert worker.give_back(assignment_id).json()["state"] == "Returned"
    assert worker.try_submit(assignment_id).json()["type"] == "assignment-closed"
    again = worker.accept(hit["HITId"])["assignment_id"]
    worker.submit(again, hitId="3A", receipt="r")
    answer = mturk.get_assignment(AssignmentId=again)["Assignment"]["Answer"]
    assert "receipt" in answer
    assert "hitId" not in answer
    assert worker.try_accept(hit["HITId"]).json()["type"] == "already-taken"
    assert worker.give_back(again).status_code == 409


def test_another_workers_work_is_not_there(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    hit, worker, stranger = make_hit(mturk), marketplace.worker(), marketplace.worker()
    accepted = worker.accept(hit["HITId"])
    assert stranger.http.get(f"{stranger.url}{accepted['work_url']}", timeout=LIMIT).status_code == 404
    assert stranger.give_back(accepted["assignment_id"]).status_code == 404
    assert worker.get(accepted["work_url"])["state"] == "Accepted"


def test_workers_race_for_places(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    """Twelve people for five places, each clicking twice at once."""
    hit = make_hit(mturk, MaxAssignments=5)
    workers = [marketplace.worker() for _ in range(12)]
    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda worker: (worker.worker_id, worker.try_accept(hit["HITId"])), workers * 2))
    held: dict[str, set[str]] = {}
    for worker_id, answer in answers:
        assert answer.status_code in (200, 409), answer.text
        if answer.status_code == 200:
            held.setdefault(worker_id, set()).add(answer.json()["assignment_id"])
    assert len(held) == 5
    assert all(len(ids) == 1 for ids in held.values())
    found = mturk.get_hit(HITId=hit["HITId"])["HIT"]
    assert (found["NumberOfAssignmentsPending"], found["NumberOfAssignmentsAvailable"]) == (5, 0)


def test_visitors_see_and_preview_but_do_not_accept(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hit, visitor = make_hit(mturk), WorkerClient(marketplace.url)
    assert hit["HITTypeId"] in [group["hit_type_id"] for group in visitor.groups()]
    assert "Sign up to accept" in html(visitor, f"/groups/{hit['HITTypeId']}/")
    for path in (
        f"/mturk/preview?groupId={hit['HITGroupId']}",
        f"/mturk/preview?groupId={hit['HITTypeId']}",
        f"/projects/{hit['HITTypeId']}/tasks",
    ):
        link = visitor.http.get(f"{visitor.url}{path}", timeout=LIMIT)
        assert link.url.endswith(f"/groups/{hit['HITTypeId']}/")
    redirected = requests.get(f"{visitor.url}/earnings/", headers={"Accept": "text/html"}, timeout=LIMIT)
    assert redirected.url.endswith("/login/?next=/earnings/")


def test_what_a_requester_writes_is_shown_as_text(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    title = "<script>alert(1)</script>"
    hit = make_hit(
        mturk,
        Title=title,
        Description=title,
        Question=external_question('https://x.org/?a="&b=<i>'.replace("<", "%3C")),
    )
    worker = marketplace.worker()
    for path in ("/", f"/groups/{hit['HITTypeId']}/"):
        assert "<script>alert" not in html(worker, path)


def test_headers_of_the_pages(marketplace: MarketplaceServer) -> None:
    headers = requests.get(f"{marketplace.url}/", timeout=LIMIT).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'self'"
    assert policy["frame-src"] == "'self' https: http://localhost:* http://127.0.0.1:*"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    submit = requests.post(f"{marketplace.url}/mturk/externalSubmit", data={}, timeout=LIMIT)
    assert submit.status_code == 404
    assert "frame-ancestors 'self'" in submit.headers["Content-Security-Policy"]
    assert submit.headers["X-Frame-Options"] == "SAMEORIGIN"
    names = requests.get(f"{marketplace.url}/signup/", timeout=LIMIT).cookies.keys()
    assert names == ["marketplace_csrftoken"]


def test_every_page_says_whose_marketplace_it_is(marketplace: MarketplaceServer) -> None:
    worker = marketplace.worker()
    for path in ("/", "/earnings/", "/messages/", "/signup/", "/login/"):
        assert "It is not Amazon Mechanical Turk" in html(worker, path)


@pytest.mark.parametrize(
    "path", ["/work/%00/", "/hits/lower/", "/groups/..%2f/", "/mturk/preview?groupId=%00", "/work/x"]
)
def test_addresses_that_lead_nowhere(marketplace: MarketplaceServer, path: str) -> None:
    worker = marketplace.worker()
    assert worker.http.get(f"{worker.url}{path}", timeout=LIMIT).json()["type"] == "not-found"
    assert worker.try_submit("a\x00b").status_code == 404


def test_health(marketplace: MarketplaceServer) -> None:
    assert requests.get(f"{marketplace.url}/healthz", timeout=LIMIT).json()["status"] == "ok"


#: A site whose database is missing, is no database, or holds none of its tables.
_UNWELL = """
import sys
import django
from pathlib import Path
django.setup()
from django.conf import settings
from django.test import Client
database = Path(settings.DATABASES["default"]["NAME"])
if sys.argv[1] != "absent":
    database.write_bytes(b"no database at all" * 100 if sys.argv[1] == "spoiled" else b"")
before = sorted(database.parent.iterdir())
reply = Client(headers={"host": "localhost"}).get("/healthz")
assert (reply.status_code, reply.json()) == (503, {"status": "not ok", "service": "marketplace"}), reply.content
assert reply["Cache-Control"] == "no-store"
if sys.argv[1] == "absent":
    assert sorted(database.parent.iterdir()) == before and not database.exists()
"""


@pytest.mark.process
@pytest.mark.parametrize("database", ["absent", "empty", "spoiled"])
def test_a_marketplace_without_its_database_says_so_and_makes_none(tmp_path: Path, database: str) -> None:
    environment = MarketplaceServer(tmp_path).environment
    run = [sys.executable, "-c", _UNWELL, database]
    done = subprocess.run(run, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr


def html_question(html: str) -> str:
    return (
        f'<HTMLQuestion xmlns="{SCHEMAS}/2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[{html}]]></HTMLContent>'
        "<FrameHeight>450</FrameHeight></HTMLQuestion>"
    )


def test_a_form_of_the_requesters_is_shown_checked_and_stored(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    form = question_form(
        selection_question("animal", "cat", "dog", required=True),
        free_text_question("why", '<Constraints><Length minLength="2"/></Constraints>'),
        file_question("photo"),
    )
    hit, worker = make_hit(mturk, Question=form), marketplace.worker()
    preview = worker.get(f"/hits/{hit['HITId']}/")["frame_url"]
    assert urlsplit(preview).path == f"/hits/{hit['HITId']}/content/"
    shown = html(worker, preview.removeprefix(marketplace.url))
    assert "What about animal?" in shown
    assert "Accept this task first" in shown
    accepted = worker.accept(hit["HITId"])
    assignment_id = accepted["assignment_id"]
    assert 'value="cat"' in html(worker, accepted["frame_url"].removeprefix(marketplace.url))
    wrong = worker.try_submit(assignment_id, animal="cow", why="x")
    assert (wrong.status_code, wrong.json()["type"]) == (422, "answers-refused")
    assert "never offered" in wrong.json()["detail"]
    sent = {"assignmentId": assignment_id, "animal": "dog", "why": "x"}
    again = requests.post(f"{worker.url}/mturk/externalSubmit", data=sent, timeout=LIMIT)
    assert again.status_code == 422
    assert re.search(r'value="dog" checked', again.text)  # nothing has to be typed twice
    assert "characters are asked for" in again.text
    assert "frame-ancestors 'self'" in again.headers["Content-Security-Policy"]
    answer = requests.post(
        f"{worker.url}/mturk/externalSubmit",
        data={"assignmentId": assignment_id, "animal": "cat", "why": "whiskers"},
        files={"photo": ("../../cat.png", b"\x89PNG")},
        headers={"Accept": "application/json"},
        timeout=LIMIT,
    )
    assert answer.json()["state"] == "Submitted"
    stored = mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]["Answer"]
    assert "<SelectionIdentifier>cat</SelectionIdentifier>" in stored
    assert "<FreeText>whiskers</FreeText>" in stored
    assert "<UploadedFileSizeInBytes>4</UploadedFileSizeInBytes>" in stored
    link = mturk.get_file_upload_url(AssignmentId=assignment_id, QuestionIdentifier="photo")["FileUploadURL"]
    file = requests.get(link, timeout=LIMIT)
    assert file.content == b"\x89PNG"
    assert file.headers["Content-Type"] == "application/octet-stream"
    assert file.headers["Content-Disposition"] == "attachment"
    assert requests.get(tampered(link), timeout=LIMIT).status_code == 404
    stranger = marketplace.worker()
    path = f"/hits/{hit['HITId']}/content/?assignmentId={assignment_id}"
    assert stranger.http.get(f"{stranger.url}{path}", timeout=LIMIT).status_code == 404


def test_a_page_of_the_requesters_runs_in_an_origin_of_its_own(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    page = '<form action="https://www.mturk.com/mturk/externalSubmit"><input name="assignmentId"></form>'
    hit, worker = make_hit(mturk, Question=html_question(page)), marketplace.worker()
    accepted = worker.accept(hit["HITId"])
    shown = worker.http.get(accepted["frame_url"], headers={"Accept": "text/html"}, timeout=LIMIT)
    assert f'action="{marketplace.url}/mturk/externalSubmit"' in shown.text
    policy = shown.headers["Content-Security-Policy"]
    sandbox = next(part for part in policy.split(";") if part.strip().startswith("sandbox"))
    assert "allow-scripts" in sandbox
    assert "allow-same-origin" not in sandbox
    assert "frame-ancestors 'self'" in policy
    worker.submit(accepted["assignment_id"], remark="fine")
    stored = mturk.get_assignment(AssignmentId=accepted["assignment_id"])["Assignment"]["Answer"]
    assert "<QuestionIdentifier>remark</QuestionIdentifier><FreeText>fine</FreeText>" in stored


def test_pay_per_hour_is_what_people_took(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    hit = make_hit(mturk, Reward="1.00", MaxAssignments=9, AssignmentDurationInSeconds=1800)
    watcher = marketplace.worker()

    def group() -> dict[str, Any]:
        return next(one for one in watcher.groups() if one["hit_type_id"] == hit["HITTypeId"])

    assert (group()["cents_per_hour"], group()["stated_minutes"]) == (None, None)
    for seconds in (120, 240, 300, 600, 900):
        worker = marketplace.worker()
        assignment_id = worker.accept(hit["HITId"])["assignment_id"]
        marketplace.advance(seconds)
        worker.submit(assignment_id)
    found = group()
    assert found["median_seconds"] == pytest.approx(300, abs=5)
    assert found["cents_per_hour"] == pytest.approx(1200, rel=0.02)
    page = html(watcher, "/?order=hour")
    assert "an hour: half took less than 5 min" in page


@pytest.mark.parametrize(
    ("said", "minutes", "cents"),
    [
        ("Say what you see. It takes about 7 minutes.", 7, 1500),
        ("Ein Versuch von 1 Minute", 1, 10_500),
        ("5-10 min", 10, 1050),
        ("Of 30 minerals, say which is which", None, None),
    ],
)
def test_pay_per_hour_is_what_the_requester_states_until_people_did_it(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit, said: str, minutes: int | None, cents: int | None
) -> None:
    hit = make_hit(mturk, Reward="1.75", Description=said, AssignmentDurationInSeconds=1800)
    worker = marketplace.worker()
    found = next(one for one in worker.groups() if one["hit_type_id"] == hit["HITTypeId"])
    assert (found["stated_minutes"], found["cents_per_hour"]) == (minutes, cents)
    page = html(worker, "/")
    assert "within the time allowed" not in page
    if minutes == 7:
        assert "about $15.00 an hour, if it takes the 7 minutes that the requester states" in page


def test_a_returned_task_may_be_taken_again_only_while_it_is_open(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hit, worker = make_hit(mturk, MaxAssignments=2), marketplace.worker()
    assignment_id = worker.accept(hit["HITId"])["assignment_id"]
    worker.give_back(assignment_id)
    assert "You may accept it again" in html(worker, f"/work/{assignment_id}/")
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=datetime(2020, 1, 1, tzinfo=UTC))
    page = html(worker, f"/work/{assignment_id}/")
    assert "cannot be accepted again" in page and "You may accept it again" not in page
    assert worker.get(f"/work/{assignment_id}/")["can_take_again"] is False


def test_earnings_say_what_is_owed_and_promise_nothing(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hit, worker = make_hit(mturk, Reward="2.50"), marketplace.worker()
    mturk.approve_assignment(AssignmentId=worker.do(hit["HITId"]))
    page = html(worker, "/earnings/")
    assert "You have earned $2.50; $2.50 of it is owed to you" in page
    assert "before you accept" not in page and "Paid out to you" in page


def test_lists_in_the_order_asked_for(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    worker = marketplace.worker()
    for reward, seconds in (("0.90", 3600), ("0.30", 60), ("2.00", 7200)):
        make_hit(mturk, Reward=reward, AssignmentDurationInSeconds=seconds)
    rewards = [group["reward_cents"] for group in worker.get("/?order=reward")["groups"]]
    assert rewards == sorted(rewards, reverse=True)
    hours = [one["cents_per_hour"] or 0 for one in worker.get("/?order=hour")["groups"]]
    assert hours == sorted(hours, reverse=True)


def test_writing_to_a_requester(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    hit, worker = make_hit(mturk), marketplace.worker()
    path = f"/groups/{hit['HITTypeId']}/contact/"
    empty = worker.post(path, {"subject": "", "text": ""})
    assert (empty.status_code, sorted(empty.json()["fields"])) == (422, ["subject", "text"])
    assert worker.post(path, {"subject": "The frame", "text": "It stays white."}).status_code == 201
    for _ in range(19):
        worker.post(path, {"subject": "Again", "text": "Still white."})
    assert worker.post(path, {"subject": "Again", "text": "?"}).json()["type"] == "too-many-inquiries"
    visitor = WorkerClient(marketplace.url)
    visitor.get("/")
    assert visitor.post(path, {"subject": "s", "text": "t"}).status_code == 401


def test_passwords_cannot_be_tried_for_ever(marketplace: MarketplaceServer) -> None:
    WorkerClient(marketplace.url).sign_up(username="guessed", password="a long pass phrase")
    visitor = WorkerClient(marketplace.url)
    visitor.get("/login/")
    tries = [visitor.post("/login/", {"username": "guessed", "password": f"guess {n}"}).status_code for n in range(11)]
    assert tries == [422] * 10 + [429]
    right = visitor.post("/login/", {"username": "guessed", "password": "a long pass phrase"})
    assert right.json()["type"] == "too-many-guesses"  # the right one, too, has to wait
