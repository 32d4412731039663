"""A launch: its terms, its price, what must hold before it, and the rows that publish it."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from analysis.study.link import Link
from analysis.study.terms import NO_REQUIREMENTS, WorkerRequirements
from humanexp.core import clock
from humanexp.core.errors import CapExceeded, Conflict, InvalidRequest, StudyRefused
from humanexp.core.models import User, record
from humanexp.ledger.budgets import check_confirmed, check_may_launch_on, reserve
from humanexp.ledger.outbox import plan_hit, request_sending
from humanexp.ledger.payments import free_sessions
from humanexp.ledger.sender import send
from humanexp.ledger.terms import SuggestedTerms, planned_pilot, suggested_terms
from humanexp.participation.own_curves import freeze_earlier
from humanexp.recruiters import money
from humanexp.recruiters.campaigns import recruiter_of, slow_minutes
from humanexp.recruiters.models import DAY_S, Campaign
from humanexp.recruiters.money import Quote, SizeComparison, terms_of
from humanexp.recruiters.registry import account_of, capabilities_of, currency_of, kind_of, name_of
from humanexp.recruiters.states import CampaignState
from humanexp.recruiting import approvals
from humanexp.recruiting.approvals import check_approval, check_currency_named
from humanexp.recruiting.batches import batch_plan, plan_first, takes_batches
from humanexp.recruiting.people import check_exported
from humanexp.studies import permissions, services
from humanexp.studies.models import Action, Origin, Population, Study, StudyState

#: HITs this small cost half the fee; the price is that the recruiter no longer keeps a worker to one of them. We do.
SMALL_HIT = money.LARGE_HIT - 1
#: Slow people are not cut off.
DURATION_FACTOR = 3
#: Usual time after which everybody is paid.
APPROVAL_DAYS = 3
#: A recruiter that ends what takes too long does so within a day.
LONGEST_S = DAY_S - 60


def quote(
    *,
    to: str,
    assignments: int,
    reward_cents: int,
    assignments_per_hit: int | None = None,
    masters: bool = False,
) -> Quote:
    """The exact cost of a launch, before it."""
    account = account_of(to)
    per_hit = account.kind.places_of_offer(assignments, assignments_per_hit)
    terms = terms_of(reward_cents=reward_cents, assignments=assignments, per_hit=max(1, per_hit), masters=masters)
    return account.kind.quote(terms, account)


def compare_sizes(*, to: str, assignments: int, reward_cents: int, masters: bool = False) -> SizeComparison:
    """The same places in small HITs and in one large HIT."""
    sizes = (SMALL_HIT, assignments)
    small, large = (
        quote(to=to, assignments=assignments, reward_cents=reward_cents, assignments_per_hit=size, masters=masters)
        for size in sizes
    )
    return SizeComparison(small=small, large=large)


@dataclass(frozen=True, kw_only=True)
class LaunchTerms:
    """Where a study is launched, and on which terms; what is left out is as the study's own settings suggest it."""

    to: str
    assignments: int | None = None
    reward_cents: int | None = None
    #: people get nothing, and that is meant; a reward of 0 alone is refused where money goes through the recruiter
    unpaid: bool = False
    assignments_per_hit: int | None = None
    title: str = ""
    description: str = ""
    keywords: str = ""
    estimated_minutes: int | None = None
    #: None: several times the minutes it takes
    assignment_duration_s: int | None = None
    lifetime_s: int = 7 * DAY_S
    auto_approval_s: int = APPROVAL_DAYS * DAY_S
    #: None: the price, so that no bonus can be paid
    cap_cents: int | None = None
    contact: str = ""
    shared_computers: bool = False
    requirements: WorkerRequirements = NO_REQUIREMENTS
    #: of a link: which site sends the people, and how they go back; None: as the study's file has it
    link: Link | None = None
    #: of volunteers: the study that is over whose curves they see next to their own; empty: none
    compared_with: str = ""

    @property
    def stated(self) -> frozenset[str]:
        """What is filled in that not every kind of recruiter has, as `Kind.fields` calls it."""
        filled = {
            "hits": self.assignments_per_hit,
            "keywords": self.keywords,
            "link_preset": self.link and self.link.preset,
            "compared_with": self.compared_with,
        }
        return frozenset(name for name, value in filled.items() if value)

    def price(self, suggested: SuggestedTerms) -> Quote:
        reward_cents = self.reward_cents
        if reward_cents is None:
            reward_cents = 0 if self.unpaid or not capabilities_of(self.to).vouches else suggested.reward_cents
        return quote(
            to=self.to,
            assignments=suggested.assignments if self.assignments is None else self.assignments,
            reward_cents=reward_cents,
            assignments_per_hit=self.assignments_per_hit,
            masters=self.requirements.masters,
        )


