from __future__ import annotations

from itertools import product

import pytest
from django.db import IntegrityError
from django.utils import timezone

from humanexp.core.errors import IllegalTransition, NotAllowed
from humanexp.core.models import AuditEvent
from humanexp.ledger.models import Call, CallKind, Payment, RejectionProposal
from humanexp.recruiters.models import Assignment, Campaign, Hit
from humanexp.recruiters.states import AssignmentState, CampaignState, HitState, ProposalState, WriteState, advance
from humanexp.recruiting.launch import LaunchTerms, publish
from tests.recruitment.studies import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return publish(study=make_study(), terms=LaunchTerms(to="marketplace", assignments=2, reward_cents=120))


@pytest.fixture
def assignment(campaign: Campaign) -> Assignment:
    return Assignment.objects.create(campaign=campaign, environment="marketplace", assignment_id="A1")


def _payment(assignment: Assignment, **changes: object) -> Payment:
    facts = {
        "environment": "marketplace",
        "kind": CallKind.BONUS,
        "assignment": assignment,
        "campaign": assignment.campaign,
        "cause": "care",
        "amount_cents": 10,
        "fee_cents": 2,
        "token": f"t{Payment.objects.count()}",
        **changes,
    }
    return Payment.objects.create(**facts)


@pytest.mark.parametrize(("told", "allowed"), [(5, 30), (10, 30), (11, 33), (60, 180)])
def test_people_have_three_times_the_minutes_that_they_are_told_and_half_an_hour_at_least(
    told: int, allowed: int
) -> None:
    terms = LaunchTerms(to="link", assignments=1, estimated_minutes=told)
    assert publish(study=make_study(), terms=terms).assignment_duration_s == allowed * 60


@pytest.mark.parametrize(
    ("model", "states"),
    [
        (Campaign, CampaignState),
        (Hit, HitState),
        (Assignment, AssignmentState),
        (Call, WriteState),
        (RejectionProposal, ProposalState),
    ],
)
def test_every_arrow_that_does_not_exist_is_refused(
    campaign: Campaign, assignment: Assignment, model: type, states: type
) -> None:
    row = {
        Campaign: campaign,
        Hit: campaign.hits.get(),
        Assignment: assignment,
        Call: campaign.hits.get().calls.get(),
        RejectionProposal: assignment.rejection_proposals.create(reason="Every answer was the same."),
    }[model]
    assert set(model.TRANSITIONS) == set(states.values)
    for before, after in product(states.values, repeat=2):
        model.objects.filter(pk=row.pk).update(state=before)
        row.refresh_from_db()
        if after in model.TRANSITIONS[before]:
            assert advance(row, after).state == after
        else:
            with pytest.raises(IllegalTransition, match=f"is {before} and cannot become {after}"):
                advance(row, after)
            row.refresh_from_db()
            assert row.state == before


def test_advance_goes_by_the_stored_state(campaign: Campaign) -> None:
    stale = Campaign.objects.get(pk=campaign.pk)
    advance(campaign, CampaignState.STOPPING, stopped_at=timezone.now())
    with pytest.raises(IllegalTransition):
        advance(stale, CampaignState.STOPPING)


def test_the_ledger_is_only_added_to(assignment: Assignment) -> None:
    payment = _payment(assignment)
    with pytest.raises(NotAllowed):
        payment.delete()
    with pytest.raises(NotAllowed):
        Payment.objects.all().delete()
    assert Payment.objects.count() == 1


def test_one_payment_for_one_cause(assignment: Assignment) -> None:
    _payment(assignment)
    _payment(assignment, cause="another")
    with pytest.raises(IntegrityError):
        _payment(assignment)


def test_a_bonus_is_money(assignment: Assignment) -> None:
    with pytest.raises(IntegrityError):
        _payment(assignment, amount_cents=0)


def test_the_record_of_what_was_done_cannot_be_changed(campaign: Campaign) -> None:
    event = AuditEvent.objects.get(action="publish")
    assert event.subject == f"campaign:{campaign.pk}"
    terms = {"environment": "marketplace", "assignments": 2, "reward_cents": 120, "quoted_cents": 288}
    assert event.facts == {**terms, "currency": "USD"}
    event.action = "nothing"
    with pytest.raises(NotAllowed):
        event.save()
