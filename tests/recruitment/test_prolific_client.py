"""The client of Prolific's API, against the practice panel over HTTP."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from humanexp.core.errors import KeysRefused, NotAtRecruiter, OutcomeUnknown, RecruiterUnavailable
from humanexp.recruiters.prolific import replies
from humanexp.recruiters.prolific.client import ProlificClient
from humanexp.recruiters.prolific.replies import Balance, Money, SubmissionInList
from humanexp.recruiters.prolific.transport import MOST_SAID, Refused
from tests.panel.server import CODE, Lab, PanelServer
from tests.served import free_port

REFERER = "https://lab.example/ (HumanExp)"


@pytest.fixture(scope="module")
def panel_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PanelServer]:
    server = PanelServer(tmp_path_factory.mktemp("panel")).start()
    yield server
    server.stop()


@pytest.fixture
def panel(panel_process: PanelServer) -> Iterator[PanelServer]:
    yield panel_process
    panel_process.control("clear")


@pytest.fixture
def lab(panel: PanelServer) -> Lab:
    return panel.lab()


def client_of(lab: Lab, **more: Any) -> ProlificClient:
    return ProlificClient(f"{lab.panel.url}/api/v1/", lab.token, referer=REFERER, **more)


@pytest.fixture
def client(lab: Lab) -> ProlificClient:
    return client_of(lab)


def test_an_account_and_its_prices(lab: Lab, client: ProlificClient) -> None:
    assert client.me().id == lab.researcher_id
    assert [one.id for one in client.workspaces()] == [lab.workspace_id]
    assert client.balance(lab.workspace_id) == Balance(
        currency_code="GBP", total_balance=1_000_000, available_balance=1_000_000
    )
    assert [one.id for one in client.projects(lab.workspace_id)] == [lab.project_id]
    assert client.quote(reward_cents=150, places=3).total_cost == 600
    assert client.recommendations(lab.workspace_id, "GBP")[0].min_reward_per_hour == 600
    assert "age" in {one.filter_id for one in client.filters(lab.workspace_id)}
    assert client.eligible([], lab.workspace_id) in (0, *range(25, 100_000))


def test_the_life_of_a_study(lab: Lab, panel: PanelServer, client: ProlificClient) -> None:
    study = client.create_study(lab.terms())
    assert client.study(study.id) == study and study.status == "UNPUBLISHED"
    assert [one.id for one in client.studies(lab.project_id)] == [study.id]
    assert client.move_study(study.id, "PUBLISH").status == "PUBLISHING"
    panel.advance(2)
    assert client.change_study(study.id, {"total_available_places": 4}).total_available_places == 4
    with pytest.raises(Refused, match="reward") as refused:
        client.change_study(study.id, {"reward": 500})
    assert refused.value.status == 400
    assert client.study_cost(study.id, projected=True).rewards.rewards == Money(amount=600, currency="GBP")
    draft = client.create_study(lab.terms())
    client.delete_study(draft.id)
    with pytest.raises(NotAtRecruiter):
        client.study(draft.id)


@pytest.mark.parametrize("page_size", [7, 20, 100])
@pytest.mark.parametrize("count", [0, 20, 40, 100])
def test_studies_are_polled_whole(lab: Lab, count: int, page_size: int) -> None:
    study = lab.study(total_available_places=max(count, 1))
    made = lab.people(study, count) if count else []
    client = client_of(lab, page_size=page_size)
    assert [one.id for one in client.submissions(study)] == made
    assert client.submission_counts(study)["TOTAL"] == count


def test_lists_by_offset_are_read_whole(lab: Lab, client: ProlificClient) -> None:
    made = [client.create_group(lab.workspace_id, f"Group {number}").id for number in range(41)]
    assert [one.id for one in client.groups(lab.workspace_id)] == made


def test_submissions_are_decided(lab: Lab, panel: PanelServer, client: ProlificClient) -> None:
    study = lab.study(total_available_places=5)
    one, two, three, four = lab.people(study, 4)
    assert client.submission(one).entered_code == CODE
    assert client.move_submission(one, "APPROVE").status == "APPROVED"
    why = "The times of your answers show that no picture was looked at; we have written to you about this. " * 2
    assert client.move_submission(two, "REJECT", message=why, rejection_category="NO_DATA").status == "REJECTED"
    client.request_return(three, ["No data arrived"])
    assert client.submission(three).return_requested == "No data arrived"
    client.approve([four])
    panel.advance(3)
    assert client.submission(four).status == "APPROVED"


def test_a_bonus_is_planned_in_cents_and_paid_with_each_call(
    lab: Lab, panel: PanelServer, client: ProlificClient
) -> None:
    study = lab.study()
    one, two = lab.people(study, 2)
    plan = client.plan_bonuses(study, [(one, 5), (two, 1_230)])
    assert (plan.study, plan.amount, plan.total_amount) == (study, 1_235, 1_235 + 2 + 410)
    client.pay_bonuses(plan.id)
    panel.advance(4 * 3600)
    assert [client.submission(each).bonus_payments for each in (one, two)] == [[5], [1_230]]
    client.pay_bonuses(plan.id)
    panel.advance(4 * 3600)
    assert client.submission(two).bonus_payments == [1_230, 1_230]
    assert client.study_cost(study).bonuses.rewards.amount == 2 * 1_235


def test_groups_and_messages(lab: Lab, client: ProlificClient, panel: PanelServer) -> None:
    study = lab.study()
    people = [client.submission(one).participant for one in lab.people(study, 2)]
    group = client.create_group(lab.workspace_id, "seen").id
    for _ in range(2):
        client.add_members(group, people)
    assert client.members(group) == set(people)
    client.remove_members(group, people[:1])
    assert client.members(group) == {people[1]}
    client.send_message(study, people, "Thank you.")
    since = datetime.fromisoformat(panel.shown("clock")["now"]).astimezone(UTC) - timedelta(days=1)
    assert [one.body for one in client.messages(since)] == ["Thank you."] * 2


def test_a_subscription_is_confirmed(lab: Lab, client: ProlificClient) -> None:
    assert {"submission.status.change", "study.status.change"} <= {one.event_type for one in client.event_types()}
    first, second = (client.replace_secret(lab.workspace_id) for _ in range(2))
    assert first.value != second.value
    made = client.subscribe(lab.workspace_id, "study.status.change", "https://lab.example/hook/")
    assert [one.id for one in client.subscriptions(lab.workspace_id)] == [made.id]
    lab.study()
    assert [one.status for one in client.events(made.id)]


def test_a_wrong_token_is_said_so(lab: Lab) -> None:
    stranger = ProlificClient(f"{lab.panel.url}/api/v1/", "nobody", referer=REFERER)
    with pytest.raises(KeysRefused):
        stranger.me()


@pytest.mark.parametrize(
    "kind", ["lost_before", "lost_after", "cut_body", "bad_gateway", "bad_gateway_after", "html", "too_many"]
)
def test_a_write_of_unknown_outcome_is_sent_once_and_says_so(
    lab: Lab, panel: PanelServer, client: ProlificClient, kind: str
) -> None:
    study = lab.study()
    submission = lab.people(study, 1)[0]
    person = client.submission(submission).participant
    plan = client.plan_bonuses(study, [(submission, 100)]).id
    group = client.create_group(lab.workspace_id, "seen").id
    writes: dict[str, Callable[[], Any]] = {
        "bonus-plans.POST": lambda: client.plan_bonuses(study, [(submission, 100)]),
        "bonus-payment.POST": lambda: client.pay_bonuses(plan),
        "bulk-messages.POST": lambda: client.send_message(study, [person], "Hello"),
        "members.POST": lambda: client.add_members(group, [person]),
        "studies.POST": lambda: client.create_study(lab.terms()),
        "bulk-approve.POST": lambda: client.approve([submission]),
        "submission-transition.POST": lambda: client.move_submission(submission, "APPROVE"),
    }
    if kind == "cut_body":
        del writes["bulk-messages.POST"]  # its answer has no body
    before = panel.shown("books")
    for operation, call in writes.items():
        panel.arm(operation, kind, times=2)
        with pytest.raises(OutcomeUnknown):
            call()
        waiting = panel.shown("faults")["faults"]
        assert [one["times"] for one in waiting] == [1], operation  # one request, and no more
        panel.control("clear")
    if kind in ("lost_before", "bad_gateway", "too_many"):
        assert panel.shown("books") == before


@pytest.mark.parametrize("kind", ["lost_before", "lost_after", "cut_body", "bad_gateway", "html", "too_many"])
def test_a_read_that_fails_can_be_tried_again(lab: Lab, panel: PanelServer, client: ProlificClient, kind: str) -> None:
    study = lab.study(total_available_places=30)
    lab.people(study, 30)
    panel.arm("submissions.GET", kind)
    with pytest.raises(RecruiterUnavailable):
        list(client_of(lab, page_size=20).submissions(study))
    assert len(list(client.submissions(study))) == 30


@pytest.mark.process
def test_nothing_was_sent_where_nobody_listens() -> None:
    address = f"http://127.0.0.1:{free_port()}/api/v1/"
    nowhere = ProlificClient(address, "token", referer=REFERER)
    with pytest.raises(RecruiterUnavailable):
        nowhere.pay_bonuses("a" * 24)


def test_no_error_names_a_person(lab: Lab, client: ProlificClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    study = lab.study()
    submission = lab.people(study, 1)[0]
    person = client.submission(submission).participant
    calls: list[Callable[[], Any]] = [
        lambda: client.plan_bonuses(study, [("participant-with-another-form-of-id", 100)]),
        lambda: client.plan_bonuses(study, [("f" * 24, 100)]),
        lambda: client.send_message(study, ["e" * 24], "Hello"),
        lambda: client.submission("d" * 24),
        lambda: client.move_submission(submission, "START"),
    ]
    for call in calls:
        with pytest.raises((Refused, NotAtRecruiter)) as caught:
            call()
        said = str(caught.value) + caplog.text
        for secret in (person, submission, study, "f" * 24, "e" * 24, "d" * 24, "another-form", lab.token):
            assert secret not in said
        assert caught.value.__cause__ is None


def test_where_people_sit_and_who_they_are_is_dropped(lab: Lab) -> None:
    study = lab.study()
    lab.people(study, 1)
    telltale = lab.get(f"studies/{study}/submissions/")["results"][0]
    assert telltale["ip"] and telltale["strata"]
    kept = SubmissionInList.model_validate(telltale)
    assert {"ip", "strata"}.isdisjoint(kept.model_dump())
    assert telltale["ip"] not in repr(kept) and kept.model_extra is None
    taken = {name for one in vars(replies).values() if hasattr(one, "model_fields") for name in one.model_fields}
    assert {"ip", "strata"}.isdisjoint(taken)


class Liar:
    """Answers every request with this."""

    def __init__(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
        self.requests: list[tuple[str, str]] = []
        liar = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                liar.requests.append((self.path, self.headers.get("Authorization", "")))
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            do_GET = do_POST = _answer  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/api/v1/"
        self.client = ProlificClient(self.url, "token", referer=REFERER)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Liar:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.mark.process
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"error": {"title": "No", "detail": {"reward": ["Too low.", "Odd."]}}}', "No reward: Too low. Odd."),
        ('{"message": "No", "detail": "Never"}', "No Never"),
        ('{"detail": "Not now"}', "Not now"),
        ('{"error": "plain words"}', "plain words"),
        ("<h1>no</h1>", "status 400."),
        ('{"detail": "%s"}' % ("x" * 2_000), "x" * MOST_SAID),
    ],
)
def test_what_the_service_says_is_kept_in_every_shape(body: str, said: str) -> None:
    with Liar(400, body) as liar, pytest.raises(Refused) as caught:
        liar.client.pay_bonuses("a" * 24)
    assert said in str(caught.value) and caught.value.status == 400
    assert len(str(caught.value)) < MOST_SAID + 100


@pytest.mark.process
def test_a_redirect_of_a_write_is_not_followed() -> None:
    with Liar(307, "", {"Location": "/api/v1/elsewhere/"}) as liar:
        with pytest.raises(OutcomeUnknown):
            liar.client.pay_bonuses("a" * 24)
        assert len(liar.requests) == 1


@pytest.mark.process
def test_a_netrc_file_does_not_replace_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with Liar(200, '{"id": "a"}') as liar:
        liar.client.me()
    assert liar.requests[0][1] == "Token token"


@pytest.mark.process
def test_a_list_that_leads_elsewhere_gets_no_token() -> None:
    with Liar(200, '{"id": "a"}') as thief:
        link = f'{{"results": [], "_links": {{"next": {{"href": "{thief.url}workspaces/"}}}}}}'
        with Liar(200, link) as liar, pytest.raises(RecruiterUnavailable, match="astray"):
            liar.client.workspaces()
        assert thief.requests == []


@pytest.mark.process
def test_an_answer_about_something_else_is_none() -> None:
    other = '{"id": "b", "participant": "p", "study_id": "s", "status": "APPROVED"}'
    with Liar(200, other) as liar, pytest.raises(RecruiterUnavailable):
        liar.client.submission("a")


def test_amounts_are_whole() -> None:
    balance = {"currency_code": "GBP", "total_balance": 150.0, "available_balance": 150}
    assert Balance.model_validate(balance).total_balance == 150
    with pytest.raises(ValidationError):
        Balance.model_validate({**balance, "total_balance": 150.5})
