"""Accounts with recruiters: opened, tried, checked by one honest, paid study, and told of to whoever monitors.

The first account of every kind is there from the beginning. Everybody who takes part in a check is paid in full, and
one of them a small bonus. Nobody is rejected for it: whether a rejected place is offered again by itself is read from
rejections that a person has made anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Min, Sum

from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest, KeysRefused, NotAllowed, RecruiterError
from humanexp.core.metrics import Figure
from humanexp.core.models import AuditEvent, User, record
from humanexp.core.ownership import is_head
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.ledger.budgets import check_confirmed
from humanexp.ledger.delivery import pause
from humanexp.ledger.models import Payment
from humanexp.ledger.outbox import request_sending
from humanexp.ledger.payments import taken_places
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import plan_bonus, settle
from humanexp.ledger.terms import suggested_terms
from humanexp.recruiters import keys, money, registry
from humanexp.recruiters.keys import fault_of_code
from humanexp.recruiters.models import Assignment, Campaign, Pause, RecruiterAccount
from humanexp.recruiters.money import Quote
from humanexp.recruiters.registry import fees_of, recruiter_for
from humanexp.recruiters.states import LISTED, AssignmentState, CampaignState, HitState, WriteState
from humanexp.recruiters.tickets import Outcome
from humanexp.recruiting.approvals import CURRENCIES, take_over_currency
from humanexp.recruiting.extension import stop_campaign
from humanexp.recruiting.launch import LaunchTerms, publish, quote
from humanexp.recruiting.polling import refresh_balance, sync
from humanexp.studies.models import Study

TRY_JOB = "recruitment.try-account"


def check_administrator(by: User | None) -> None:
    """The command line and jobs have no account, and may."""
    if by is not None and not is_head(by):
        raise NotAllowed("Only an administrator changes accounts with recruiters: their money is for every study.")


def open_first_accounts(*, using: str) -> None:
    """Done whenever tables were made or emptied. Accounts that are there stay as they are."""
    accounts = RecruiterAccount.objects.using(using)
    there = set(accounts.values_list("environment", flat=True))
    missing = [kind.code for kind in registry.kinds() if kind.is_at_hand and kind.code not in there]
    accounts.bulk_create(RecruiterAccount(environment=code, kind=code) for code in missing)


@transaction.atomic
def open_account(
    *, kind: str, code: str, name: str, currency: str = "", workspace: str = "", by: User | None
) -> RecruiterAccount:
    """A further account of a kind, with books, caps and pauses of its own. Its keys are in no database.

    Nothing can be spent through it before `set_month_cap` and `set_launchers`.
    """
    check_administrator(by)
    known = {one.code: one for one in registry.kinds()}
    if kind not in known:
        raise InvalidRequest(f"{kind!r} is no kind of recruiter: choose one of {', '.join(known)}.")
    currency = currency or known[kind].capabilities.currency
    faults = {
        "code": fault_of_code(code),
        "name": "" if 0 < len(name.strip()) <= 80 else "1 to 80 characters",
        "currency": "" if currency in CURRENCIES else f"one of {', '.join(CURRENCIES)}: sums are never converted",
    }
    if faults := {field: fault for field, fault in faults.items() if fault}:
        raise InvalidRequest("An account needs a code, a name and a currency.", fields=faults)
    if registry.is_known(code) or RecruiterAccount.objects.filter(environment=code).exists():
        raise Conflict(f"There is an account {code!r} already.")
    account = RecruiterAccount.objects.create(
        environment=code, kind=kind, name=name.strip(), currency=currency, workspace=workspace
    )
    record(action="add-account", subject=f"recruiter:{code}", by=by, kind=kind, currency=currency)
    return account


@transaction.atomic
def rename_account(*, code: str, name: str, by: User | None) -> None:
    """What pages call it; its code stays. The first account of a kind is called as its kind is."""
    check_administrator(by)
    account = registry.account_of(code)
    if account.is_first or not 0 < len(name.strip()) <= 80:
        raise InvalidRequest("Only a further account has a name of its own, of 1 to 80 characters.")
    RecruiterAccount.objects.filter(environment=code).update(name=name.strip())
    registry.forget(code)
    record(action="rename-account", subject=f"recruiter:{code}", by=by)


def request_try(*, code: str, by: User | None) -> Job:
    """Have the job runner try the account out: a page does not wait for another site."""
    check_administrator(by)
    registry.account_of(code)
    subject = f"recruiter:{code}"
    record(action="try-account", subject=subject, by=by)
    return jobs.submit(TRY_JOB, subject=subject, by=by, code=code)


def try_account(*, code: str) -> str:
    """One cheap read with its keys. What came of it is kept for the pages, and returned: a sentence, or nothing."""
    fault = ""
    try:
        take_over_currency(code=code)
        refresh_balance(environment=code)
    except RecruiterError as error:
        fault = error.message
        if isinstance(error, KeysRefused):
            pause(code, Pause.KEYS, fault)
    RecruiterAccount.objects.update_or_create(
        environment=code, defaults={"tried_at": clock.now(), "fault": fault[:500]}
    )
    return fault


@transaction.atomic
def pause_account(*, code: str, by: User | None) -> None:
    """Until it is resumed, no place is opened and nobody is paid through it. Offers can be closed all the same."""
    check_administrator(by)
    registry.account_of(code)
    pause(code, Pause.HAND, "")
    record(action="pause-account", subject=f"recruiter:{code}", by=by)


@transaction.atomic
def resume_account(*, code: str, by: User | None) -> None:
    """What has waited is sent at once."""
    check_administrator(by)
    RecruiterAccount.objects.filter(environment=code, pause=Pause.HAND).update(pause=Pause.NO, pause_detail="")
    record(action="resume-account", subject=f"recruiter:{code}", by=by)
    request_sending(environment=code)


@transaction.atomic
def store_keys(*, code: str, given: Mapping[str, str], by: User | None) -> None:
    """Into files beside the other keys; the record says that it was done, and nothing of them."""
    check_administrator(by)
    account = registry.account_of(code)
    names = account.kind.key_names(account)
    named = {name: given.get(name, "").strip() for name in names if not keys.is_configured(name)}
    if not named:
        raise InvalidRequest(f"{account.name} takes no keys here: its keys are set in the environment, or it has none.")
    keys.store(named)
    record(action="store-keys", subject=f"recruiter:{code}", by=by, names=", ".join(named))


#: Two people, and a place that is still open when the study is stopped.
MOST_PLACES, LEAST_PLACES = 3, 2
#: People are told so much at most.
MOST_MINUTES = 5
#: In the smallest unit of the account's currency.
BONUS_CENTS = 10
CAUSE = "recruiter-check"
ACTION = "check-recruiter"
REASON = "Thank you for helping us to set up our account."


@dataclass(frozen=True, kw_only=True)
class CheckPrice:
    """What a check costs at most."""

    quoted: Quote
    bonus_cents: int

    @property
    def total_cents(self) -> int:
        return self.quoted.total_cents + self.bonus_cents


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """How far it is, and what was seen. None: not seen yet."""

    submitted: int
    approved: int
    is_over: bool
    #: seconds until the bonus stood in the recruiter's list
    bonus_seen_after_s: float | None
    #: in which state the study was after STOP, in the recruiter's word; empty: not stopped while a place was open
    stop_ends_in: str
    #: whether a rejection under review opened the study again by itself
    rejection_reopens: bool | None
    #: what else the recruiter's documents leave open, by name (`Kind.findings`)
    findings: dict[str, Any]


def price_of_check(*, study: Study, to: str, spend_cents: int) -> CheckPrice:
    """As many places as the sum pays, with one small bonus. Refused where they are no check."""
    if registry.capabilities_of(to).repeats.bonus != "never":
        raise InvalidRequest(f"{registry.name_of(to)} leaves nothing open that such a check could show.")
    suggested = suggested_terms(study)
    if suggested.estimated_minutes > MOST_MINUTES:
        raise InvalidRequest(
            f"People would need {suggested.estimated_minutes} minutes for {study.slug}. Make a study of a few "
            "trials for this: people then need at most 5 minutes."
        )
    bonus = BONUS_CENTS + fees_of(to).bonus_fee_cents(BONUS_CENTS)
    for places in range(min(MOST_PLACES, suggested.free_sessions), LEAST_PLACES - 1, -1):
        price = CheckPrice(
            quoted=quote(to=to, assignments=places, reward_cents=suggested.reward_cents), bonus_cents=bonus
        )
        if price.total_cents <= spend_cents:
            return price
    raise InvalidRequest(
        f"{money.shown(spend_cents, registry.currency_of(to))} do not pay {LEAST_PLACES} people of this study and a "
        "bonus, or its plan has too few free sessions."
    )


def begin_check(*, study: Study, to: str, spend_cents: int, confirm_total_cents: int, by: User | None) -> Campaign:
    """Launch it, once its exact total was typed; there is one check of an account with a study."""
    if study.campaigns.filter(environment=to).exists():
        raise Conflict(f"{study.slug} was launched on {registry.name_of(to)} already.")
    price = price_of_check(study=study, to=to, spend_cents=spend_cents)
    check_confirmed(to, price.total_cents, confirm_total_cents)
    terms = LaunchTerms(
        to=to,
        assignments=price.quoted.assignments,
        reward_cents=price.quoted.reward_cents,
        cap_cents=price.total_cents,
    )
    campaign = publish(study=study, terms=terms, confirm_total_cents=price.quoted.total_cents, by=by)
    send(environment=to)
    return campaign


def continue_check(*, campaign: Campaign, by: User | None) -> CheckReport:
    """Look, pay whoever has submitted, and stop once a bonus was seen to arrive. May be repeated at any time."""
    environment = campaign.environment
    sync(study=campaign.study)
    settle(study=campaign.study, by=by)
    send(environment=environment)
    sync(study=campaign.study)
    paid = campaign.assignments_taken.filter(state=AssignmentState.APPROVED).order_by("pk").first()
    if paid is not None and not Payment.objects.filter(campaign=campaign, cause=CAUSE).exists():
        plan_bonus(assignment=paid, amount_cents=BONUS_CENTS, cause=CAUSE, reason=REASON, by=by)
    send(environment=environment)
    bonus = Payment.objects.filter(campaign=campaign, cause=CAUSE, state=WriteState.CONFIRMED).first()
    if bonus is not None and _recorded(campaign) is None:
        stop_campaign(campaign=campaign, by=by)
        send(environment=environment)
        campaign.refresh_from_db()
        if campaign.state == CampaignState.STOPPED:
            had_free = taken_places(campaign).count() < campaign.assignments
            word = recruiter_for(environment).offer(campaign.hits.get().hit_id).word if had_free else ""
            _record(campaign, bonus, word, by)
    return report_of(campaign)


def stop_check(*, campaign: Campaign, by: User | None) -> CheckReport:
    """Before its end, once nobody else is to come; whoever is at work is paid by a later look."""
    if campaign.state == CampaignState.LIVE:
        stop_campaign(campaign=campaign, by=by)
    return continue_check(campaign=campaign, by=by)


def _recorded(campaign: Campaign) -> dict[str, Any] | None:
    """What was seen when it was over."""
    found = AuditEvent.objects.filter(action=ACTION, subject=f"campaign:{campaign.pk}").first()
    return None if found is None else dict(found.facts)


@transaction.atomic
def _record(campaign: Campaign, bonus: Payment, word: str, by: User | None) -> None:
    record(
        action=ACTION,
        subject=f"campaign:{campaign.pk}",
        study=campaign.study.slug,
        by=by,
        bonus_seen_after_s=_seconds(bonus),
        stop_ends_in=word,
        rejection_reopens=rejection_reopens(campaign.environment),
    )


def report_of(campaign: Campaign) -> CheckReport:
    campaign.refresh_from_db()
    bonus = Payment.objects.filter(campaign=campaign, cause=CAUSE, state=WriteState.CONFIRMED).first()
    people = campaign.assignments_taken
    found = _recorded(campaign)
    return CheckReport(
        submitted=people.filter(state__in=LISTED).count(),
        approved=people.filter(state=AssignmentState.APPROVED).count(),
        is_over=found is not None,
        bonus_seen_after_s=None if bonus is None else _seconds(bonus),
        stop_ends_in=str((found or {}).get("stop_ends_in", "")),
        rejection_reopens=rejection_reopens(campaign.environment),
        findings=_findings(campaign),
    )


def _findings(campaign: Campaign) -> dict[str, Any]:
    offer_id = campaign.hits.get().hit_id
    if not offer_id:
        return {}
    account = registry.account_of(campaign.environment)
    code = "" if campaign.site is None else campaign.site.codes[Outcome.NO_CONSENT].code
    return account.kind.findings(account, offer_id=offer_id, no_consent=code)


def _seconds(bonus: Payment) -> float:
    began = bonus.first_sent_at or bonus.created_at
    return round(((bonus.confirmed_at or began) - began).total_seconds(), 1)


def rejection_reopens(environment: str) -> bool | None:
    """Whether a study under review, of whose places one was rejected, was open again before it was told to START.

    None while no rejection of a study whose places were all taken has shown it.
    """
    rejected = Assignment.objects.filter(
        environment=environment, state=AssignmentState.REJECTED, hit__isnull=False, decided_at__isnull=False
    )
    for one in rejected.select_related("hit", "campaign").order_by("-pk"):
        hit, decided_at, seen_at = one.hit, one.decided_at, one.campaign.synced_at
        if hit is None or decided_at is None or seen_at is None or seen_at <= decided_at:
            continue
        taken = hit.assignments_taken.filter(state__in=LISTED, submitted_at__lte=decided_at)
        if taken.count() < hit.max_assignments:
            continue  # it was open all along
        if AuditEvent.objects.filter(action="reopen-offer", subject=f"hit:{hit.pk}").exists():
            return False
        if hit.state == HitState.OPEN:
            return True
    return None


def figures() -> Iterator[Figure]:
    yield from _polls()
    yield from _payments()
    for code, state in RecruiterAccount.objects.values_list("environment", "pause"):
        yield Figure(
            name="humanexp_account_paused",
            about="1 while nothing is sent through the account.",
            value=1 if state else 0,
            labels={"account": code},
        )


def _polls() -> Iterator[Figure]:
    now = clock.now()
    polled = Campaign.objects.filter(registry.at(vouches=True)).exclude(state=CampaignState.STOPPED)
    rows = polled.values("environment").order_by("environment")
    for row in rows.annotate(synced=Min("synced_at"), launched=Min("launched_at")):
        yield Figure(
            name="humanexp_last_poll_age_seconds",
            about="Age of the oldest look at a campaign that recruits.",
            value=(now - (row["synced"] or row["launched"])).total_seconds(),
            labels={"account": row["environment"]},
        )


def _payments() -> Iterator[Figure]:
    open_ones = Payment.objects.exclude(state=WriteState.CONFIRMED).values("environment", "state")
    for row in open_ones.order_by("environment", "state").annotate(cents=Sum("amount_cents"), count=Count("pk")):
        labels = {"account": row["environment"], "state": row["state"]}
        about = "Payments that have not been confirmed."
        yield Figure(name="humanexp_open_payments", about=about, value=row["count"], labels=labels)
        about = "Their money, in the smallest unit of the account's currency."
        yield Figure(name="humanexp_open_payments_cents", about=about, value=row["cents"] or 0, labels=labels)
