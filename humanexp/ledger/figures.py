"""Places, people and money of a study, and what the ledger adds up to: the one source of these numbers.

Every line is made of rows of the ledger and belongs to one account, so that it has one currency. Nothing is estimated:
what may still become due is said by `figures.Money`, which looks at open places, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypedDict

from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncMonth

from humanexp.core import clock
from humanexp.ledger.budgets import TAKEN, offered_cents, places_cents
from humanexp.ledger.models import CallKind, Payment
from humanexp.ledger.payments import Paid, PeopleCount, Tally, places_left, tally_of
from humanexp.recruiters import money
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.registry import capabilities_of, currency_of
from humanexp.recruiters.states import LISTED, UNSETTLED, AssignmentState, CampaignState, WriteState
from humanexp.studies.models import Study

CONFIRMED = WriteState.CONFIRMED


@dataclass(frozen=True, kw_only=True)
class Places:
    """Of campaigns, compensations apart."""

    offered: int
    taken: int
    #: never taken, and nobody can take them: their campaign was stopped
    ended: int

    @property
    def open(self) -> int:
        return self.offered - self.taken - self.ended

    @property
    def planned(self) -> int:
        """What the campaigns may still come to."""
        return self.offered - self.ended


@dataclass(frozen=True, kw_only=True)
class Funnel:
    """People of the campaigns that money goes through, or of the others. Every step is a part of the one before."""

    pays: bool
    #: a session was opened
    began: int
    #: every trial answered
    finished: int
    #: finished here, and listed by the recruiter; a link has none of what follows
    submitted: int
    approved: int
    #: listed by the recruiter without a finished session of ours: in none of the steps
    unmatched: int
    under_way: int
    returned: int
    #: in the recruiter's time, whatever they had done by then
    timed_out: int
    rejected: int

    @property
    def done(self) -> int:
        """Through with it: submitted, or finished where nothing is submitted."""
        return self.submitted if self.pays else self.finished

    @property
    def steps(self) -> list[tuple[str, int, float, int]]:
        """How many came to each, their share of those who began, and how many fewer than came to the one before."""
        counts = [("Began", self.began), ("Finished here", self.finished)]
        if self.pays:
            counts += [("Submitted there", self.submitted), ("Approved", self.approved)]
        before = [self.began, *(count for _, count in counts)]
        return [
            (label, count, count / max(1, self.began), previous - count)
            for (label, count), previous in zip(counts, before, strict=False)
        ]


@dataclass(frozen=True, kw_only=True)
class Money:
    """In minor units of one currency. Fees, with the tax on them, are in every sum but `owed_cents` and `paid_cents`,
    which are what people get."""

    currency: str
    #: every place of every campaign, as shown before its launch; without bonuses
    quoted_cents: int
    #: what it comes to at most: of stopped campaigns what was taken, and every bonus that is not refused
    committed_cents: int

    #: approved where an approval makes a debt, which the lab pays out by itself
    owed_cents: int
    #: approved where an approval pays the person
    paid_cents: int
    #: of both, with the tax on them; and that tax
    fee_cents: int
    tax_cents: int
    #: bonuses and compensations among the three
    spent_extra_cents: int

    #: planned or on their way
    planned_cents: int
    sending_cents: int
    #: bonuses and compensations among the planned and those on their way
    promised_extra_cents: int

    #: places that nobody has taken of campaigns that run; people at work; submitted and not approved
    open_cents: int
    under_way_cents: int
    submitted_cents: int

    #: rows of the ledger
    confirmed: int
    waiting: int
    oldest_waiting: timedelta | None

    @property
    def spent_cents(self) -> int:
        """Paid or owed, and the fees on it."""
        return self.owed_cents + self.paid_cents + self.fee_cents

    @property
    def net_fee_cents(self) -> int:
        """Without the tax."""
        return self.fee_cents - self.tax_cents

    @property
    def on_the_way_cents(self) -> int:
        return self.planned_cents + self.sending_cents

    @property
    def due_cents(self) -> int:
        """All that may still become due."""
        return self.open_cents + self.under_way_cents + self.submitted_cents + self.promised_extra_cents

    @property
    def facts(self) -> list[tuple[str, int]]:
        """What the spent money is made of, without what is nothing; fees always."""
        sums = [
            ("Owed to people", self.owed_cents),
            ("Paid to people", self.paid_cents),
            ("Fees", self.net_fee_cents),
            ("Tax on the fees", self.tax_cents),
            ("Of it bonuses, with fees", self.spent_extra_cents),
        ]
        return [(label, cents) for label, cents in sums if cents or label == "Fees"]

    @property
    def spent_fraction(self) -> float:
        return min(1.0, self.spent_cents / self.committed_cents) if self.committed_cents else 0.0


@dataclass(frozen=True, kw_only=True)
class Figures:
    places: Places
    funnels: tuple[Funnel, ...]
    #: one for each currency; nothing is ever converted
    moneys: tuple[Money, ...]
    #: whether any of the study's campaigns pays people
    pays: bool
    synced_at: datetime | None

    def total(self, step: str) -> int:
        """Of both ways of recruiting together."""
        return sum(getattr(funnel, step) for funnel in self.funnels)

    @property
    def submits(self) -> bool:
        """Whether anybody comes through a recruiter, where work is submitted."""
        return any(funnel.pays for funnel in self.funnels)

    @property
    def done(self) -> int:
        return self.total("done")

    @property
    def approved(self) -> int:
        return self.total("approved")


def figures_of(study: Study, tally: Tally | None = None) -> Figures:
    """With the tally of a page that has made it already, nothing is counted again."""
    tally = tally or tally_of(study)
    campaigns = list(tally.campaigns.values())
    return Figures(
        places=_sum([places_of(campaign, tally) for campaign in campaigns]),
        funnels=_funnels(tally, campaigns),
        moneys=money_of(tally),
        pays=any(campaign.reward_cents for campaign in campaigns),
        synced_at=max((campaign.synced_at for campaign in campaigns if campaign.synced_at), default=None),
    )


def places_of(campaign: Campaign, tally: Tally | None = None) -> Places:
    left = places_left(campaign, tally)
    ended = 0 if campaign.state == CampaignState.LIVE else left
    return Places(offered=campaign.assignments, taken=campaign.assignments - left, ended=ended)


def money_of(tally: Tally) -> tuple[Money, ...]:
    """In each currency that the study pays in; of a study that pays nobody, one without sums."""
    return tuple(_money_in(currency, tally.of(currency)) for currency in tally.currencies)


def _money_in(currency: str, tally: Tally) -> Money:
    running = {pk: found for pk, found in tally.campaigns.items() if found.state != CampaignState.STOPPED}
    quoted_running = sum(campaign.quoted_cents for campaign in running.values())
    confirmed = [row for row in tally.payments if row.state == CONFIRMED]
    waiting = [row for row in tally.payments if row.state != CONFIRMED]

    def approved(*, pays_out: bool) -> int:
        rows = (row for row in confirmed if capabilities_of(row.environment).pays_out is pays_out)
        return sum(row.amount_cents for row in rows)

    return Money(
        currency=currency,
        quoted_cents=sum(one.quoted_cents for one in tally.campaigns.values()),
        committed_cents=offered_cents(tally) + tally.extra_cents((*UNSETTLED, CONFIRMED)),
        owed_cents=approved(pays_out=False),
        paid_cents=approved(pays_out=True),
        fee_cents=sum(row.fee_cents for row in confirmed),
        tax_cents=sum(row.tax_cents for row in confirmed),
        spent_extra_cents=tally.extra_cents((CONFIRMED,)),
        planned_cents=tally.cents((WriteState.PLANNED,)),
        sending_cents=tally.cents((WriteState.SENDING, WriteState.PARKED)),
        promised_extra_cents=tally.extra_cents(UNSETTLED),
        open_cents=max(0, quoted_running - places_cents(running, tally.places, TAKEN)),
        under_way_cents=places_cents(tally.campaigns, tally.places, (AssignmentState.OPENED,)),
        submitted_cents=places_cents(tally.campaigns, tally.places, (AssignmentState.SUBMITTED,)),
        confirmed=_count(confirmed),
        waiting=_count(waiting),
        oldest_waiting=clock.now() - tally.waiting_since if tally.waiting_since else None,
    )


class PaymentSummary(TypedDict):
    approved: int
    rejected: int
    bonuses: int
    #: None where the study pays in several currencies: `by_currency` has the sums of each
    currency: str | None
    owed_cents: int | None
    paid_cents: int | None
    fee_cents: int | None
    total_cents: int | None
    by_currency: dict[str, dict[str, int]]


def payment_summary(study: Study) -> PaymentSummary:
    """For exports and terminals: decisions, bonuses, and what was spent on them, in the words of `Money`."""
    tally = tally_of(study)
    sums = {
        one.currency: {
            "owed_cents": one.owed_cents,
            "paid_cents": one.paid_cents,
            "fee_cents": one.fee_cents,
            "total_cents": one.spent_cents,
        }
        for one in money_of(tally)
    }
    only: dict[str, int] = next(iter(sums.values())) if len(sums) == 1 else {}
    bonuses = [row for row in tally.payments if row.state == CONFIRMED and row.kind != CallKind.REWARD]
    return {
        "approved": tally.people([AssignmentState.APPROVED]),
        "rejected": tally.people([AssignmentState.REJECTED]),
        "bonuses": _count(bonuses),
        "currency": next(iter(sums)) if only else None,
        "owed_cents": only.get("owed_cents"),
        "paid_cents": only.get("paid_cents"),
        "fee_cents": only.get("fee_cents"),
        "total_cents": only.get("total_cents"),
        "by_currency": sums,
    }


def is_recruiting(study: Study, tally: Tally | None = None) -> bool:
    """Whether anybody can begin or is under way; where nobody was ever recruited, the study's own state says it."""
    if tally is not None:
        states = {campaign.state for campaign in tally.campaigns.values()}
    else:
        states = set(Campaign.objects.filter(study=study).order_by().values_list("state", flat=True))
    if not states or states != {CampaignState.STOPPED}:
        return True
    if tally is not None:
        return tally.people([AssignmentState.OPENED]) > 0
    return Assignment.objects.filter(campaign__study=study, state=AssignmentState.OPENED).exists()


