"""Every service of launch, money, rejection, stop, decision and membership, called by an account with each role.

What a role does not allow is refused by the service itself, whatever page calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from humanexp.core.errors import ApplicationError, NotAllowed
from humanexp.core.models import AuditEvent, User
from humanexp.ledger.bonuses import compensate, note_paid_by_hand
from humanexp.ledger.budgets import raise_cap, set_study_cap
from humanexp.ledger.decisions import top_up, top_up_equally
from humanexp.ledger.models import Call, Payment, RejectionProposal
from humanexp.ledger.outbox import retry_hit
from humanexp.ledger.rejections import agree_to_rejection, decline_rejection, reject, set_review_policy
from humanexp.ledger.settlement import clear, exclude_but_pay, override_rejection, plan_bonus, settle, try_again
from humanexp.participation.endings import undo_withdrawal
from humanexp.recruiters.models import Assignment, Campaign, Hit
from humanexp.recruiting.batches import continue_batches
from humanexp.recruiting.extension import extend, prolong, stop, stop_campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.people import notify
from humanexp.recruiting.ways_back import make_personal_link, release
from humanexp.results.report import request_report
from humanexp.results.services import freeze_analysis_plan, request_analysis
from humanexp.screening.services import decide, judge_soon, return_to_rules
from humanexp.studies import services
from humanexp.studies.models import Role, Study
from humanexp.studies.permissions import change_role, invite, remove
from humanexp.studies.power import PowerQuestion, request_power
from humanexp.studies.selectors import configuration_of
from tests.factories import new_session
from tests.recruitment.studies import make_study

pytestmark = pytest.mark.django_db
#: Who may, and how it is asked for; written out by hand.
LAUNCH, STOP, PAY = ("owner", "researcher"), ("owner", "researcher", "reviewer", "payer"), ("owner", "payer")
REVIEW, REJECT, OWNER = ("owner", "researcher", "reviewer"), ("owner", "reviewer"), ("owner",)
Service = Callable[[Any, User], object]
SERVICES: dict[str, tuple[tuple[str, ...], Service]] = {
    "publish": (
        LAUNCH,
        lambda on, by: publish(study=on.study, terms=LaunchTerms(to="link"), by=by),
    ),
    "extend": (LAUNCH, lambda on, by: extend(campaign=on.campaign, places=1, by=by)),
    "prolong": (LAUNCH, lambda on, by: prolong(campaign=on.campaign, days=1, by=by)),
    "study cap": (LAUNCH, lambda on, by: set_study_cap(study=on.study, cap_cents=None, by=by)),
    "campaign cap": (LAUNCH, lambda on, by: raise_cap(campaign=on.campaign, cap_cents=10**6, by=by)),
    "notify": (
        LAUNCH,
        lambda on, by: notify(assignments=[on.assignment], subject="Hello", text="A word.", by=by),
    ),
    "stop": (STOP, lambda on, by: stop(study=on.study, by=by)),
    "stop campaign": (STOP, lambda on, by: stop_campaign(campaign=on.campaign, by=by)),
    "publish again": (PAY, lambda on, by: retry_hit(hit=on.hit, by=by)),
    "settle": (PAY, lambda on, by: settle(study=on.study, by=by)),
    "clear": (PAY, lambda on, by: clear(assignment=on.assignment, by=by)),
    "override": (PAY, lambda on, by: override_rejection(assignment=on.assignment, by=by)),
    "bonus": (
        PAY,
        lambda on, by: plan_bonus(assignment=on.assignment, amount_cents=1, cause="care", reason="Thank you.", by=by),
    ),
    "pay again": (PAY, lambda on, by: try_again(payment=on.payment, by=by)),
    "compensate": (PAY, lambda on, by: compensate(assignment=on.assignment, by=by)),
    "paid by hand": (PAY, lambda on, by: note_paid_by_hand(assignment=on.assignment, by=by)),
    "top up": (PAY, lambda on, by: top_up(study=on.study, floor_cents=1, by=by)),
    "top up all": (
        PAY,
        lambda on, by: top_up_equally(campaign=on.campaign, shown_total_cents=0, by=by),
    ),
    "continue batches": (LAUNCH, lambda on, by: continue_batches(campaign=on.campaign, by=by)),
    "exclude but pay": (
        OWNER,
        lambda on, by: exclude_but_pay(session=on.session, written_reason="They fell asleep.", by=by),
    ),
    "reject": (REJECT, lambda on, by: reject(assignment=on.assignment, reason="Not done.", by=by)),
    "agree": (PAY, lambda on, by: agree_to_rejection(proposal=on.proposal, by=by)),
    "decline": (PAY, lambda on, by: decline_rejection(proposal=on.proposal, by=by)),
    "review policy": (
        OWNER,
        lambda on, by: set_review_policy(study=on.study, rejections_need_two=True, by=by),
    ),
    "release": (REVIEW, lambda on, by: release(assignment=on.assignment, by=by)),
    "personal link": (REVIEW, lambda on, by: make_personal_link(assignment=on.assignment, by=by)),
    "undo a withdrawal": (
        REVIEW,
        lambda on, by: undo_withdrawal(session=on.session, by=by, reason="It was not them."),
    ),
    "judge": (REVIEW, lambda on, by: judge_soon(study=on.study, by=by)),
    "decide": (
        REVIEW,
        lambda on, by: decide(session=on.session, accepted=False, written_reason="They fell asleep.", by=by),
    ),
    "return to rules": (REVIEW, lambda on, by: return_to_rules(session=on.session, by=by)),
    "revise": (LAUNCH, lambda on, by: services.revise_study(study=on.study, configuration=on.configuration, by=by)),
    "power": (
        LAUNCH,
        lambda on, by: request_power(study=on.study, question=PowerQuestion(people=4), by=by),
    ),
    "analyse": (LAUNCH, lambda on, by: request_analysis(study=on.study, by=by)),
    "freeze": (LAUNCH, lambda on, by: freeze_analysis_plan(study=on.study, by=by)),
    "report": (LAUNCH, lambda on, by: request_report(run=on, by=by)),
    "invite": (OWNER, lambda on, by: invite(study=on.study, username="stranger", role="owner", by=by)),
    "change a role": (OWNER, lambda on, by: change_role(member=on.member, role="owner", by=by)),
    "remove": (OWNER, lambda on, by: remove(member=on.member, by=by)),
}


@pytest.fixture
def people() -> dict[str, User]:
    return {name: User.objects.create_user(name) for name in (*Role.values, "stranger")}


@pytest.fixture
def attacked(people: dict[str, User]) -> SimpleNamespace:
    """A study with a row of each kind that a service is about."""
    study: Study = make_study()
    member = [study.memberships.create(user=people[role], role=role) for role in Role.values][-1]
    session = new_session(services.start_collecting(study=study))
    campaign = Campaign.objects.create(
        study=study, environment="marketplace", entry="entry", title="t", reward_cents=100, assignments=2,
        assignments_per_hit=2, estimated_minutes=1, assignment_duration_s=60, lifetime_s=60, auto_approval_s=60,
        quoted_cents=200, cap_cents=200, launched_at=timezone.now(),
    )  # fmt: skip
    hit = Hit.objects.create(campaign=campaign, number=1, environment="marketplace", max_assignments=2)
    Call.objects.create(
        kind="create", hit=hit, campaign=campaign, environment="marketplace", token="t", state="refused"
    )  # noqa: S106
    row = Assignment.objects.create(
        environment="marketplace", assignment_id="A", campaign=campaign, hit=hit, state="submitted", session=session
    )
    payment = Payment.objects.create(
        environment="marketplace", kind="bonus", assignment=row, campaign=campaign, cause="c", amount_cents=1,
        fee_cents=0, state="refused", token="p",
    )  # fmt: skip
    proposal = RejectionProposal.objects.create(assignment=row, reason="Not done.")
    return SimpleNamespace(
        study=study, member=member, session=session, campaign=campaign, hit=hit, assignment=row, payment=payment,
        proposal=proposal, configuration=configuration_of(study), pk=1,
    )  # fmt: skip


@pytest.mark.parametrize("service", SERVICES)
def test_who_may_not_is_refused_by_the_service(
    service: str, attacked: SimpleNamespace, people: dict[str, User]
) -> None:
    allowed, call = SERVICES[service]
    for name in (*(role for role in Role.values if role not in allowed), "stranger"):
        with pytest.raises(NotAllowed):
            call(attacked, people[name])
    assert not AuditEvent.objects.filter(by__in=[people[name] for name in people if name not in allowed]).exists()


@pytest.mark.parametrize(("service", "role"), [(name, role) for name, (may, _) in SERVICES.items() for role in may])
def test_who_may_is_refused_for_other_reasons_at_most(
    service: str, role: str, attacked: SimpleNamespace, people: dict[str, User]
) -> None:
    _allowed, call = SERVICES[service]
    try:
        call(attacked, people[role])
    except ApplicationError as error:
        assert not isinstance(error, NotAllowed), error
