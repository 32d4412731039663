"""What the page of a launch shows: the price of what the form holds, what speaks against it, and what already runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from humanexp.core.models import User
from humanexp.recruitment import launch_gates, money, pricing, recruiters, selectors, services
from humanexp.recruitment.models import RecruiterAccount
from humanexp.recruitment.pages.forms import TermsForm
from humanexp.recruitment.pages.links import site_of
from humanexp.recruitment.pages.volunteering import promised_next_to, public_url
from humanexp.recruitment.recruiters.base import Capabilities
from humanexp.recruitment.selectors import Budget, Tally, Wage
from humanexp.recruitment.services.deliveries import entry_url
from humanexp.recruitment.states import HitState
from humanexp.studies.models import Study


@dataclass(frozen=True, kw_only=True)
class Price:
    """A quote with all that somebody should know who agrees to it."""

    study: Study
    to: str
    quoted: pricing.Quote
    #: None where a place costs the same in a HIT of every size
    sizes: pricing.SizeComparison | None
    wage: Wage | None
    account: RecruiterAccount | None
    budget: Budget
    month: Budget
    free_sessions: int
    #: why the launch would be refused now, in a sentence
    refusal: str
    #: whether anything is asked before; not of a rehearsal
    is_asked: bool
    #: people get nothing, and somebody has said that this is meant
    is_unpaid: bool
    #: whoever looks may launch through the account
    is_account_theirs: bool

    @property
    def can(self) -> Capabilities:
        """What the recruiter can do."""
        return recruiters.capabilities_of(self.to)

    @property
    def pays_nobody_by_mistake(self) -> bool:
        return self.can.pays and not (self.is_unpaid or self.quoted.reward_cents)

    @property
    def is_real_money(self) -> bool:
        return self.can.asks_for_total

    @property
    def paid_when(self) -> str:
        """When people are paid, by the study's frozen policy."""
        return selectors.policy_of(self.study).words(self.currency)

    @property
    def pilot(self) -> str:
        """What those who came first tell about the reward, with its numbers."""
        return selectors.pilot_of(self.study).words(self.currency)

    @property
    def batches(self) -> str:
        """How the study's frozen plan opens the places; empty: all at the launch."""
        plan = selectors.batch_plan(self.study)
        if plan is None:
            return ""
        if not selectors.takes_batches(self.to, self.quoted):
            return _("all at the launch: this recruiter takes no batches of places")
        return plan.words

    @property
    def account_name(self) -> str:
        return recruiters.name_of(self.to)

    @property
    def total(self) -> str:
        """As it is typed to confirm."""
        return money.decimal(self.quoted.total_cents)

    @property
    def currency(self) -> str:
        return self.quoted.currency

    @property
    def is_too_many(self) -> bool:
        return self.quoted.assignments > self.free_sessions

    @property
    def is_beyond_account(self) -> bool:
        held = self.account.balance_cents if self.account else None
        return held is not None and held < self.quoted.total_cents

    @property
    def is_beyond_month(self) -> bool:
        left = self.month.left_cents
        return left is not None and left < self.quoted.total_cents

    @property
    def can_launch(self) -> bool:
        is_held = self.is_too_many or self.is_beyond_month or not self.is_account_theirs
        return not (is_held or self.refusal or self.pays_nobody_by_mistake)


def price_of(
    study: Study, form: TermsForm, tally: Tally | None = None, *, by: User, free_sessions: int | None = None
) -> Price | None:
    """None while the form does not say enough for a price. `free_sessions`: where the page has counted them already."""
    if not form.is_valid():
        return None
    terms = form.terms
    quoted = services.quote(**terms)
    return Price(
        study=study,
        to=terms["to"],
        quoted=quoted,
        sizes=_sizes(terms),
        wage=_wage(study, terms["to"], quoted.reward_cents, str(form.data.get("estimated_minutes", ""))),
        account=selectors.account_of(terms["to"]),
        budget=selectors.budget_of(study, quoted.currency, tally),
        month=selectors.month_budget(terms["to"]),
        free_sessions=selectors.free_sessions(study, tally) if free_sessions is None else free_sessions,
        refusal=launch_gates.refusal(study=study, to=terms["to"], price=quoted),
        is_asked=launch_gates.is_asked(study, terms["to"]),
        is_unpaid=form.cleaned_data["unpaid"],
        is_account_theirs=services.may_launch_on(by, terms["to"]),
    )


def _sizes(terms: dict[str, Any]) -> pricing.SizeComparison | None:
    if not recruiters.fees_of(terms["to"]).large_hit_percent:
        return None
    return services.compare_sizes(**{name: terms[name] for name in terms if name != "assignments_per_hit"})


def _wage(study: Study, to: str, reward_cents: int, stated: str) -> Wage | None:
    """By the time that people took, where some did; else by the minutes on the form, where it says some."""
    minutes = int(stated) if stated.isdecimal() else 0
    wage = selectors.wage_at(study, reward_cents=reward_cents, stated_minutes=minutes, to=to)
    return wage if reward_cents and not wage.is_unpaid else None


def campaign_rows(tally: Tally) -> list[dict[str, Any]]:
    """Every campaign with its places, its HITs counted by state, and where people enter."""
    return [
        {
            "campaign": campaign,
            "entry_url": entry_url(campaign),
            "places": selectors.places_of(campaign, tally),
            "hits": [(state, HitState(state).label, n) for state, n in tally.hits_by_state(campaign.pk).items()],
            "asks_for": campaign.asks_for,
            "site": site_of(campaign),
            "is_paused": selectors.is_paused(campaign),
            "batches": selectors.batch_standing(campaign),
            "public_url": public_url(campaign) if campaign.capabilities.is_public else "",
            "promised_next_to": promised_next_to(campaign),
        }
        for campaign in tally.campaigns.values()
    ]