def _sum(places: Sequence[Places]) -> Places:
    offered, taken, ended = (sum(getattr(one, name) for one in places) for name in ("offered", "taken", "ended"))
    return Places(offered=offered, taken=taken, ended=ended)


def _funnels(tally: Tally, campaigns: Sequence[Campaign]) -> tuple[Funnel, ...]:
    # Who had themselves deleted is in no step: their session is gone.
    pays = {campaign.pk: capabilities_of(campaign.environment).vouches for campaign in campaigns}
    ways = sorted(set(pays.values()), reverse=True)
    return tuple(_funnel(way, [row for row in tally.known if pays.get(row.campaign) is way]) for way in ways)


def _funnel(pays: bool, rows: Sequence[PeopleCount]) -> Funnel:
    def people(*states: str) -> int:
        return sum(row.count for row in rows if row.state in states)

    def finished(*states: str) -> int:
        return sum(row.finished for row in rows if row.state in states)

    return Funnel(
        pays=pays,
        began=sum(row.begun for row in rows),
        finished=finished(*AssignmentState.values),
        submitted=finished(*LISTED) if pays else 0,
        approved=finished(AssignmentState.APPROVED) if pays else 0,
        unmatched=people(*LISTED) - finished(*LISTED) if pays else 0,
        under_way=people(AssignmentState.OPENED),
        returned=people(AssignmentState.RETURNED),
        timed_out=people(AssignmentState.TIMED_OUT),
        rejected=people(AssignmentState.REJECTED),
    )