def publish(
    *,
    study: Study,
    terms: LaunchTerms,
    confirm_total_cents: int | None = None,
    skip_preflight: bool = False,
    shown_campaigns: int | None = None,
    by: User | None = None,
) -> Campaign:
    """Launch a campaign: everything is checked and committed here, `send` talks to the recruiter afterwards.

    Production wants the exact total; anywhere else it is compared when given. A plain link is open at once. The gates
    (`approvals`) can be skipped on our own grounds alone. `shown_campaigns`: how many the study had on the page from
    which this is launched; a second click, or somebody else's launch meanwhile, is refused.
    """
    permissions.check(by, Action.LAUNCH, study)
    check_may_launch_on(by, terms.to)
    check_currency_named(terms.to)
    suggested = suggested_terms(study)
    price = terms.price(suggested)
    campaign = _campaign(study, terms, suggested, price)
    _check(study, terms.to, price, confirm_total_cents)
    _check_contact(study, campaign.contact)
    check_approval(study)
    _check_reward(terms.to, price.reward_cents, unpaid=terms.unpaid)
    _check_terms_there(campaign, terms)
    _set_own_terms(campaign, suggested.link if terms.link is None else terms.link)
    _check_planned(study, recruiter_of(campaign))
    _ask_gates(study, terms.to, price, skip=skip_preflight)
    if campaign.cap_cents < price.total_cents:
        raise CapExceeded(
            f"The campaign costs {money.shown(price.total_cents, price.currency)}, its cap is "
            f"{money.shown(campaign.cap_cents, price.currency)}."
        )
    with transaction.atomic():
        _lock(study, shown_campaigns)
        reserve(study=study, environment=terms.to, cents=price.total_cents, what="This campaign")
        check_pilot(study, price.assignments)
        _check_places(study, price)
        if study.state != StudyState.COLLECTING:
            services.start_collecting(study=study, by=by)
        campaign.created_by, campaign.launched_at = by, clock.now()
        if campaign.capabilities.is_public and terms.compared_with:
            campaign.compared_with = freeze_earlier(study=study, name=terms.compared_with, by=by)
        campaign.full_clean()
        campaign.save()
        _plan_places(campaign, price, by)
        record(
            action="publish",
            subject=f"campaign:{campaign.pk}",
            study=study.slug,
            by=by,
            environment=terms.to,
            assignments=price.assignments,
            reward_cents=price.reward_cents,
            quoted_cents=price.total_cents,
            currency=price.currency,
        )
        request_sending(environment=terms.to)
    if not campaign.capabilities.vouches:
        send(environment=terms.to)  # our own rows alone: nothing leaves this machine
        campaign.refresh_from_db()
    return campaign


def _plan_places(campaign: Campaign, price: Quote, by: User | None) -> None:
    """The offers of all places, or the one of the first batch."""
    batches = batch_plan(campaign.study)
    if batches is not None and takes_batches(campaign.environment, price):
        plan_first(campaign=campaign, plan=batches, by=by)
        return
    for size in price.hit_sizes:
        plan_hit(campaign=campaign, places=size, by=by)


def _set_own_terms(campaign: Campaign, link: Link) -> None:
    """How people come and go, where a site sends them."""
    account, study = account_of(campaign.environment), campaign.study
    # Scripted participants come from nowhere: a rehearsal by a link has no site.
    if study.population != Population.PEOPLE or "link_preset" not in account.kind.fields:
        link = Link()
    if link.preset:
        check_exported(study)
    own = account.kind.terms_for(account, reward_cents=campaign.reward_cents, link=link)
    if own is None:
        return
    campaign.terms = own.to_json()
    site = campaign.site
    if site is not None and site.site.shared_computers:
        campaign.shared_computers = True


def _campaign(study: Study, terms: LaunchTerms, suggested: SuggestedTerms, price: Quote) -> Campaign:
    """As it will be launched, not stored yet."""
    minutes = terms.estimated_minutes or suggested.estimated_minutes
    fixed_days = kind_of(terms.to).approved_after_days
    return Campaign(
        study=study,
        environment=terms.to,
        entry=secrets.token_urlsafe(12),
        title=terms.title or suggested.title,
        description=terms.description or suggested.description,
        keywords=terms.keywords or suggested.keywords,
        reward_cents=price.reward_cents,
        assignments=price.assignments,
        assignments_per_hit=price.hit_sizes[0],
        estimated_minutes=minutes,
        assignment_duration_s=place_duration_s(
            study=study, to=terms.to, minutes=minutes, stated_s=terms.assignment_duration_s
        ),
        lifetime_s=terms.lifetime_s,
        auto_approval_s=fixed_days * DAY_S if fixed_days is not None else terms.auto_approval_s,
        quoted_cents=price.total_cents,
        cap_cents=price.total_cents if terms.cap_cents is None else terms.cap_cents,
        contact=terms.contact or suggested.contact,
        shared_computers=terms.shared_computers,
        requirements=terms.requirements.to_dict(),
    )


def place_duration_s(*, study: Study, to: str, minutes: int, stated_s: int | None = None) -> int:
    """Several times what people are told; and, where the recruiter itself ends what takes longer, what they took."""
    wanted = stated_s or max(1800, DURATION_FACTOR * minutes * 60)
    if not capabilities_of(to).lists_in_progress:
        return wanted
    slow = slow_minutes(study) or 0
    return min(max(wanted, math.ceil(DURATION_FACTOR * slow * 60)), LONGEST_S)


