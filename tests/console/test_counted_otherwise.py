"""What pages of a large study say by indexes, marks and kept values is what looking at every row says."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Sum
from django.utils import timezone

from benchmarks.console import fill
from humanexp.core.models import User
from humanexp.ledger import payments
from humanexp.ledger.budgets import committed_cents
from humanexp.ledger.figures import is_recruiting
from humanexp.ledger.models import Payment
from humanexp.ledger.payments import free_sessions, places_left, taken_places
from humanexp.ledger.terms import suggested_terms
from humanexp.ledger.wages import top_up_plan, wage_of
from humanexp.participation.models import Response, Session, SessionState, counting
from humanexp.participation.openings import keep_working_times
from humanexp.participation.pages.live import Activity, _one_by_one, counts_by_standing, groups_of, page_of, steps_of
from humanexp.participation.sessions import holding_slots, is_at_work, kept_slots, measured
from humanexp.participation.tallies import _marker, content_of, make_tally, tally_of
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.registry import fees_of
from humanexp.recruiters.states import LISTED, AssignmentState
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.watch import sessions_over_time
from humanexp.screening.services import append_verdict
from humanexp.studies.models import Study
from tests.factories import active_minutes

pytestmark = pytest.mark.django_db
PEOPLE = 36


@pytest.fixture
def study() -> Study:
    """Recruited and linked people: under way, silent, finished, not qualified, not listed, withdrawn, rejected, paid
    twice, judged twice, deleted."""
    fill(PEOPLE, User.objects.create_user("ada"))
    study, now = Study.objects.get(), timezone.now()
    sessions = list(study.sessions.order_by("pk"))
    paid = Campaign.objects.get()
    link = Campaign.objects.get()
    link.pk, link.entry, link.environment, link.reward_cents = None, "link", "link", 0
    link._state.adding = True
    link.save()
    under_way = {"state": SessionState.OPEN, "completed_at": None, "submitted_at": None, "cursor": 20}
    changes: dict[int, dict[str, Any]] = {
        1: under_way,
        2: under_way | {"last_seen_at": now, "confirmed_at": now},
        3: under_way | {"last_seen_at": now, "lease": "tab"},
        4: under_way | {"cursor": 0, "is_verified": False},
        5: {"state": SessionState.WITHDRAWN, "withdrawn_from": SessionState.SUBMITTED, "withdrawn_at": now},
        6: under_way | {"state": SessionState.WITHDRAWN, "withdrawn_at": now},
        7: {"state": SessionState.COMPLETED, "is_verified": False},
        8: {"qualified": False, "holds_slot": False},
        9: {"qualified": True},
        10: {"state": SessionState.COMPLETED, "submitted_at": None, "last_seen_at": None},
        11: {"blocks_digest": ""},
        12: {"blocks": sessions[0].blocks[:-1], "blocks_digest": "another", "total": 40, "cursor": 40},
        13: {"holds_slot": False},
    }
    for number, facts in changes.items():
        Session.objects.filter(pk=sessions[number].pk).update(**facts)
        Response.objects.filter(session=sessions[number], position__gte=facts.get("cursor", 48)).delete()
    for number in (14, 15, 16):
        Assignment.objects.filter(session=sessions[number]).update(campaign=link, environment="link", hit=None)
        Payment.objects.filter(assignment__session=sessions[number]).update(campaign=link)
    for number, state in ((17, AssignmentState.REJECTED), (18, AssignmentState.RETURNED), (2, AssignmentState.OPENED)):
        Assignment.objects.filter(session=sessions[number]).update(state=state)
    for number in (20, 21):
        append_verdict(session=sessions[number], accepted=False, reasons=["timing"], rule_set="vcr", rule_version="2")
    for number, cents, state in ((22, 7, "confirmed"), (23, 9, "refused"), (24, 11, "planned")):
        row = sessions[number].assignment
        Payment.objects.create(
            environment="marketplace", state=state, token=f"bonus-{number}", kind="bonus", assignment=row,
            campaign=paid, cause="care", amount_cents=cents, fee_cents=2,
        )  # fmt: skip
    # somebody was deleted, and of somebody else the session alone is gone
    Assignment.objects.filter(session=sessions[25]).update(person=None, session=None)
    Assignment.objects.filter(session=sessions[26]).update(session=None)
    for session in sessions[25:27]:
        Session.objects.get(pk=session.pk).delete()
    return study


def test_where_people_stand(study: Study) -> None:
    plain = _one_by_one(Session.objects.filter(study=study))
    assert steps_of(groups_of(study)) == steps_of(plain)
    assert counts_by_standing(groups_of(study)) == counts_by_standing(plain)


@pytest.mark.parametrize("shown", [None, *Activity])
def test_who_was_heard_of_last(study: Study, shown: Activity | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("humanexp.participation.pages.live.ROWS", 7)
    count = counts_by_standing(groups_of(study))
    total = sum(count.values()) if shown is None else count[shown]
    listed = []
    for number in range(1, -(-max(total, 1) // 7) + 1):
        listed += [row.session for row in page_of(study, shown=shown, number=str(number), count=total)]
    found = sorted(study.sessions.all(), key=lambda one: (one.last_seen_at or one.opened_at, one.pk), reverse=True)
    everybody = {row.session: row.standing for row in page_of(study, shown=None, number="1", count=total)}
    plain = [one.code for one in found]
    assert len(listed) == total and (shown is not None or listed == plain)
    assert [code for code in plain if code in listed] == listed
    assert all(everybody.get(code, shown) == shown for code in listed) or shown is None


def test_places_of_the_plan(study: Study) -> None:
    plain = holding_slots(study).filter(is_at_work(), is_verified=True).count()
    assert kept_slots(study) == plain > 0


def test_answers_of_the_sessions_that_count(study: Study) -> None:
    plain = Session.objects.filter(counting(), study=study)
    answers = plain.aggregate(answers=Sum("cursor"))["answers"]
    assert _marker(study, "") == (f"{plain.count()}:{answers}:", answers)


def test_money_and_places(study: Study) -> None:
    tally, plain = payments.tally_of(study), Counter[Any]()
    for payment in Payment.objects.select_related("assignment__campaign"):
        assert payment.campaign == payment.assignment.campaign
        key = payment.assignment.campaign_id, payment.environment, payment.kind, payment.state
        plain.update({(*key, "rows"): 1, (*key, "amount"): payment.amount_cents, (*key, "fee"): payment.fee_cents})
    counted = Counter[Any]()
    for row in tally.payments:
        key = row.campaign, row.environment, row.kind, row.state
        counted.update({(*key, "rows"): row.count, (*key, "amount"): row.amount_cents, (*key, "fee"): row.fee_cents})
    assert counted == plain and len(tally.payments) >= 4
    waiting = Payment.objects.exclude(state="confirmed").values_list("created_at", flat=True)
    assert tally.waiting_since == min(waiting)
    for campaign in Campaign.objects.all():
        left = max(0, campaign.assignments - taken_places(campaign).count())
        assert places_left(campaign, tally) == places_left(campaign) == left
        extras = [
            one.cost_cents
            for one in Payment.objects.filter(campaign=campaign).exclude(kind="reward").exclude(state="refused")
        ]
        assert committed_cents(campaign) == campaign.quoted_cents + sum(extras)
    assert free_sessions(study, tally) == free_sessions(study)


def test_working_time_that_is_kept_is_what_is_measured(study: Study) -> None:
    pks = list(study.sessions.values_list("pk", flat=True))
    before = active_minutes(pks)
    assert keep_working_times() == len(before) > 0 and keep_working_times() == 0
    assert active_minutes(pks) == before
    kept = dict(Session.objects.filter(pk__in=before).values_list("pk", "active_s"))
    assert kept == measured(list(before))
    taken_back = Session.objects.get(pk=min(before))
    Session.objects.filter(pk=taken_back.pk).update(state=SessionState.WITHDRAWN)
    assert active_minutes([taken_back.pk]) == {}


@pytest.mark.parametrize("kept", ["none", "some", "all"])
@pytest.mark.parametrize("floor", [0, 725, 1_250, 4_000])
def test_who_worked_below_the_floor(study: Study, floor: int, kept: str) -> None:
    if kept != "none":
        keep_working_times()
    if kept == "some":
        Session.objects.filter(pk__in=[one.pk for one in study.sessions.order_by("pk")[::3]]).update(active_s=None)
    plan, rows, fee, unknown = top_up_plan(study, floor), [], 0, 0
    for row in Assignment.objects.filter(campaign__study=study, state__in=LISTED, person__isnull=False).order_by("pk"):
        if not row.campaign.reward_cents:
            continue
        finished = row.session and row.session.state in (SessionState.COMPLETED, SessionState.SUBMITTED)
        worked_s = measured([row.session_id]).get(row.session_id) if finished and row.session_id else None
        bonuses = Payment.objects.filter(assignment=row).exclude(kind="reward").exclude(state="refused")
        earned = row.campaign.reward_cents + sum(bonuses.values_list("amount_cents", flat=True))
        if worked_s is None:
            unknown += 1
        elif (missing := -(-round(worked_s) * floor // 3600) - earned) > 0:
            rows.append((row.pk, worked_s / 60, missing))
            fee += fees_of(row.environment).bonus_fee_cents(missing)
    assert [(one.assignment, one.active_minutes, one.bonus_cents) for one in plan.rows] == rows
    assert (plan.fee_cents, plan.unknown) == (fee, unknown)
    assert bool(rows) is (floor > 725)


def test_sessions_over_time(study: Study) -> None:
    Session.objects.filter(pk=study.sessions.all()[0].pk).update(opened_at=timezone.now() - timedelta(days=3))
    found = sessions_over_time(study, bins=9)
    starts = [one.start for one in found]
    for moment, name in (("opened_at", "opened"), ("completed_at", "completed")):
        moments = [getattr(one, moment) for one in study.sessions.filter(counting())]
        plain = Counter(max(sum(start <= at for start in starts), 1) - 1 for at in moments if at is not None)
        assert [getattr(one, name) for one in found] == [plain[number] for number in range(9)]


def test_the_wage_is_that_of_the_newest_sessions(study: Study) -> None:
    before = wage_of(study)
    keep_working_times()
    assert wage_of(study, payments.tally_of(study)) == before and before.is_measured


def test_what_a_page_has_counted_leaves_nothing_out(study: Study) -> None:
    Assignment.objects.filter(state=AssignmentState.SUBMITTED).update(evidence="unknown")
    tally = payments.tally_of(study)
    waits = attention(study)
    assert attention(study, tally) == waits and len({one.kind for one in waits}) > 1
    assert suggested_terms(study, tally) == suggested_terms(study)
    assert is_recruiting(study, tally) is is_recruiting(study) is True
    Campaign.objects.update(state="stopped")
    for states in (("opened",), ()):
        Assignment.objects.filter(state="opened").exclude(state__in=states).update(state="returned")
        found = is_recruiting(study)
        assert is_recruiting(study, payments.tally_of(study)) is found is bool(states)


def test_a_kept_count_is_shown_without_adding_up_answers(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    assert content_of(study, "answers") == tally_of(study, "answers").content is not None
    monkeypatch.setattr("humanexp.participation.tallies.AT_ONCE", 100)
    assert content_of(study, "answers") is None
    make_tally(study=study, name="answers", report=lambda done, total: None)
    assert content_of(study, "answers") == tally_of(study, "answers").content is not None