def _count(rows: Sequence[Paid]) -> int:
    return sum(row.count for row in rows)


By = Literal["person", "month", "study", "recruiter"]
#: Each payment counts in the month (UTC) in which it was confirmed; until then in that in which it was promised.
_MONTH = TruncMonth(Coalesce("confirmed_at", "created_at"), tzinfo=UTC)
_KEYS: Mapping[By, Any] = {
    "person": F("assignment__person__participant__code"),
    "month": _MONTH,
    "study": F("campaign__study__slug"),
}


@dataclass(frozen=True, kw_only=True)
class StatementLine:
    """Payments of one person, month, study or recruiter through one account, in minor units of its currency.

    What people get is owed (approved, and paid out by the lab itself) or paid (by the recruiter); fees and tax are what
    the recruiter takes for both. What is promised (on its way) or refused has them in it.
    """

    #: our own code of the person, the month as 2026-11, the study's name in addresses, or the account's code; of people
    #: who had themselves deleted, nothing
    key: str
    environment: str
    currency: str
    payments: int = 0
    promised_cents: int = 0
    owed_cents: int = 0
    paid_cents: int = 0
    fee_cents: int = 0
    tax_cents: int = 0
    #: turned down by the recruiter, and waiting for somebody to look
    refused_cents: int = 0

    @property
    def total_cents(self) -> int:
        """Owed and paid, with fees and tax."""
        return self.owed_cents + self.paid_cents + self.fee_cents + self.tax_cents