def _lock(study: Study, shown_campaigns: int | None) -> None:
    """One launch of a study at a time, of the study as it is now, and not from a page that shows it as it was."""
    study.state = Study.objects.select_for_update(of=("self",)).get(pk=study.pk).state
    check_collects(study)
    if shown_campaigns is not None and shown_campaigns != study.campaigns.count():
        raise Conflict(
            "A campaign of this study was launched since this page was opened; nothing was launched now. Look at it "
            "first, then launch another one if you want more places."
        )


def check_collects(study: Study) -> None:
    if study.state == StudyState.STOPPED:
        raise StudyRefused("This study is stopped; make a new version of it to go on.")


def _ask_gates(study: Study, to: str, price: Quote, *, skip: bool) -> None:
    if skip and not capabilities_of(to).is_own_ground:
        raise InvalidRequest("The pre-flight check cannot be skipped where people are paid by an external service.")
    sentence = "" if skip else approvals.refusal(study=study, to=to, price=price)
    if sentence:
        raise StudyRefused(sentence)


def _check(study: Study, to: str, price: Quote, confirmed_cents: int | None) -> None:
    if study.origin == Origin.IMPORTED:
        raise StudyRefused("This study holds imported trials; no one can be recruited for it.")
    check_collects(study)
    if capabilities_of(to).needs_https and not settings.PUBLIC_URL.startswith("https://"):
        raise StudyRefused(
            f"PUBLIC_URL is {settings.PUBLIC_URL}: {name_of(to)} shows studies from https addresses only. "
            "Put a TLS proxy in front and set PUBLIC_URL=https://..."
        )
    if capabilities_of(to).is_public:
        _check_public(study)
    check_confirmed(to, price.total_cents, confirmed_cents)


def _check_public(study: Study) -> None:
    if study.population == Population.SCRIPTED:
        raise StudyRefused("The public page lists studies for people: scripted participants take part by a link.")


def _check_contact(study: Study, contact: str) -> None:
    """People who agree to something must be able to ask somebody."""
    if study.population == Population.PEOPLE and not contact.strip():
        raise InvalidRequest(
            "People who take part must be able to write to someone: name a contact, here (--contact), in the study's "
            "[recruitment] table, or for the whole house (CONTACT).",
            fields={"contact": "an address, or whom to ask"},
        )


def _check_reward(to: str, reward_cents: int, *, unpaid: bool) -> None:
    """Zero pay is a choice, never a slip."""
    if not capabilities_of(to).vouches:
        if reward_cents:
            raise InvalidRequest(
                "No money goes through a plain link: set the reward to 0 and pay people where you found them.",
                fields={"reward": "0"},
            )
    elif unpaid and reward_cents:
        raise InvalidRequest(
            "The campaign is marked as unpaid, but its reward is "
            f"{money.shown(reward_cents, currency_of(to))}: choose one.",
            fields={"reward": "0, or paid"},
        )
    elif not reward_cents and not unpaid:
        raise InvalidRequest(
            "With a reward of 0 no one is paid. Enter what one person gets, or say that it is unpaid (--unpaid).",
            fields={"reward": "more than 0, or unpaid"},
        )


def _check_terms_there(campaign: Campaign, terms: LaunchTerms) -> None:
    """What the recruiter itself would refuse is refused before anything is frozen here or made there."""
    account = account_of(campaign.environment)
    sentence = account.kind.refusal(
        account,
        reward_cents=campaign.reward_cents,
        minutes=campaign.estimated_minutes,
        people=campaign.asks_for,
        stated=terms.stated,
    )
    if sentence:
        raise InvalidRequest(sentence)


def _check_planned(study: Study, recruiter: str) -> None:
    """The weights of recruiters were fixed before anybody looked: no other one's people could be pooled."""
    planned = (study.configuration.get("recruitment") or {}).get("places") or {}
    if planned and recruiter not in planned:
        raise StudyRefused(
            f"The plan has places with {', '.join(sorted(planned))}, and none with {recruiter}: name it in "
            "recruitment.places of a new version of the study."
        )


def check_pilot(study: Study, places: int) -> None:
    """The reward of the many follows from the times of the few who come first, where the plan says so."""
    most = planned_pilot(study)
    if most is None:
        return
    live = study.campaigns.filter(state=CampaignState.LIVE)
    offered = sum(live.values_list("assignments", flat=True))
    if offered + places > most:
        raise StudyRefused(
            f"This study begins with a pilot of at most {most} people (pilot_places), {offered} of whose places are "
            f"offered already: launch at most {max(0, most - offered)} places. More can be launched once the times of "
            "five people are known."
        )


def _check_places(study: Study, price: Quote) -> None:
    free = free_sessions(study)
    if price.assignments > free:
        raise StudyRefused(
            f"The plan of this study has {free} free sessions, fewer than the {price.assignments} places asked for."
        )
