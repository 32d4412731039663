"""Caps: what has been promised, what may still be owed, what is left, and who may spend.

Here is the one gate through which money is promised. Fees are always in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import F, QuerySet, Sum

from humanexp.core import clock
from humanexp.core.errors import CapExceeded, Conflict, CostNotConfirmed, InvalidRequest, NotAllowed
from humanexp.core.models import User, record
from humanexp.core.ownership import keeps_money
from humanexp.ledger.models import EXTRAS, PLACES, Call, Payment, StudyBudget
from humanexp.ledger.payments import PlaceCount, Tally, place_counts, tally_of
from humanexp.recruiters import money, registry
from humanexp.recruiters.models import Campaign, RecruiterAccount
from humanexp.recruiters.money import Charge
from humanexp.recruiters.registry import fees_of
from humanexp.recruiters.states import UNSETTLED, AssignmentState, CampaignState, WriteState
from humanexp.studies import permissions
from humanexp.studies.models import Action, Study


def account_of(environment: str) -> RecruiterAccount | None:
    """The account with a recruiter as it was last seen, if the balance was ever asked for."""
    return RecruiterAccount.objects.filter(environment=environment, balance_cents__isnull=False).first()


#: Places that somebody has, and will be or has been paid for; a rejection can be overridden.
TAKEN = (
    AssignmentState.OPENED,
    AssignmentState.SUBMITTED,
    AssignmentState.APPROVED,
    AssignmentState.REJECTED,
)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A cap, and what counts against it."""

    #: ISO code of both
    currency: str
    #: None: no cap
    cap_cents: int | None
    committed_cents: int

    @property
    def left_cents(self) -> int | None:
        return None if self.cap_cents is None else max(0, self.cap_cents - self.committed_cents)


def place_charge(campaign: Campaign, hit_size: int) -> Charge:
    """What the recruiter takes beside the reward of one place in a HIT of this size."""
    fees = fees_of(campaign.environment)
    return fees.on_reward(campaign.reward_cents, hit_size=hit_size, masters=campaign.asks_for.masters)


def place_cents(campaign: Campaign, hit_size: int) -> int:
    """Reward and fee of one place in a HIT of this size."""
    return campaign.reward_cents + place_charge(campaign, hit_size).cents


def committed_cents(campaign: Campaign) -> int:
    """What the campaign may come to: places that can still be taken or were, and bonuses that are not refused."""
    places = campaign.quoted_cents if campaign.state != CampaignState.STOPPED else _taken_cents([campaign], TAKEN)
    return places + _cost(_extras().filter(campaign=campaign))


def budget_of(study: Study, currency: str, tally: Tally | None = None) -> Budget:
    """In one currency: a study has a cap in each. With the tally of a page that has made it already, nothing is
    counted again."""
    tally = (tally or tally_of(study)).of(currency)
    stored = StudyBudget.objects.filter(study=study, currency=currency).first()
    extras = tally.extra_cents((*UNSETTLED, WriteState.CONFIRMED))
    return Budget(
        currency=currency,
        cap_cents=stored.cap_cents if stored else None,
        committed_cents=offered_cents(tally) + extras,
    )


def budgets_of(study: Study, tally: Tally, *also: str) -> list[Budget]:
    """In every currency that the study has paid campaigns or caps in, and in those given."""
    paying = {one.currency for one in tally.campaigns.values() if one.capabilities.vouches}
    capped = StudyBudget.objects.filter(study=study, cap_cents__isnull=False).values_list("currency", flat=True)
    return [budget_of(study, one, tally) for one in money.ordered({*paying, *capped, *also} or {money.USUAL})]


def offered_cents(tally: Tally) -> int:
    """Price of every place that can be taken or was: a stopped campaign's unused places have none."""
    stopped = {pk: found for pk, found in tally.campaigns.items() if found.state == CampaignState.STOPPED}
    offered = sum(found.quoted_cents for pk, found in tally.campaigns.items() if pk not in stopped)
    return offered + places_cents(stopped, tally.places, TAKEN)


@dataclass(frozen=True, kw_only=True)
class Launchers:
    """Who may launch through an account, besides treasurers and administrators."""

    #: everybody with an account of the installation
    is_open: bool
    usernames: tuple[str, ...]


def launchers_of(environment: str) -> Launchers:
    row = RecruiterAccount.objects.filter(environment=environment).first()
    if row is None:
        return Launchers(is_open=RecruiterAccount(environment=environment).is_open, usernames=())
    names = row.launchers.order_by("username").values_list("username", flat=True)
    return Launchers(is_open=row.is_open, usernames=tuple(names))


def month_budget(environment: str) -> Budget:
    """Of this calendar month (UTC): money counts in the month in which it was promised."""
    row = RecruiterAccount.objects.filter(environment=environment).first()
    month_start = clock.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return Budget(
        currency=registry.currency_of(environment),
        cap_cents=(row or RecruiterAccount(environment=environment)).month_cap_cents,
        committed_cents=_promised_since(environment, month_start),
    )


def _promised_since(environment: str, since: datetime) -> int:
    places = Call.objects.filter(environment=environment, kind__in=PLACES, created_at__gte=since)
    running = places.exclude(state=WriteState.REFUSED).exclude(campaign__state=CampaignState.STOPPED)
    stopped = Campaign.objects.filter(environment=environment, launched_at__gte=since, state=CampaignState.STOPPED)
    extras = _extras().filter(environment=environment, created_at__gte=since)
    return _cost(running) + _taken_cents(list(stopped), TAKEN) + _cost(extras)


