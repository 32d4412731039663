"""The page of a launch: the price of what the form holds, what speaks against it, and what already runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from humanexp.core.errors import ApplicationError, CostNotConfirmed, InvalidRequest
from humanexp.core.models import User
from humanexp.core.selectors import user_of
from humanexp.ledger import payments
from humanexp.ledger.budgets import (
    Budget,
    account_of,
    budget_of,
    budgets_of,
    may_launch_on,
    month_budget,
    set_study_cap,
)
from humanexp.ledger.figures import money_of, places_of
from humanexp.ledger.hit_calls import entry_url
from humanexp.ledger.outbox import is_paused
from humanexp.ledger.pages.money import refusals_told, study_page
from humanexp.ledger.payments import Tally, tally_of
from humanexp.ledger.rejections import rejections_need_two, set_review_policy
from humanexp.ledger.terms import SuggestedTerms, offers_that_choose_people, pilot_of, policy_of, suggested_terms
from humanexp.ledger.wages import Wage, wage_at
from humanexp.participation.own_curves import earlier_choices
from humanexp.recruiters import money, people, registry
from humanexp.recruiters.campaigns import facts_of
from humanexp.recruiters.models import Campaign, RecruiterAccount
from humanexp.recruiters.money import Quote, SizeComparison
from humanexp.recruiters.people import lift_exclusion
from humanexp.recruiters.states import CampaignState, HitState
from humanexp.recruiters.tickets import Words
from humanexp.recruiting import approvals, extension
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.approvals import approval_of, renew_approval, withdraw_approval
from humanexp.recruiting.batches import batch_plan, batch_standing, takes_batches
from humanexp.recruiting.launch import APPROVAL_DAYS, compare_sizes, publish, quote
from humanexp.recruiting.pages.forms import ApprovalForm, LaunchForm, LimitsForm, TermsForm
from humanexp.recruiting.pages.links import host_typed, link_initial, title_of, turned_away
from humanexp.studies.models import Action, Study
from humanexp.studies.permissions import studies_with


def public_url(campaign: Campaign) -> str:
    """The study's own page, as people outside know it."""
    path = reverse("recruitment:volunteer-study", args=[campaign.entry])
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"


def promised_next_to(campaign: Campaign) -> str:
    """Title of the study whose curves its people see next to their own; empty where they see none."""
    facts = facts_of(campaign)
    return facts.shown_next_to if facts.shows_curve else ""


@dataclass(frozen=True, kw_only=True)
class Price:
    """A quote with all that somebody should know who agrees to it."""

    study: Study
    to: str
    quoted: Quote
    #: None where a place costs the same in a HIT of every size
    sizes: SizeComparison | None
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
    def words(self) -> Words:
        return registry.kind_of(self.to).words

    @property
    def button(self) -> str:
        total = money.shown(self.quoted.total_cents, self.currency)
        return str(self.words.launch) % {"total": total}

    @property
    def asks(self) -> frozenset[str]:
        """Fields of the form that mean something to the recruiter: of none without money is a reward."""
        return registry.kind_of(self.to).fields

    @property
    def pays_nobody_by_mistake(self) -> bool:
        return "reward" in self.asks and not (self.is_unpaid or self.quoted.reward_cents)

    @property
    def is_real_money(self) -> bool:
        return registry.capabilities_of(self.to).asks_for_total

    @property
    def paid_when(self) -> str:
        """When people are paid, by the study's frozen policy."""
        return policy_of(self.study).words(self.currency)

    @property
    def pilot(self) -> str:
        """What those who came first tell about the reward, with its numbers."""
        return pilot_of(self.study).words(self.currency)

    @property
    def batches(self) -> str:
        """How the study's frozen plan opens the places; empty: all at the launch."""
        plan = batch_plan(self.study)
        if plan is None:
            return ""
        if not takes_batches(self.to, self.quoted):
            return "all at the launch: this recruiter takes no batches of places"
        return plan.words

    @property
    def account_name(self) -> str:
        return registry.name_of(self.to)

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
    quoted = quote(**terms)
    return Price(
        study=study,
        to=terms["to"],
        quoted=quoted,
        sizes=_sizes(terms),
        wage=_wage(study, terms["to"], quoted.reward_cents, str(form.data.get("estimated_minutes", ""))),
        account=account_of(terms["to"]),
        budget=budget_of(study, quoted.currency, tally),
        month=month_budget(terms["to"]),
        free_sessions=payments.free_sessions(study, tally) if free_sessions is None else free_sessions,
        refusal=approvals.refusal(study=study, to=terms["to"], price=quoted),
        is_asked=approvals.is_asked(study, terms["to"]),
        is_unpaid=form.cleaned_data["unpaid"],
        is_account_theirs=may_launch_on(by, terms["to"]),
    )


def _sizes(terms: dict[str, Any]) -> SizeComparison | None:
    if not registry.fees_of(terms["to"]).large_hit_percent:
        return None
    return compare_sizes(**{name: terms[name] for name in terms if name != "assignments_per_hit"})