def statement(by: By, study: Study | None = None) -> list[StatementLine]:
    """Of one study, or of all. By month and by study in their order, people by their codes."""
    return statements([by], study)[by]


def statements(kinds: Collection[By], study: Study | None = None) -> dict[By, list[StatementLine]]:
    """Several from one pass over the ledger."""
    payments = Payment.objects.all() if study is None else Payment.objects.filter(campaign__study=study)
    sums: dict[tuple[By, str, str], Counter[str]] = {}
    for row in _grouped(payments, kinds):
        found = _amounts(row)
        for by in kinds:
            sums.setdefault((by, _said(row[_key(by)]), row["environment"]), Counter()).update(found)
    lines: dict[By, list[StatementLine]] = {by: [] for by in kinds}
    for by, key, environment in sorted(sums):
        of = sums[by, key, environment]
        line = StatementLine(key=key, environment=environment, currency=currency_of(environment), **of)
        lines[by].append(line)
    return lines


def _amounts(row: Mapping[str, Any]) -> dict[str, int]:
    """What alike rows of the ledger add to a line; their charge has the tax in it."""
    amount, charge, tax = row["amount"], row["charge"], row["tax"]
    if row["state"] == WriteState.CONFIRMED:
        got = "paid_cents" if capabilities_of(row["environment"]).pays_out else "owed_cents"
        return {"payments": row["rows"], got: amount, "fee_cents": charge - tax, "tax_cents": tax}
    waits = "promised_cents" if row["state"] in UNSETTLED else "refused_cents"
    return {"payments": row["rows"], waits: amount + charge}


def totals(lines: Iterable[StatementLine]) -> list[StatementLine]:
    """One line for each currency; `key` and `environment` are empty."""
    sums: dict[str, dict[str, int]] = {}
    for line in lines:
        of = sums.setdefault(line.currency, dict.fromkeys(_SUMMED, 0))
        for name in _SUMMED:
            of[name] += getattr(line, name)
    return [StatementLine(key="", environment="", currency=one, **sums[one]) for one in money.ordered(sums)]


#: What is added up of lines in one currency.
_SUMMED = (
    "payments",
    "promised_cents",
    "owed_cents",
    "paid_cents",
    "fee_cents",
    "tax_cents",
    "refused_cents",
)


def _grouped(payments: QuerySet[Payment], kinds: Collection[By]) -> QuerySet[Any, Any]:
    keys = {_key(by): _KEYS[by] for by in kinds if by in _KEYS}
    alike = payments.order_by().annotate(**keys).values(*keys, "environment", "state")
    found: QuerySet[Any, Any] = alike.annotate(
        rows=Count("pk"), amount=Sum("amount_cents"), charge=Sum("fee_cents"), tax=Sum("tax_cents")
    )
    return found


def _key(by: By) -> str:
    return f"by_{by}" if by in _KEYS else "environment"


def _said(key: str | datetime | None) -> str:
    return key.strftime("%Y-%m") if isinstance(key, datetime) else key or ""
