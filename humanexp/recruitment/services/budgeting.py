"""Caps, and the one gate through which money is promised."""

from __future__ import annotations

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import CapExceeded, Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.recruitment import money, recruiters, selectors
from humanexp.recruitment.models import Campaign, RecruiterAccount, StudyBudget
from humanexp.recruitment.services.launchers import check_may_launch_on, check_treasurer
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action


def reserve(*, study: Study, environment: str, cents: int, what: str) -> None:
    """Refuse what would go beyond the study's or the month's cap.

    Part of the transaction that plans it: the locks make two who promise at once queue up, and the second sees what the
    first has promised.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("Money is promised in the transaction that plans it.")
    if cents <= 0:
        return
    currency = recruiters.currency_of(environment)
    StudyBudget.objects.get_or_create(study=study, currency=currency)
    RecruiterAccount.objects.get_or_create(environment=environment)
    StudyBudget.objects.select_for_update().get(study=study, currency=currency)
    RecruiterAccount.objects.select_for_update().get(environment=environment)
    of_study = selectors.budget_of(study, currency)
    if of_study.cap_cents is None:
        _check_other_caps(study, currency)
    for name, budget in (("study", of_study), ("month", selectors.month_budget(environment))):
        left = budget.left_cents
        if left is not None and cents > left:
            whose = "raise that cap first" if name == "study" else "a treasurer or an administrator can raise that cap"
            raise CapExceeded(
                f"{what} costs {money.shown(cents, currency)} with fees, and {money.shown(left, currency)} of the "
                f"{name}'s cap of {money.shown(budget.cap_cents or 0, currency)} are left; {whose}."
            )


def _check_other_caps(study: Study, currency: str) -> None:
    """Somebody who has set a cap in one currency did not mean to spend without one in another."""
    capped = StudyBudget.objects.filter(study=study, cap_cents__isnull=False).exclude(currency=currency)
    others = money.ordered(capped.values_list("currency", flat=True))
    if others:
        raise CapExceeded(
            f"This study has a cap in {' and '.join(others)} and none in {currency}; sums are never converted. Set a "
            f"cap in {currency} first."
        )


@transaction.atomic
def set_study_cap(*, study: Study, cap_cents: int | None, currency: str = money.USUAL, by: User | None) -> StudyBudget:
    """What all campaigns of the study in this currency may come to; None takes the cap away.

    Nothing that was promised is taken back.
    """
    permissions.check(by, Action.LAUNCH, study)
    _check(cap_cents)
    if currency not in money.SIGNS:
        raise InvalidRequest("A cap is in one of " + ", ".join(money.SIGNS) + ".", fields={"currency": "not known"})
    budget, _ = StudyBudget.objects.update_or_create(study=study, currency=currency, defaults={"cap_cents": cap_cents})
    record(
        action="study-cap",
        subject=f"study:{study.pk}",
        study=study.slug,
        by=by,
        cap_cents=cap_cents,
        currency=currency,
    )
    return budget


@transaction.atomic
def set_month_cap(*, environment: str, cap_cents: int | None, by: User | None) -> RecruiterAccount:
    """What may be promised through this recruiter in a calendar month, over all studies; None takes the cap away."""
    check_treasurer(by)
    _check(cap_cents)
    if not recruiters.is_known(environment) or not recruiters.capabilities_of(environment).pays:
        raise InvalidRequest(f"No money goes through {environment!r}.")
    account, _ = RecruiterAccount.objects.update_or_create(
        environment=environment, defaults={"month_cap_cents": cap_cents}
    )
    record(
        action="month-cap",
        subject=f"recruiter:{environment}",
        by=by,
        cap_cents=cap_cents,
        currency=recruiters.currency_of(environment),
    )
    return account


@transaction.atomic
def raise_cap(*, campaign: Campaign, cap_cents: int, by: User | None) -> Campaign:
    """What one campaign may come to, bonuses and extensions included; never less than what it has promised."""
    permissions.check(by, Action.LAUNCH, campaign.study)
    check_may_launch_on(by, campaign.environment)
    _check(cap_cents)
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    least = max(campaign.quoted_cents, selectors.committed_cents(campaign))
    if cap_cents < least:
        promised = money.shown(least, campaign.currency)
        raise Conflict(f"This campaign has promised {promised} already; its cap cannot be lower.")
    campaign.cap_cents = cap_cents
    campaign.save(update_fields=["cap_cents"])
    record(
        action="campaign-cap",
        subject=f"campaign:{campaign.pk}",
        study=campaign.study.slug,
        by=by,
        cap_cents=cap_cents,
        currency=campaign.currency,
    )
    return campaign


def _check(cap_cents: int | None) -> None:
    if cap_cents is not None and not 0 <= cap_cents <= 2_000_000_000:
        raise InvalidRequest("A cap is an amount from 0 to 20,000,000.", fields={"cap_cents": "out of range"})
