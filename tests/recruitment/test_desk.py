"""The trouble desk: a proof ties a report to its session, payers pay, and it goes with the person."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from analysis.spec.link import Link
from humanexp.core import clock
from humanexp.core.models import AuditEvent, User
from humanexp.participation import credentials, services as participation
from humanexp.participation.models import Session, SessionState
from humanexp.recruitment import services
from humanexp.recruitment.models import Assignment, Campaign, Message, Payment, TroubleReport
from humanexp.recruitment.selectors.desk import answer_by, waiting_in
from humanexp.recruitment.services import desk, reporting_trouble
from humanexp.recruitment.states import AssignmentState
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db
MARKETPLACE = "http://localhost:8001"


@pytest.fixture
def study(db: None) -> Study:
    return make_study("desk")


@pytest.fixture(autouse=True)
def fresh_allowances() -> None:
    reporting_trouble.REPORTING.clear()


@pytest.fixture
def campaign(study: Study) -> Campaign:
    return services.publish(study=study, terms=services.LaunchTerms(to="link", assignments=4))


@pytest.fixture
def paid_campaign(study: Study, settings: Any) -> Campaign:
    settings.MARKETPLACE_URL = MARKETPLACE
    terms = services.LaunchTerms(to="marketplace", assignments=4, reward_cents=120, cap_cents=1_000)
    return services.publish(study=study, terms=terms)


@pytest.fixture
def member(study: Study) -> Callable[[str], User]:
    def join(role: str) -> User:
        user = User.objects.create_user(f"a-{role}", password="x")
        study.memberships.create(user=user, role=role)
        return user

    return join


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def reports(campaign: Campaign, client: Client | None = None, **given: str) -> Any:
    body = {"kind": "technical", "text": "the picture froze", **given}
    return (client or Client()).post(f"/take/{campaign.entry}/trouble/", body)


def reference_in(page: Any) -> str:
    found = re.search(r"R-[2-9A-Z]{16}", page.text)
    assert found is not None
    return found[0]


def looks_up(campaign: Campaign, reference: str) -> Any:
    return Client().post(f"/take/{campaign.entry}/trouble/", {"reference": reference})


def proven(campaign: Campaign, **ids: str) -> tuple[Visitor, TroubleReport, str]:
    """Somebody who has answered everything and reports from the study's own page."""
    visitor = Visitor(campaign, **ids)
    visitor.open()
    visitor.answer_all()
    page = reports(campaign, kind="code", text="", proof=visitor.status()["report"])
    return visitor, TroubleReport.objects.get(), reference_in(page)


def test_every_participants_page_leads_to_the_form(campaign: Campaign) -> None:
    address = f"/take/{campaign.entry}/trouble/"
    for page in ("", "run/", "consent/", "personal/", "delete/"):
        assert address in Client().get(f"/take/{campaign.entry}/{page}").text, page or "entry"
    form = Client().get(address)
    assert form.status_code == 200 and 'name="kind"' in form.text
    assert "email" not in form.text.lower(), "the way back is the reference code"


def test_a_report_without_an_account_is_stored_and_its_code_is_not(campaign: Campaign) -> None:
    page = reports(campaign)
    report = TroubleReport.objects.get()
    assert page.status_code == 200 and f"number {report.pk}" in page.text
    assert reference_in(page) not in str(report.__dict__)
    assert report.session is None and not report.is_proven
    assert looks_up(campaign, reference_in(page).lower()).status_code == 200
    assert looks_up(campaign, "R-2222222222222222").status_code == 409


@pytest.mark.parametrize(
    "given", [{"kind": "made-up"}, {"kind": "other", "text": " "}, {"text": "x" * 1_001}], ids=["kind", "empty", "long"]
)
def test_what_cannot_be_read_is_refused_with_a_sentence(campaign: Campaign, given: dict[str, str]) -> None:
    page = reports(campaign, **given)
    assert page.status_code == 422 and 'role="alert"' in page.text
    assert not TroubleReport.objects.exists()


def test_one_address_reports_twenty_times_at_once_and_no_more(campaign: Campaign) -> None:
    assert [reports(campaign).status_code for _ in range(21)] == [200] * 20 + [429]


def test_guessing_references_is_limited_and_a_right_one_passes(campaign: Campaign) -> None:
    reference = reference_in(reports(campaign))
    guessed = [looks_up(campaign, f"R-{number:016d}").status_code for number in range(11)]
    assert guessed == [409] * 10 + [429]
    assert looks_up(campaign, reference).status_code == 200