def _taken_cents(campaigns: list[Campaign], states: Collection[str]) -> int:
    by_pk = {campaign.pk: campaign for campaign in campaigns}
    return places_cents(by_pk, place_counts(by_pk), states)


def places_cents(campaigns: Mapping[int, Campaign], places: Iterable[PlaceCount], states: Collection[str]) -> int:
    """Cost of the places in these states; where the HIT is not known yet, in the campaign's usual size.

    Of each campaign at most what all its places cost: what is begun under made-up ids takes none.
    """
    cents: Counter[int] = Counter()
    for row in places:
        campaign = campaigns.get(row.campaign)
        if campaign is not None and campaign.reward_cents and row.state in states:
            cents[row.campaign] += row.count * place_cents(campaign, row.hit_size or campaign.assignments_per_hit)
    return sum(min(cost, campaigns[pk].quoted_cents) for pk, cost in cents.items())


def _extras() -> QuerySet[Payment]:
    return Payment.objects.filter(kind__in=EXTRAS).exclude(state=WriteState.REFUSED)


def _cost(calls: QuerySet[Any]) -> int:
    return calls.aggregate(cents=Sum(F("amount_cents") + F("fee_cents")))["cents"] or 0


def check_treasurer(by: User | None) -> None:
    """The command line and jobs have no account, and may."""
    if by is not None and not keeps_money(by):
        raise NotAllowed("Only a treasurer or an administrator says who may spend through a recruiter, and how much.")


def may_launch_on(user: User | AnonymousUser, code: str) -> bool:
    """Through a recruiter that pays nobody anybody may launch, through others whom the account names.

    Nothing that somebody can make for themselves, such as a study, gives this right.
    """
    if keeps_money(user) or not registry.capabilities_of(code).vouches:
        return True
    who = launchers_of(code)
    return user.is_active and (who.is_open or user.get_username() in who.usernames)


def check_may_launch_on(by: User | None, code: str) -> None:
    """The command line and jobs have no account, and may."""
    if by is not None and not may_launch_on(by, code):
        raise NotAllowed(
            f"{registry.name_of(code)}: you are not among those who may launch through this account. Ask a treasurer "
            "or an administrator to name you there."
        )


@transaction.atomic
def set_launchers(*, code: str, usernames: Iterable[str], is_open: bool, by: User | None) -> RecruiterAccount:
    """Who may launch through this account: every account of the installation, or those who are named.

    Campaigns that run go on.
    """
    check_treasurer(by)
    if not registry.account_of(code).kind.capabilities.vouches:
        raise InvalidRequest(f"No money goes through {code!r}: everybody may launch there.")
    names = {name.strip() for name in usernames if name.strip()}
    found = list(User.objects.filter(username__in=names, is_active=True))
    if unknown := sorted(names - {user.username for user in found}):
        raise InvalidRequest(
            f"There is no open account {', '.join(map(repr, unknown))} here; nothing was changed.",
            fields={"launchers": f"not known: {', '.join(unknown)}"},
        )
    row, _made = RecruiterAccount.objects.update_or_create(environment=code, defaults={"is_open": is_open})
    row.launchers.set(found)
    record(
        action="set-launchers",
        subject=f"recruiter:{code}",
        by=by,
        is_open=is_open,
        accounts=sorted(user.pk for user in found),
    )
    return row


def check_confirmed(environment: str, total_cents: int, confirmed_cents: int | None) -> None:
    """Where money is real the total is typed; elsewhere it is compared when it was shown."""
    currency = registry.currency_of(environment)
    total = money.shown(total_cents, currency)
    if registry.capabilities_of(environment).asks_for_total and confirmed_cents is None:
        raise CostNotConfirmed(f"This spends real money: {total}. Confirm the total.")
    if confirmed_cents is not None and confirmed_cents != total_cents:
        stated = money.shown(confirmed_cents, currency)
        raise CostNotConfirmed(f"The cost is {total}, not {stated}; nothing was done.")


def reserve(*, study: Study, environment: str, cents: int, what: str) -> None:
    """Refuse what would go beyond the study's or the month's cap.

    Part of the transaction that plans it: the locks make two who promise at once queue up, and the second sees what the
    first has promised.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("Money is promised in the transaction that plans it.")
    if cents <= 0:
        return
    currency = registry.currency_of(environment)
    StudyBudget.objects.get_or_create(study=study, currency=currency)
    RecruiterAccount.objects.get_or_create(environment=environment)
    StudyBudget.objects.select_for_update().get(study=study, currency=currency)
    RecruiterAccount.objects.select_for_update().get(environment=environment)
    of_study = budget_of(study, currency)
    if of_study.cap_cents is None:
        _check_other_caps(study, currency)
    for name, budget in (("study", of_study), ("month", month_budget(environment))):
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
    if not registry.is_known(environment) or not registry.capabilities_of(environment).vouches:
        raise InvalidRequest(f"No money goes through {environment!r}.")
    account, _ = RecruiterAccount.objects.update_or_create(
        environment=environment, defaults={"month_cap_cents": cap_cents}
    )
    record(
        action="month-cap",
        subject=f"recruiter:{environment}",
        by=by,
        cap_cents=cap_cents,
        currency=registry.currency_of(environment),
    )
    return account


@transaction.atomic
def raise_cap(*, campaign: Campaign, cap_cents: int, by: User | None) -> Campaign:
    """What one campaign may come to, bonuses and extensions included; never less than what it has promised."""
    permissions.check(by, Action.LAUNCH, campaign.study)
    check_may_launch_on(by, campaign.environment)
    _check(cap_cents)
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    least = max(campaign.quoted_cents, committed_cents(campaign))
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
