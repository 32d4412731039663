"""Who may spend, promise and refuse money: asked in the services, whichever page, call or script comes to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from humanexp.core.errors import ApplicationError, NotAllowed
from humanexp.core.models import User
from humanexp.ledger.bonuses import compensate, note_paid_by_hand
from humanexp.ledger.budgets import raise_cap, set_study_cap
from humanexp.ledger.decisions import resolve_difference, top_up, top_up_equally
from humanexp.ledger.models import CallKind, Difference, Payment, RejectionProposal
from humanexp.ledger.outbox import retry_hit
from humanexp.ledger.rejections import agree_to_rejection, decline_rejection, reject, set_review_policy
from humanexp.ledger.settlement import clear, exclude_but_pay, override_rejection, plan_bonus, settle, try_again
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.batches import continue_batches
from humanexp.recruiting.extension import extend, prolong, reopen_campaign, stop
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.people import notify
from humanexp.recruiting.ways_back import release
from humanexp.studies.models import Study

LAUNCH, PAY, REVIEW = "owner researcher", "owner payer", "owner researcher reviewer"
#: Written out by hand: the roles that get past the question, by what they ask for.
WANTED = {
    "publish": LAUNCH,
    "extend": LAUNCH,
    "continue_batches": LAUNCH,
    "prolong": LAUNCH,
    "reopen_campaign": LAUNCH,
    "raise_cap": LAUNCH,
    "set_study_cap": LAUNCH,
    "notify": LAUNCH,
    "stop": "owner researcher reviewer payer",
    "retry_hit": PAY,
    "settle": PAY,
    "clear": PAY,
    "override_rejection": PAY,
    "plan_bonus": PAY,
    "try_again": PAY,
    "compensate": PAY,
    "note_paid_by_hand": PAY,
    "top_up": PAY,
    "top_up_campaign": PAY,
    "resolve_difference": PAY,
    "reject": "owner reviewer",
    "agree_to_rejection": PAY,
    "decline_rejection": PAY,
    "set_review_policy": "owner",
    "exclude_but_pay": "owner",
    "release": REVIEW,
}
Ask = Callable[[Any], object]


class _Undone(Exception):
    pass


@pytest.fixture
def people(study: Study, researcher: User) -> Mapping[str, User]:
    found = {"owner": researcher, "stranger": User.objects.create_user("stranger")}
    for role in ("researcher", "reviewer", "payer", "viewer"):
        found[role] = User.objects.create_user(f"a-{role}")
        study.memberships.create(user=found[role], role=role)
    return found


@pytest.fixture
def asked(study: Study, launched: Campaign, finished: Callable[..., Assignment], researcher: User) -> dict[str, Ask]:
    """Each service, by who asks."""
    row, other = finished("AONE"), finished("ATWO")
    hit = launched.hits.get()
    proposer = User.objects.create_user("proposer")
    proposal = RejectionProposal.objects.create(assignment=other, reason="r" * 30, evidence="e" * 30, by=proposer)
    payment = Payment.objects.create(
        environment="marketplace", assignment=row, campaign=launched, kind=CallKind.BONUS, cause="thanks",
        amount_cents=10, fee_cents=2, state="refused", token="bonus-1",
    )  # fmt: skip
    now = timezone.now()
    difference = Difference.objects.create(
        environment="marketplace", key="bonus:A1:1", hit=hit, assignment=row, kind="not-here", paid_as="bonus",
        listed_as="A1", theirs_cents=77, their_reason="by hand", first_seen_at=now, last_seen_at=now,
    )  # fmt: skip
    return {
        "publish": lambda by: publish(study=study, terms=LaunchTerms(to="link", assignments=1), by=by),
        "extend": lambda by: extend(campaign=launched, places=1, by=by),
        "continue_batches": lambda by: continue_batches(campaign=launched, by=by),
        "prolong": lambda by: prolong(campaign=launched, days=9, by=by),
        "reopen_campaign": lambda by: reopen_campaign(campaign=launched, by=by),
        "raise_cap": lambda by: raise_cap(campaign=launched, cap_cents=5_000, by=by),
        "set_study_cap": lambda by: set_study_cap(study=study, cap_cents=9_000, by=by),
        "notify": lambda by: notify(assignments=[row], subject="Thanks", text="Thank you.", by=by),
        "stop": lambda by: stop(study=study, by=by),
        "retry_hit": lambda by: retry_hit(hit=hit, by=by),
        "settle": lambda by: settle(study=study, by=by),
        "clear": lambda by: clear(assignment=row, by=by),
        "override_rejection": lambda by: override_rejection(assignment=row, by=by),
        "plan_bonus": lambda by: plan_bonus(assignment=row, amount_cents=5, cause="more", reason="Thanks.", by=by),
        "try_again": lambda by: try_again(payment=payment, by=by),
        "compensate": lambda by: compensate(assignment=row, by=by),
        "note_paid_by_hand": lambda by: note_paid_by_hand(assignment=row, by=by),
        "top_up": lambda by: top_up(study=study, floor_cents=100_000, by=by),
        "top_up_campaign": lambda by: top_up_equally(campaign=launched, shown_total_cents=0, by=by),
        "resolve_difference": lambda by: resolve_difference(
            difference=difference, resolution="explained", note="By hand.", by=by, shown=(None, 77)
        ),
        "reject": lambda by: reject(assignment=row, reason="r" * 30, evidence="e" * 30, by=by),
        "agree_to_rejection": lambda by: agree_to_rejection(proposal=proposal, by=by),
        "decline_rejection": lambda by: decline_rejection(proposal=proposal, by=by),
        "set_review_policy": lambda by: set_review_policy(study=study, rejections_need_two=True, by=by),
        "exclude_but_pay": lambda by: exclude_but_pay(session=row.session, written_reason="Asleep, they wrote.", by=by),
        "release": lambda by: release(assignment=row, by=by),
    }


def is_let_through(ask: Ask, by: User | None) -> bool:
    """Whatever it does is undone; another refusal than that of the role has come past it."""
    try:
        with transaction.atomic():
            ask(by)
            raise _Undone
    except NotAllowed as refusal:
        assert "Your role in this study does not allow this" in refusal.message
        return False
    except (_Undone, ApplicationError):
        return True


@pytest.mark.parametrize("name", WANTED)
def test_a_service_asks_for_the_role_itself(name: str, asked: dict[str, Ask], people: Mapping[str, User]) -> None:
    let_through = {role for role, user in people.items() if is_let_through(asked[name], user)}
    assert let_through == set(WANTED[name].split())
    head = User.objects.create_user("head", is_staff=True)
    assert is_let_through(asked[name], head)


@pytest.mark.parametrize("name", ["publish", "extend", "prolong", "stop", "settle", "plan_bonus", "top_up"])
def test_commands_and_jobs_have_no_account_and_may(name: str, asked: dict[str, Ask]) -> None:
    assert is_let_through(asked[name], None)


def test_who_proposed_a_rejection_takes_it_back_without_paying(
    study: Study, people: Mapping[str, User], finished: Callable[..., Assignment]
) -> None:
    set_review_policy(study=study, rejections_need_two=True, by=people["owner"])
    made = reject(assignment=finished("AONE"), reason="r" * 30, evidence="e" * 30, by=people["reviewer"])
    assert isinstance(made, RejectionProposal)
    assert decline_rejection(proposal=made, by=people["reviewer"]).state == "declined"