def test_a_page_of_the_session_proves_it_and_an_id_does_not(paid_campaign: Campaign) -> None:
    visitor = Visitor(paid_campaign, worker_id="AWORKER", assignment_id="A1", submit_to=MARKETPLACE)
    visitor.open()
    reports(paid_campaign, proof=visitor.status()["report"])
    reports(paid_campaign, person="AWORKER", submission="A1")
    reports(paid_campaign, person="ANOBODY", submission="A1")
    by_proof, by_id, by_nobody = TroubleReport.objects.order_by("pk")
    assert by_proof.session == by_id.session == visitor.session and by_nobody.session is None
    assert (by_proof.is_proven, by_id.is_proven) == (True, False)


@pytest.mark.parametrize("kind", ["token", "forged", "revoked"])
def test_another_credential_ties_no_report(campaign: Campaign, kind: str) -> None:
    visitor = Visitor(campaign)
    visitor.open()
    proof = {"token": visitor.token, "forged": "abc:def:ghi", "revoked": visitor.status()["report"]}[kind]
    if kind == "revoked":
        participation.revoke_tokens(session=Session.objects.get())
    assert reports(campaign, proof=proof).status_code == 200
    assert TroubleReport.objects.get().session is None


def test_a_proof_opens_nothing(campaign: Campaign) -> None:
    visitor = Visitor(campaign)
    visitor.open()
    visitor.token = visitor.status()["report"]
    assert visitor.call("GET", "/api/v1/run/status/").status_code == 401


@pytest.mark.parametrize(
    ("made", "due"),
    [((2026, 11, 24), (2026, 11, 26)), ((2026, 11, 27), (2026, 12, 1)), ((2026, 11, 28), (2026, 12, 1))],
)
def test_two_working_days_skip_the_weekend(made: tuple[int, int, int], due: tuple[int, int, int]) -> None:
    assert answer_by(datetime(*made, 9, tzinfo=UTC)) == datetime(*due, 9, tzinfo=UTC)


def test_the_days_are_a_setting(settings: Any) -> None:
    settings.ANSWER_WORKING_DAYS = 5
    assert answer_by(datetime(2026, 11, 24, tzinfo=UTC)) == datetime(2026, 12, 1, tzinfo=UTC)


def test_an_answer_is_read_with_the_reference_code(campaign: Campaign, member: Callable[[str], User]) -> None:
    reference = reference_in(reports(campaign))
    console = signed_in(member("reviewer"))
    report = TroubleReport.objects.get()
    assert waiting_in([campaign.study]) == {campaign.study.pk: (1, 0)}
    address = f"/studies/{campaign.study.slug}/desk/{report.pk}/"
    assert "the picture froze" in console.get(address).text
    assert console.post(address, {"act": "answer", "text": "Try <b>again</b>"}).status_code == 302
    page = looks_up(campaign, reference).text
    assert "Try &lt;b&gt;again&lt;/b&gt;" in page
    assert waiting_in([campaign.study]) == {}
    console.post(address, {"act": "close"})
    report.refresh_from_db()
    assert report.closed_at is not None
    told = set(AuditEvent.objects.filter(subject=f"report:{report.pk}").values_list("action", flat=True))
    assert told == {"report-trouble", "answer-report", "close-report"}


def test_an_overdue_report_is_marked_on_desk_and_monitor(campaign: Campaign, member: Callable[[str], User]) -> None:
    reports(campaign)
    TroubleReport.objects.update(due_at=clock.now() - timedelta(minutes=1))
    assert waiting_in([campaign.study]) == {campaign.study.pk: (1, 1)}
    console = signed_in(member("owner"))
    assert "overdue" in console.get("/desk/").text
    assert "was not answered by the promised day" in console.get(f"/studies/{campaign.study.slug}/monitor/").text


def test_a_viewer_and_a_stranger_see_no_report(campaign: Campaign, member: Callable[[str], User]) -> None:
    reports(campaign)
    report = TroubleReport.objects.get()
    viewer, stranger = signed_in(member("viewer")), signed_in(User.objects.create_user("eve", password="x"))
    for client, status in ((viewer, 403), (stranger, 404)):
        assert client.get(f"/studies/{campaign.study.slug}/desk/").status_code == status
        assert client.get(f"/studies/{campaign.study.slug}/desk/{report.pk}/").status_code == status
        assert "technical failure" not in client.get("/desk/").text