def _wage(study: Study, to: str, reward_cents: int, stated: str) -> Wage | None:
    """By the time that people took, where some did; else by the minutes on the form, where it says some."""
    minutes = int(stated) if stated.isdecimal() else 0
    wage = wage_at(study, reward_cents=reward_cents, stated_minutes=minutes, to=to)
    return wage if reward_cents and not wage.is_unpaid else None


def campaign_rows(tally: Tally) -> list[dict[str, Any]]:
    """Every campaign with its places, its HITs counted by state, and where people enter."""
    return [
        {
            "campaign": campaign,
            "entry_url": entry_url(campaign),
            "places": places_of(campaign, tally),
            "hits": [(state, HitState(state).label, n) for state, n in tally.hits_by_state(campaign.pk).items()],
            "asks_for": campaign.asks_for,
            "site": campaign.site,
            "site_title": title_of(campaign.site.site) if campaign.site else "",
            "turned_away": turned_away(campaign),
            "is_paused": is_paused(campaign),
            "batches": batch_standing(campaign),
            "asks": registry.kind_of(campaign.environment).fields,
            "public_url": public_url(campaign) if registry.asks(campaign.environment, "compared_with") else "",
            "promised_next_to": promised_next_to(campaign),
        }
        for campaign in tally.campaigns.values()
    ]


@study_page("GET", "POST")
def recruit(request: HttpRequest, study: Study) -> HttpResponse:
    """Campaigns of a study, and the form that launches one at the price it shows."""
    if request.method == "POST":
        return _launch(request, study)
    to = request.GET.get("to", "")
    tally = tally_of(study)
    suggested = suggested_terms(study, tally)
    initial = _initial(suggested, to if registry.is_known(to) else registry.preferred())
    form = LaunchForm(initial=initial, earlier=earlier_choices(request.user, study))
    return _page(request, study, form, tally, free_sessions=suggested.free_sessions)


@study_page("GET")
def price(request: HttpRequest, study: Study) -> HttpResponse:
    """The exact cost of what the form holds now."""
    tally = tally_of(study)
    priced = price_of(study, TermsForm(request.GET), tally, by=user_of(request))
    context = {
        "study": study,
        "price": priced,
        "return_host": host_typed(request.GET),
        "budgets": _budgets(study, tally, priced),
        "is_asked_again": True,
    }
    return render(request, "recruitment/_price.html", context)


@study_page("POST")
def stop(request: HttpRequest, study: Study) -> HttpResponse:
    """Stop every campaign of the study."""
    may_finish = _may_finish(study)
    extension.stop(study=study, by=user_of(request))
    messages.success(request, f"Recruiting is being stopped. {may_finish}")
    return redirect("recruitment:recruit", slug=study.slug)


@study_page("POST")
def limits(request: HttpRequest, study: Study) -> HttpResponse:
    """What the study may come to over all its campaigns."""
    form = LimitsForm(request.POST)
    with refusals_told(request):
        if not form.is_valid():
            raise InvalidRequest("Write an amount with two decimals like 123.45, or nothing for no limit.")
        set_study_cap(
            study=study,
            cap_cents=form.cleaned_data["study_cap"],
            currency=form.cleaned_data["currency"] or money.USUAL,
            by=user_of(request),
        )
        messages.success(request, "The limit is stored.")
    return redirect("recruitment:recruit", slug=study.slug)


@study_page("POST")
def approval(request: HttpRequest, study: Study) -> HttpResponse:
    """What has become of the ethics approval: withdrawn, or in force until another day."""
    with refusals_told(request):
        if "withdrawn" in request.POST:
            withdraw_approval(study=study, by=user_of(request))
            messages.success(request, f"No one new can start. {_may_finish(study)}")
        else:
            form = ApprovalForm(request.POST)
            if not form.is_valid():
                raise InvalidRequest("Enter the last day of the approval like 2027-03-31, or nothing.")
            renew_approval(study=study, by=user_of(request), **form.cleaned_data)
            messages.success(request, "The approval is in force as stated.")
    return redirect("recruitment:recruit", slug=study.slug)


@study_page("POST")
def rejections(request: HttpRequest, study: Study) -> HttpResponse:
    """Whether a rejection in this study takes two people."""
    wanted = "rejections_need_two" in request.POST
    set_review_policy(study=study, rejections_need_two=wanted, by=user_of(request))
    messages.success(request, "Stored; what is rejected already stays so.")
    return redirect("recruitment:recruit", slug=study.slug)


def _may_finish(study: Study) -> str:
    """What happens to those who have begun: whoever is promised a reward gets it."""
    rewards = study.campaigns.filter(state=CampaignState.LIVE).values_list("reward_cents", flat=True)
    if any(rewards):
        return "People who have begun can finish, and are paid."
    return "People who have begun can finish."


