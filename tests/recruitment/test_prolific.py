"""Prolific's adapter on the practice panel: the life of a study, and who counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from humanexp.core import clock
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.jobs.models import Job
from humanexp.ledger.bonuses import compensate
from humanexp.ledger.models import Call, Payment
from humanexp.ledger.outbox import is_paused
from humanexp.ledger.owed import owed
from humanexp.ledger.payments import places_left, unmatched
from humanexp.ledger.rejections import reject
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import override_rejection, settle
from humanexp.participation.models import Session, SessionState
from humanexp.recruiters.campaigns import slow_minutes, unfinished_campaigns
from humanexp.recruiters.models import Assignment, Campaign, Hit, RecruitedPerson
from humanexp.recruiters.prolific.recruiter import ProlificRecruiter
from humanexp.recruiters.prolific.terms import least_minutes
from humanexp.recruiters.registry import fees_of
from humanexp.recruiters.states import AssignmentState, CampaignState, HitState, WriteState
from humanexp.recruiters.tickets import Outcome
from humanexp.recruiting import attendance
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.attendance import verify_begun
from humanexp.recruiting.extension import extend, pause_campaign, resume_campaign, stop
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.people import notify
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.panel.server import Lab, PanelServer
from tests.recruitment.at_panel import come, reserve
from tests.recruitment.panel_door import Door
from tests.recruitment.studies import LEASE, Visitor

Launch = Callable[..., Campaign]


@pytest.fixture(autouse=True)
def unlimited() -> None:
    attendance.ASKING.clear()


def there(lab: Lab, campaign: Campaign) -> dict[str, Any]:
    return dict(lab.get(f"studies/{campaign.hits.get().hit_id}/"))


def studies_of(lab: Lab) -> list[dict[str, Any]]:
    return list(lab.get(f"projects/{lab.project_id}/studies/")["results"])


def counted(study: Study) -> int:
    """Sessions that an analysis sees."""
    return Session.objects.filter(study=study, is_verified__in=[True]).exclude(state=SessionState.WITHDRAWN).count()


def rows() -> dict[str, AssignmentState]:
    return {row.assignment_id: AssignmentState(row.state) for row in Assignment.objects.all()}


# Publishing


def test_a_study_is_published_as_it_was_frozen(lab: Lab, launch_at_panel: Launch) -> None:
    campaign = launch_at_panel(description="Look & say <b>what</b> it was.")
    study = there(lab, campaign)
    assert study["status"] == "ACTIVE"
    assert (study["reward"], study["total_available_places"], study["estimated_completion_time"]) == (120, 2, 5)
    assert study["maximum_allowed_time"] == 30 >= least_minutes(5)
    assert study["device_compatibility"] == ["desktop"]
    assert study["description"].startswith("Look &amp; say &lt;b&gt;")
    assert study["external_study_url"].endswith(
        f"/take/{campaign.entry}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"
        "&STUDY_ID={{%STUDY_ID%}}"
    )
    codes = {one["code"]: one for one in study["completion_codes"]}
    own = {outcome: row.code for outcome, row in campaign.site.codes.items()}
    assert set(codes) == set(own.values()) and len(codes) == len(Outcome)
    taken = [one["action"] for one in codes[own["finished"]]["actions"]]
    assert taken == ["MANUALLY_REVIEW", "ADD_TO_PARTICIPANT_GROUP"]
    for outcome in ("practice-failed", "qualification-failed"):  # by hand, for the full reward, and never as a check
        assert codes[own[outcome]]["actions"] == [{"action": "MANUALLY_REVIEW"}]
    for outcome in ("no-consent", "wrong-device"):
        assert [one["action"] for one in codes[own[outcome]]["actions"]] == ["REQUEST_RETURN"]
    assert {one["code_type"] for one in codes.values()} == {"COMPLETED", "NO_CONSENT", "INCOMPATIBLE_DEVICE", "OTHER"}
    assert study["filters"][0]["filter_id"] == "participant_group_blocklist"
    [group] = lab.get("participant-groups/", workspace_id=lab.workspace_id)["results"]
    assert study["filters"][0]["selected_values"] == [group["id"]]
    assert campaign.quoted_cents == 2 * (120 + 40)


@pytest.mark.parametrize("kind", ["lost_before", "lost_after", "bad_gateway", "bad_gateway_after", "html", "cut_body"])
@pytest.mark.parametrize("operation", ["studies.POST", "study-transition.POST"])
def test_a_lost_answer_never_makes_a_second_study(
    lab: Lab, panel: PanelServer, study: Study, operation: str, kind: str
) -> None:
    panel.arm(operation, kind)
    publish(study=study, terms=LaunchTerms(to="panel", assignments=2, reward_cents=120))
    assert send(environment="panel").waiting == 1
    panel.control("clear")
    assert send(environment="panel").waiting == 0
    assert [one["status"] for one in studies_of(lab)] == ["ACTIVE"]
    [write] = Call.objects.all()
    assert (write.state, write.hit.hit_id) == (WriteState.CONFIRMED, studies_of(lab)[0]["id"])


def test_a_draft_that_says_something_else_is_never_published(
    lab: Lab, study: Study, recruiter: ProlificRecruiter
) -> None:
    """Somebody, or a lost first try with older terms, left a draft of the same name."""
    publish(study=study, terms=LaunchTerms(to="panel", assignments=2, reward_cents=120))
    name = Call.objects.get().token
    stray = lab.draft(internal_name=name, reward=900)
    send(environment="panel")
    [left] = studies_of(lab)
    assert (left["id"] != stray, left["reward"], left["status"]) == (True, 120, "ACTIVE")


def test_more_than_was_approved_is_not_spent(lab: Lab, study: Study, settings: Any) -> None:
    settings.PANEL_ACADEMIC = False
    publish(study=study, terms=LaunchTerms(to="panel", assignments=2, reward_cents=120))
    campaign = Campaign.objects.get()
    Call.objects.update(amount_cents=300)
    report = send(environment="panel")
    assert "approved" in report.remarks[0]
    assert [one["status"] for one in studies_of(lab)] == ["UNPUBLISHED"]
    assert campaign.hits.get().state == HitState.PLANNED


def test_without_money_there_is_a_draft_and_no_study(panel: PanelServer, lab: Lab, study: Study, settings: Any) -> None:
    poor = panel.lab(balance_cents=100)
    settings.PANEL_TOKEN, settings.PANEL_WORKSPACE, settings.PANEL_PROJECT = (
        poor.token,
        poor.workspace_id,
        poor.project_id,
    )
    publish(study=study, terms=LaunchTerms(to="panel", assignments=2, reward_cents=120))
    assert "are free there" in send(environment="panel").remarks[0]
    assert [one["status"] for one in studies_of(poor)] == ["UNPUBLISHED"]
    panel.control("deposits", workspace_id=poor.workspace_id, amount_cents=5_000)
    send(environment="panel")
    assert [one["status"] for one in studies_of(poor)] == ["ACTIVE"]


def test_places_are_absolute_and_added_once(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, recruiter: ProlificRecruiter
) -> None:
    campaign = launch_at_panel()
    extend(campaign=campaign, places=3, by=None)
    panel.arm("study.PATCH", "lost_after")
    assert send(environment="panel").waiting == 1
    panel.control("clear")
    send(environment="panel")
    assert there(lab, campaign)["total_available_places"] == 5
    for _ in range(2):
        recruiter.change(campaign.hits.get().hit_id, places=5, token="same")
    assert there(lab, campaign)["total_available_places"] == 5


def test_a_full_study_opens_again_with_more_places(lab: Lab, panel: PanelServer, launch_at_panel: Launch) -> None:
    campaign = launch_at_panel(assignments=1)
    come(panel, campaign).finish()
    sync()
    assert there(lab, campaign)["status"] == "AWAITING REVIEW"
    extend(campaign=campaign, places=1, by=None)
    send(environment="panel")
    assert (there(lab, campaign)["status"], len(studies_of(lab))) == ("ACTIVE", 1)


def test_a_campaign_is_one_study_however_it_is_launched_and_extended(lab: Lab, launch_at_panel: Launch) -> None:
    campaign = launch_at_panel(assignments=4)
    extend(campaign=campaign, places=15, by=None)
    send(environment="panel")
    assert [one["total_available_places"] for one in studies_of(lab)] == [19]


def test_pause_and_start_are_read_back(lab: Lab, launch_at_panel: Launch, recruiter: ProlificRecruiter) -> None:
    campaign = launch_at_panel()
    offer = campaign.hits.get().hit_id
    for move, status in ((recruiter.pause, "PAUSED"), (recruiter.resume, "ACTIVE")):
        for _ in range(2):
            move(offer)
            assert there(lab, campaign)["status"] == status


@pytest.mark.parametrize("awaits_review", [False, True])
@pytest.mark.parametrize("processing_s", [0, 30])
def test_stop_ends_in_either_state_and_passes_through_unknown_words(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study, awaits_review: bool, processing_s: int
) -> None:
    campaign = launch_at_panel()
    panel.control(
        "switches", stop_awaits_review=awaits_review, processing_s=processing_s, processing_word="WINDING DOWN"
    )
    stop(study=study)
    send(environment="panel")
    if processing_s:
        assert there(lab, campaign)["status"] == "WINDING DOWN"
        sync()  # a word that nobody knows is no end and no failure
        panel.advance(processing_s + 1)
        send(environment="panel")
    campaign.refresh_from_db()
    assert campaign.state == CampaignState.STOPPED
    assert there(lab, campaign)["status"] == ("AWAITING REVIEW" if awaits_review else "COMPLETED")
    sync()
    assert there(lab, campaign)["status"] != "ACTIVE"


@pytest.mark.parametrize("reopens", [False, True])
def test_a_rejected_place_is_offered_again_after_review_began(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, reopens: bool, django_user_model: Any
) -> None:
    panel.control("switches", rejection_reopens=reopens)
    campaign = launch_at_panel(assignments=1)
    come(panel, campaign).finish()
    sync()
    boss = django_user_model.objects.create_superuser("boss")
    row = Assignment.objects.get()
    reject(
        assignment=row,
        reason="Nothing of what was sent can be read. " * 4,
        evidence="Looked at it twice, in both files.",
        category="NO_DATA",
        by=boss,
    )
    for _ in range(2):
        send(environment="panel")
    assert lab.submission(row.assignment_id)["status"] == "REJECTED"
    assert there(lab, campaign)["status"] == "ACTIVE"


# Who counts


def test_a_session_counts_once_the_recruiter_has_named_its_person(
    panel: PanelServer, launch_at_panel: Launch, study: Study
) -> None:
    campaign = launch_at_panel()
    come(panel, campaign)
    assert counted(study) == 0
    assert verify_begun(campaign=campaign) == 1
    assert counted(study) == 1


@pytest.mark.parametrize("by", ["job", "list"])
def test_a_made_up_submission_counts_nowhere(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study, by: str
) -> None:
    campaign = launch_at_panel(assignments=3)
    owner = reserve(panel, campaign)
    strangers = [str(panel.control("people", count=1)["participant_ids"][0]) for _ in range(2)]
    theirs = owner.visitor.person
    for forged in (
        {"workerId": strangers[0], "assignmentId": "f" * 24},  # of nobody
        {"workerId": strangers[1], "assignmentId": owner.submission},  # of somebody else
    ):
        visitor = Visitor(campaign)
        visitor.person = {**theirs, **forged}
        assert visitor.open().status_code == 201
        visitor.answer_all()
    if by == "job":
        Assignment.objects.update(opened_at=clock.now() - 2 * attendance.LISTED_WITHIN)
        verify_begun(campaign=campaign)
    sync()
    assert counted(study) == 0
    assert places_left(campaign) == 3
    assert set(rows().values()) == {AssignmentState.RETURNED if by == "job" else AssignmentState.OPENED}
    assert owner.visitor.open().status_code == 201  # whose id it is takes part all the same
    sync()
    assert counted(study) == 1


def test_ids_that_somebody_invents_cost_few_calls(panel_door: Door, launch_at_panel: Launch, settings: Any) -> None:
    campaign = launch_at_panel()
    settings.PANEL_URL = panel_door.url
    for number in range(60):
        visitor = Visitor(campaign, worker_id=f"{number:024x}", assignment_id=f"{number + 500:024x}")
        assert visitor.open().status_code == 201
    assert Job.objects.filter(kind="recruitment.verify").count() == 1
    for _ in range(20):
        verify_begun(campaign=campaign)
    assert panel_door.calls <= 3 * (attendance.ASKING.burst + 1)
    assert set(rows().values()) == {AssignmentState.OPENED}  # a list may lag behind
    Assignment.objects.update(opened_at=clock.now() - 2 * attendance.LISTED_WITHIN)
    attendance.ASKING.clear()
    verify_begun(campaign=campaign)
    assert set(rows().values()) == {AssignmentState.RETURNED}


# What becomes of submissions


def settled(campaign: Campaign) -> None:
    """Look, plan, send, and look again."""
    sync()
    settle(study=campaign.study)
    send(environment="panel")
    sync()


def test_rewards_go_in_one_call_and_are_believed_when_they_are_read_back(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch
) -> None:
    campaign = launch_at_panel(assignments=3)
    guests = [come(panel, campaign) for _ in range(3)]
    for guest in guests:
        guest.finish()
    panel.control("switches", approving_s=600)
    panel.arm("submission-transition.POST", "too_many", times=1)  # not one of them is approved by itself
    settled(campaign)
    assert {payment.state for payment in Payment.objects.all()} == {WriteState.SENDING}
    assert set(rows().values()) == {AssignmentState.SUBMITTED}
    panel.advance(601)
    sync()
    assert {payment.state for payment in Payment.objects.all()} == {WriteState.CONFIRMED}
    assert set(rows().values()) == {AssignmentState.APPROVED}
    assert panel.money(lab.workspace_id)["paid"] == 3 * 160
    assert panel.shown("faults")["faults"][0]["times"] == 1


@pytest.mark.parametrize("kind", ["lost_before", "lost_after", "too_many"])
@pytest.mark.gate
@pytest.mark.promise(2)
def test_a_lost_approval_pays_once(lab: Lab, panel: PanelServer, launch_at_panel: Launch, kind: str) -> None:
    campaign = launch_at_panel()
    come(panel, campaign).finish()
    panel.arm("bulk-approve.POST", kind)
    settled(campaign)
    [payment] = Payment.objects.all()
    Payment.objects.update(first_sent_at=payment.first_sent_at and payment.first_sent_at - timedelta(minutes=11))
    send(environment="panel")
    sync()
    assert Payment.objects.get().state == WriteState.CONFIRMED
    assert panel.money(lab.workspace_id)["paid"] == 160


def test_no_code_with_a_finished_session_is_approved(lab: Lab, panel: PanelServer, launch_at_panel: Launch) -> None:
    campaign = launch_at_panel()
    guest = come(panel, campaign)
    guest.visitor.answer_all()
    guest.go_back("")
    settled(campaign)
    assert lab.submission(guest.submission)["status"] == "APPROVED"
    assert lab.submission(guest.submission)["return_requested"] is None


def test_no_code_without_a_finished_session_is_asked_to_return_and_then_waits_for_a_person(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study
) -> None:
    campaign = launch_at_panel()
    guest = come(panel, campaign)
    guest.go_back("")
    sync()
    assert list(unmatched(study)) == [Assignment.objects.get()]
    send(environment="panel")
    asked = lab.submission(guest.submission)["return_requested"]
    assert "within 7 days" in asked
    assert list(unmatched(study)) == []
    settled(campaign)
    assert Payment.objects.count() == 0
    row = Assignment.objects.get()
    assert row.return_due_at is not None
    Assignment.objects.update(return_due_at=row.return_due_at - timedelta(days=7))
    assert list(unmatched(study)) == [row]
    messages = lab.get("messages/", user_id=row.person and row.person.worker_id)["results"]
    assert len(messages) == 1


@pytest.mark.parametrize("kind", ["lost_before", "lost_after"])
def test_a_request_to_return_is_never_sent_twice(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, kind: str
) -> None:
    campaign = launch_at_panel()
    guest = come(panel, campaign)
    guest.go_back("")
    sync()
    panel.arm("request-return.POST", kind)
    for _ in range(3):
        send(environment="panel")
    sent = lab.get("messages/", user_id=guest.visitor.person["workerId"])["results"]
    assert len(sent) == 1


def test_who_leaves_and_keeps_the_answers_returns_the_place_and_keeps_them(
    panel: PanelServer, launch_at_panel: Launch, study: Study
) -> None:
    campaign = launch_at_panel(assignments=1)
    guest = come(panel, campaign)
    sync()
    visitor = guest.visitor
    visitor.call("POST", "/api/v1/run/lease/", {"lease": LEASE})
    answer = {"position": 0, "response": "cat", "rt_ms": 700.0, "clicks": [], "timing": {}}
    assert visitor.call("POST", "/api/v1/run/responses/", answer).status_code == 201
    assert visitor.call("POST", "/api/v1/run/withdraw/", {"keep": True}).json() == {"state": "left"}
    guest.give_back()
    for _ in range(2):
        sync()
    [session] = Session.objects.all()
    assert (session.state, session.erase_after) == (SessionState.OPEN, None)
    assert session.responses.count() == 1
    assert rows() == {guest.submission: AssignmentState.RETURNED}


@pytest.mark.parametrize("when", ["at work", "finished", "submitted", "paid for soon"])
def test_a_returned_place_is_a_withdrawal_at_any_time(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study, when: str
) -> None:
    campaign = launch_at_panel(assignments=1)
    guest = come(panel, campaign)
    if when == "at work":
        sync()
    else:
        guest.visitor.answer_all()
    if when in ("submitted", "paid for soon"):
        guest.go_back(guest.way_out()["code"])
        sync()
    if when == "paid for soon":
        settle(study=study)
    guest.give_back()
    sync()
    send(environment="panel")
    assert counted(study) == 0
    [session] = Session.objects.all()
    assert session.state == SessionState.WITHDRAWN
    assert session.erase_after is not None
    assert rows() == {guest.submission: AssignmentState.RETURNED}
    assert {payment.state for payment in Payment.objects.all()} <= {WriteState.REFUSED}
    assert there(lab, campaign)["status"] == "ACTIVE"  # the place is offered to somebody else
    another = come(panel, campaign)
    another.finish()
    settled(campaign)
    assert lab.submission(another.submission)["status"] == "APPROVED"


def test_who_gave_the_place_back_and_is_owed_something_is_paid_once_by_a_bonus(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study
) -> None:
    ada = User.objects.create_user("ada")
    study.memberships.create(user=ada, role="payer")
    study.configuration["recruitment"] = {"pay_on_leaving": "full"}
    study.save()
    campaign = launch_at_panel(cap_cents=1_000, reward_cents=90)
    guest = come(panel, campaign)
    guest.visitor.answer_all()
    guest.give_back()
    sync()
    row = Assignment.objects.get()
    assert [(one.why, one.hold) for one in owed(study)] == [("not-submitted", "offer")]
    for _ in range(2):
        compensate(assignment=row, by=ada)
    assert owed(study) == []
    send(environment="panel")
    [payment] = Payment.objects.all()
    assert (payment.assignment, payment.kind, payment.amount_cents) == (row, "compensation", 90)
    assert lab.submission(guest.submission)["bonus_payments"] == [90]


def test_who_ran_out_of_time_and_has_finished_counts_and_is_owed_the_reward(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study
) -> None:
    campaign = launch_at_panel(cap_cents=1_000, reward_cents=90)
    early, never = come(panel, campaign), come(panel, campaign)
    sync()
    panel.advance(31 * 60)
    sync()
    early.visitor.answer_all()
    assert early.way_out() == {"outcome": "finished", "kind": "late", "address": "", "code": ""}
    assert "You are owed 0.90 GBP." in early.visitor.http.get(f"/take/{campaign.entry}/").text
    settled(campaign)
    assert rows() == {
        early.submission: AssignmentState.TIMED_OUT,
        never.submission: AssignmentState.TIMED_OUT,
    }
    [payment] = Payment.objects.all()
    assert (payment.kind, payment.amount_cents, bool(payment.reason)) == ("compensation", 90, True)
    assert payment.assignment.assignment_id == early.submission
    assert early.visitor.session.state == SessionState.SUBMITTED
    settle(study=study)
    assert Payment.objects.count() == 1


def test_a_cap_that_does_not_hold_late_work_keeps_nobody_else_unpaid(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch
) -> None:
    campaign = launch_at_panel(reward_cents=90)
    late, other = come(panel, campaign), come(panel, campaign)
    other.finish()
    late.visitor.answer_all()
    panel.advance(31 * 60)
    Campaign.objects.update(cap_cents=campaign.quoted_cents)
    settled(campaign)
    assert lab.submission(other.submission)["status"] == "APPROVED"
    assert rows()[late.submission] == AssignmentState.TIMED_OUT


def test_nobody_is_kept_who_did_not_agree(panel: PanelServer, lab: Lab, launch_at_panel: Launch) -> None:
    campaign = launch_at_panel()
    guest = reserve(panel, campaign)
    answer = guest.visitor.http.post(
        f"/take/{campaign.entry}/decline/",
        {
            "outcome": "no-consent",
            "workerId": guest.visitor.person["workerId"],
            "assignmentId": guest.submission,
        },
        content_type="application/json",
    )
    guest.go_back(answer.json()["code"])
    sync()
    assert lab.submission(guest.submission)["return_requested"]
    assert (RecruitedPerson.objects.count(), Assignment.objects.count(), Session.objects.count()) == (0, 0, 0)
    assert Campaign.objects.get().turned_away == {"no-consent": 1}
    guest.give_back()
    sync()
    assert RecruitedPerson.objects.count() == 0


def test_a_place_that_a_decliner_keeps_is_told_before_it_is_paid(
    panel: PanelServer, lab: Lab, launch_at_panel: Launch
) -> None:
    """The service approves it by itself after 21 days; who it is stays unknown here."""
    campaign = launch_at_panel()
    guest = reserve(panel, campaign)
    answer = guest.visitor.http.post(
        f"/take/{campaign.entry}/decline/",
        {
            "outcome": "no-consent",
            "workerId": guest.visitor.person["workerId"],
            "assignmentId": guest.submission,
        },
        content_type="application/json",
    )
    guest.go_back(answer.json()["code"])
    Hit.objects.update(listed_at=None)
    sync()
    [hit] = Hit.objects.all()
    assert hit.places_kept == 1 and hit.kept_until is not None
    assert timedelta(days=20) < hit.kept_until - timezone.now() < timedelta(days=22)
    [told] = [one for one in attention(campaign.study) if one.kind == "places-kept"]
    assert "has kept the place" in told.text and f"{hit.kept_until:%d %B %Y}" in told.text
    assert Assignment.objects.count() == 0
    Hit.objects.update(kept_until=timezone.now() - timedelta(minutes=1))
    assert not [one for one in attention(campaign.study) if one.kind == "places-kept"], "that day is over"
    stop(study=campaign.study)
    send(environment="panel")
    Hit.objects.update(expires_at=timezone.now() - timedelta(days=2), state=HitState.CLOSED, pending=0)
    assert list(unfinished_campaigns()) == [campaign], "asked about until the place is free or paid"
    guest.give_back()
    Hit.objects.update(listed_at=None)
    sync()
    assert Hit.objects.get().places_kept == 0
    assert not [one for one in attention(campaign.study) if one.kind == "places-kept"]


def test_a_rejection_names_a_ground_and_no_check_is_one(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, django_user_model: Any
) -> None:
    campaign = launch_at_panel()
    guest = come(panel, campaign)
    guest.finish()
    sync()
    row, boss = Assignment.objects.get(), django_user_model.objects.create_superuser("boss")
    long, why = "Nothing of what was sent can be read. " * 4, "Looked at in both files."
    for wrong in (
        {"category": "FAILED_CHECK", "reason": long, "evidence": why},
        {"category": "TOO_QUICKLY", "reason": long, "evidence": why},
        {"category": "", "reason": long, "evidence": why},
        {"category": "NO_DATA", "reason": "Nothing of it can be read at all.", "evidence": why},
        {"category": "NO_DATA", "reason": long, "evidence": ""},
    ):
        with pytest.raises(InvalidRequest):
            reject(assignment=row, by=boss, **wrong)
    reject(assignment=row, by=boss, category="NO_DATA", reason=long, evidence=why)
    send(environment="panel")
    sync()
    assert lab.submission(guest.submission)["status"] == "REJECTED"
    override_rejection(assignment=Assignment.objects.get(), by=boss)
    send(environment="panel")
    sync()
    assert lab.submission(guest.submission)["status"] == "APPROVED"
    assert rows() == {guest.submission: AssignmentState.APPROVED}


def test_who_took_part_is_kept_in_a_group_that_every_study_of_the_family_excludes(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch
) -> None:
    campaign = launch_at_panel()
    guest = come(panel, campaign)  # has begun, and finishes nothing
    sync()
    send(environment="panel")
    [group] = lab.get("participant-groups/", workspace_id=lab.workspace_id)["results"]
    members = lab.get(f"participant-groups/{group['id']}/participants/")["results"]
    assert [one["participant_id"] for one in members] == [guest.visitor.person["workerId"]]


def test_nothing_of_where_people_sit_and_who_they_are_is_stored(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch
) -> None:
    campaign = launch_at_panel()
    guest = come(panel, campaign)
    guest.finish()
    settled(campaign)
    [told] = lab.get(f"studies/{campaign.hits.get().hit_id}/submissions/")["results"]
    bait = [told["ip"], *told["strata"].values()]
    kept = "\n".join(connection.connection.iterdump())
    assert guest.submission in kept
    assert [one for one in bait if str(one) and str(one) in kept and str(one) not in ("Male", "Female")] == []


def test_a_person_pauses_and_opens_again_and_no_machine_ends_the_pause(
    lab: Lab, panel: PanelServer, launch_at_panel: Launch, django_user_model: Any
) -> None:
    campaign = launch_at_panel(assignments=2)
    boss = django_user_model.objects.create_superuser("boss")
    guest = come(panel, campaign)
    guest.finish()
    sync()
    pause_campaign(campaign=campaign, by=boss)
    send(environment="panel")
    guest.give_back()
    sync()
    send(environment="panel")
    assert is_paused(campaign)
    assert there(lab, campaign)["status"] == "PAUSED"
    resume_campaign(campaign=campaign, by=boss)
    send(environment="panel")
    assert not is_paused(campaign)
    assert there(lab, campaign)["status"] == "ACTIVE"


def test_the_time_limit_follows_from_those_who_took_longest(
    panel: PanelServer, lab: Lab, launch_at_panel: Launch, study: Study
) -> None:
    pilot = launch_at_panel(assignments=5)
    for _ in range(5):
        come(panel, pilot).finish()
    sync()
    for number, session in enumerate(Session.objects.order_by("pk")):
        taken = timedelta(minutes=10 + 5 * number)
        Session.objects.filter(pk=session.pk).update(opened_at=session.completed_at - taken)
    slow = slow_minutes(study)
    assert slow is not None and 30 <= slow <= 35
    campaign = launch_at_panel()
    assert there(lab, campaign)["maximum_allowed_time"] * 60 >= 3 * slow * 60 - 60
    assert campaign.assignment_duration_s >= 3 * slow * 60


def test_people_are_written_to_about_their_study(lab: Lab, panel: PanelServer, launch_at_panel: Launch) -> None:
    campaign = launch_at_panel()
    guest = come(panel, campaign)
    guest.finish()
    sync()
    notify(assignments=[Assignment.objects.get()], subject="Thank you", text="All is well.", by=None)
    send(environment="panel")
    [told] = lab.get("messages/", user_id=guest.visitor.person["workerId"])["results"]
    assert told["body"] == "Thank you\n\nAll is well."


def test_fees_are_what_the_other_side_charges(lab: Lab, recruiter: ProlificRecruiter, settings: Any) -> None:
    for reward in (1, 100, 119, 120, 850):
        asked = lab.post("study-cost-calculator/", reward=reward, total_available_places=7)["total_cost"]
        assert asked == 7 * (reward + recruiter.fees.reward_fee_cents(reward, hit_size=7))
    assert recruiter.fees.on_bonus(33).fee_cents == 11
    settings.PANEL_VAT_PERCENT, settings.PANEL_ACADEMIC = 20, False
    charge = fees_of("panel").on_reward(100, hit_size=1)
    assert (charge.fee_cents, charge.tax_cents) == (43, 9)