def test_the_code_is_given_again_where_the_page_proved_the_session(
    campaign: Campaign, member: Callable[[str], User]
) -> None:
    visitor, report, reference = proven(campaign)
    code = credentials.completion_code(visitor.session.code)
    services.give_code_again(report=report, by=member("reviewer"))
    assert code in looks_up(campaign, reference).text


def test_an_id_gives_nobody_a_code_or_a_way_back(campaign: Campaign, member: Callable[[str], User]) -> None:
    visitor = Visitor(campaign, worker_id="panel-7")
    visitor.open()
    reference = reference_in(reports(campaign, person="panel-7"))
    report, by = TroubleReport.objects.get(), member("owner")
    assert report.session == visitor.session
    with pytest.raises(desk.Conflict, match="proves nothing"):
        services.let_back_in(report=report, by=by)
    visitor.answer_all()
    with pytest.raises(desk.Conflict, match="proves nothing"):
        services.give_code_again(report=report, by=by)
    assert "C-" not in looks_up(campaign, reference).text


def test_a_session_under_way_gets_a_personal_link(campaign: Campaign, member: Callable[[str], User]) -> None:
    visitor = Visitor(campaign)
    visitor.open()
    reference = reference_in(reports(campaign, proof=visitor.status()["report"]))
    services.let_back_in(report=TroubleReport.objects.get(), by=member("researcher"))
    page = looks_up(campaign, reference).text
    proof = re.search(r"/personal/#([^<&\"]+)", page)
    assert proof is not None
    followed = Client().post(
        f"/take/{campaign.entry}/personal/follow/", {"link": proof[1]}, content_type="application/json"
    )
    assert followed.status_code == 200


def test_the_site_s_own_code_is_given_for_a_site(study: Study, member: Callable[[str], User]) -> None:
    link = services.publish(
        study=study, terms=services.LaunchTerms(to="link", assignments=4, link=Link(preset="prolific"))
    )
    _visitor, report, reference = proven(
        link, worker_id="5f00000000000000000000aa", assignment_id="66aa00bb11cc22dd33ee44ff"
    )
    services.give_code_again(report=report, by=member("owner"))
    assert link.outcome_codes.get(outcome="finished").code in looks_up(link, reference).text


def test_where_the_recruiter_passes_messages_the_answer_is_one(
    paid_campaign: Campaign, member: Callable[[str], User]
) -> None:
    visitor, report, reference = proven(paid_campaign, worker_id="AWORKER", assignment_id="A1", submit_to=MARKETPLACE)
    services.give_code_again(report=report, by=member("reviewer"))
    message = Message.objects.get()
    assert credentials.completion_code(visitor.session.code) in message.text
    assert message.assignment == Assignment.objects.get(assignment_id="A1")
    page = looks_up(paid_campaign, reference).text
    assert "as a message" in page and message.text not in page


def test_only_a_payer_pays_and_never_more_than_a_session(
    paid_campaign: Campaign, member: Callable[[str], User]
) -> None:
    _visitor, report, _reference = proven(paid_campaign, worker_id="AWORKER", assignment_id="A1", submit_to=MARKETPLACE)
    Assignment.objects.update(state=AssignmentState.RETURNED)
    with pytest.raises(desk.permissions.NotAllowed):
        services.pay_for_failure(report=report, amount_cents=100, by=member("reviewer"))
    payer = member("payer")
    with pytest.raises(desk.InvalidRequest, match=r"1\.20"):
        services.pay_for_failure(report=report, amount_cents=121, by=payer)
    for _twice in range(2):
        services.pay_for_failure(report=report, amount_cents=100, by=payer)
    offered = Campaign.objects.get(compensates=report.assignment)
    assert offered.reward_cents == 100
    assert not Payment.objects.exists(), "the private HIT pays"
    assert AuditEvent.objects.filter(action="compensate").count() == 1


def test_it_goes_with_the_person(campaign: Campaign) -> None:
    _visitor, report, _reference = proven(campaign)
    assert report.session is not None
    services.delete_participant(code=report.session.participant.code)
    assert not TroubleReport.objects.exists()


def test_it_goes_when_withdrawn_answers_are_erased_and_old_ones_of_nobody_go_later(campaign: Campaign) -> None:
    proven(campaign)
    reports(campaign)
    assert services.erase_reports() == 0
    Session.objects.update(state=SessionState.WITHDRAWN, erased_at=clock.now())
    assert services.erase_reports() == 1
    TroubleReport.objects.update(closed_at=clock.now() - timedelta(days=91))
    assert services.erase_reports() == 1