def _launch(request: HttpRequest, study: Study) -> HttpResponse:
    form = LaunchForm(request.POST, earlier=earlier_choices(request.user, study))
    if not form.is_valid():
        return _refused(request, study, form, 422)
    try:
        campaign = publish(
            study=study,
            terms=form.launch_terms,
            confirm_total_cents=form.confirmed_cents,
            shown_campaigns=form.cleaned_data["shown_campaigns"],
            by=user_of(request),
        )
    except CostNotConfirmed as error:
        form.add_error("confirm_total", error.message)
        return _refused(request, study, form, 409)
    except ApplicationError as error:
        field = next((name for name in error.fields if name in form.fields), None)
        form.add_error(field, error.message)
        return _refused(request, study, form, error.status_code)
    said = str(registry.kind_of(campaign.environment).words.launched)
    messages.success(request, said % {"name": registry.name_of(campaign.environment)})
    return redirect("recruitment:recruit", slug=study.slug)


def _refused(request: HttpRequest, study: Study, form: LaunchForm, status: int) -> HttpResponse:
    tally = tally_of(study)
    free_sessions = payments.free_sessions(study, tally)
    return _page(request, study, form, tally, free_sessions=free_sessions, status=status)


def _page(
    request: HttpRequest, study: Study, form: LaunchForm, tally: Tally, *, free_sessions: int, status: int = 200
) -> HttpResponse:
    terms = TermsForm(form.data if form.is_bound else {**form.initial})
    priced = price_of(study, terms, tally, free_sessions=free_sessions, by=user_of(request))
    rows = campaign_rows(tally)
    unready = [name for name, why in registry.offered().items() if why]
    context: dict[str, Any] = {
        "study": study,
        "form": form,
        "unready": unready,
        "chosen": terms.data.get("to") if form.is_bound else form.initial["to"],
        "campaigns": rows,
        "may_finish": _may_finish(study),
        "stays_stopped": any(
            campaign.state == CampaignState.LIVE and not campaign.capabilities.reopens
            for campaign in tally.campaigns.values()
        ),
        "is_live": any(campaign.state == CampaignState.LIVE for campaign in tally.campaigns.values()),
        "free_sessions": free_sessions,
        "attention": attention(study, tally),
        "excluded": people.exclusions(study.family).count(),
        "notes": _notes(),
        "only": _asked_by_field(),
        "earlier": form.earlier,
        "offers": offers_that_choose_people(studies_with(request.user, Action.LAUNCH)),
        "moneys": money_of(tally),
        "budgets": _budgets(study, tally, priced),
        "price": priced,
        "return_host": host_typed(terms.data if form.is_bound else form.initial),
        "approval": approval_of(study),
        "rejections_need_two": rejections_need_two(study),
    }
    return render(request, "recruitment/recruit.html", context, status=status)


def _budgets(study: Study, tally: Tally, priced: Price | None) -> list[Budget]:
    """In the currency of the price, and in those in which something was promised or limited."""
    return budgets_of(study, tally, *([priced.currency] if priced else []))


def _notes() -> list[tuple[str, str]]:
    """What needs more words than its name, each once, with the accounts that it is about."""
    found: dict[str, list[str]] = {}
    for name in registry.offered():
        if note := str(registry.kind_of(name).note):
            found.setdefault(note, []).append(name)
    return [(note, " ".join(names)) for note, names in found.items()]


def _initial(suggested: SuggestedTerms, to: str) -> dict[str, Any]:
    return {
        "to": to,
        "assignments": max(1, suggested.assignments),
        "reward": money.decimal(suggested.reward_cents),
        "hits": TermsForm.SMALL,
        "title": suggested.title,
        "description": suggested.description,
        "keywords": suggested.keywords,
        "estimated_minutes": suggested.estimated_minutes,
        "approval_days": APPROVAL_DAYS,
        "contact": suggested.contact,
        **link_initial(suggested.link),
        **registry.kind_of(to).usual,
    }


PAGE_SIZE = 50


@study_page("GET")
def exclusions(request: HttpRequest, study: Study) -> HttpResponse:
    """The list of the family, by code and note."""
    query = request.GET.get("query", "").strip()[:80]
    page = Paginator(people.exclusions(study.family, query), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "query": query,
        "total": page.paginator.count if not query else people.exclusions(study.family).count(),
    }
    return render(request, "recruitment/exclusions.html", context)


@study_page("GET", "POST")
def exclusion(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """One entry, and what it means to take it off; that is shown before it is done."""
    found = get_object_or_404(people.exclusions(study.family), pk=pk)
    if request.method == "GET":
        others = study.family.studies.exclude(pk=study.pk).order_by("pk")
        return render(request, "recruitment/exclusion.html", {"study": study, "exclusion": found, "others": others})
    with refusals_told(request):
        lift_exclusion(exclusion=found, study=study, by=user_of(request))
        messages.success(request, f"{found.code} may take part from now on.")
    return redirect("recruitment:exclusions", slug=study.slug)


def _asked_by_field() -> dict[str, str]:
    """Accounts for which the form asks for a field, by field; all others ask everybody."""
    found: dict[str, list[str]] = {}
    for name in registry.offered():
        for field in registry.kind_of(name).fields:
            found.setdefault(field, []).append(name)
    return {field: " ".join(names) for field, names in found.items()}
