from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.db import transaction

from analysis.spec import Quiz
from analysis.spec.terms import NO_REQUIREMENTS, WorkerRequirements
from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import CapExceeded, Conflict, InvalidRequest, StudyRefused
from humanexp.core.models import User
from humanexp.recruitment import gates, money, pricing, selectors
from humanexp.recruitment.models import Campaign, Environment
from humanexp.recruitment.models.campaigns import DAY_S
from humanexp.recruitment.recruiters import capabilities_of, fees_of
from humanexp.recruitment.services.budgeting import reserve
from humanexp.recruitment.services.extending import check_confirmed
from humanexp.recruitment.services.hits import plan_hit
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.services.sending import send
from humanexp.studies import permissions
from humanexp.studies import services as studies
from humanexp.studies.models import Origin, Population, Study, StudyFamily, StudyState
from humanexp.studies.roles import Action

#: HITs this small cost half the fee; the price is that MTurk no longer keeps a worker to one of them. We do.
SMALL_HIT = pricing.LARGE_HIT - 1
#: Slow people are not cut off.
DURATION_FACTOR = 3


def quote(
    *,
    to: str,
    assignments: int,
    reward_cents: int,
    assignments_per_hit: int | None = None,
    masters: bool = False,
) -> pricing.Quote:
    """The exact cost of a launch, before it."""
    if to not in Environment.values:
        raise InvalidRequest(f"{to!r} is no recruiter: choose one of {', '.join(Environment.values)}.")
    per_hit = assignments_per_hit or (assignments if to == Environment.LINK else SMALL_HIT)
    return pricing.quote(
        reward_cents=reward_cents,
        assignments=assignments,
        per_hit=max(1, per_hit),
        fees=fees_of(to),
        masters=masters,
    )


def compare_sizes(*, to: str, assignments: int, reward_cents: int, masters: bool = False) -> pricing.SizeComparison:
    """The same places in small HITs and in one large HIT."""
    sizes = (SMALL_HIT, assignments)
    small, large = (
        quote(to=to, assignments=assignments, reward_cents=reward_cents, assignments_per_hit=size, masters=masters)
        for size in sizes
    )
    return pricing.SizeComparison(small=small, large=large)


def publish(
    *,
    study: Study,
    to: str,
    assignments: int | None = None,
    reward_cents: int | None = None,
    unpaid: bool = False,
    assignments_per_hit: int | None = None,
    title: str = "",
    description: str = "",
    keywords: str = "",
    estimated_minutes: int | None = None,
    assignment_duration_s: int | None = None,
    lifetime_s: int = 7 * DAY_S,
    auto_approval_s: int = 3 * DAY_S,
    cap_cents: int | None = None,
    contact: str = "",
    shared_computers: bool = False,
    confirm_total_cents: int | None = None,
    skip_preflight: bool = False,
    requirements: WorkerRequirements = NO_REQUIREMENTS,
    needs_qualification: bool = False,
    qualifies: StudyFamily | None = None,
    shown_campaigns: int | None = None,
    by: User | None = None,
) -> Campaign:
    """Launch a campaign: everything is checked and committed here, `send` talks to the recruiter afterwards.

    Production wants the exact total; anywhere else it is compared when given. A plain link is open at once. The gates
    (`recruitment.gates`) can be skipped on our own grounds alone. `qualifies`: a paid qualification of its own, whose
    pass opens that family's campaigns that need it. `unpaid`: people get nothing, and that is meant; a reward of 0
    alone is refused where money goes through the recruiter. `shown_campaigns`: how many the study had on the page
    from which this is launched; a second click, or somebody else's launch meanwhile, is refused.
    """
    permissions.check(by, Action.LAUNCH, study)
    defaults = selectors.suggested_terms(study)
    if assignments is None:
        assignments = defaults.assignments
    if reward_cents is None:
        reward_cents = 0 if unpaid or not capabilities_of(to).pays else defaults.reward_cents
    minutes = estimated_minutes or defaults.estimated_minutes
    price = quote(
        to=to,
        assignments=assignments,
        reward_cents=reward_cents,
        assignments_per_hit=assignments_per_hit,
        masters=requirements.masters,
    )
    _check(study, to, price, confirm_total_cents)
    _check_contact(study, contact or defaults.contact)
    _check_reward(to, reward_cents, unpaid=unpaid)
    _ask_gates(study, to, price, skip=skip_preflight)
    cap = price.total_cents if cap_cents is None else cap_cents
    if cap < price.total_cents:
        raise CapExceeded(f"The campaign costs {money.dollars(price.total_cents)}, its cap is {money.dollars(cap)}.")
    with transaction.atomic():
        _lock(study, shown_campaigns)
        reserve(study=study, environment=to, cents=price.total_cents, what="This campaign")
        _check_places(study, price)
        if study.state != StudyState.COLLECTING:
            studies.start_collecting(study=study, by=by)
        campaign = Campaign(
            study=study,
            environment=to,
            entry=secrets.token_urlsafe(12),
            title=title or defaults.title,
            description=description or defaults.description,
            keywords=keywords or defaults.keywords,
            reward_cents=reward_cents,
            assignments=assignments,
            assignments_per_hit=price.hit_sizes[0],
            estimated_minutes=minutes,
            assignment_duration_s=assignment_duration_s or max(1800, DURATION_FACTOR * minutes * 60),
            lifetime_s=lifetime_s,
            auto_approval_s=auto_approval_s,
            quoted_cents=price.total_cents,
            cap_cents=cap,
            contact=contact or defaults.contact,
            shared_computers=shared_computers,
            requirements=requirements.to_dict(),
            quiz=_quiz_of(study),
            needs_qualification=needs_qualification,
            qualifies=qualifies,
            created_by=by,
            launched_at=clock.now(),
        )
        campaign.full_clean()
        campaign.save()
        for size in price.hit_sizes:
            plan_hit(campaign=campaign, places=size, by=by)
        record(
            action="publish",
            subject=f"campaign:{campaign.pk}",
            study=study.slug,
            by=by,
            environment=to,
            assignments=assignments,
            reward_cents=reward_cents,
            quoted_cents=price.total_cents,
        )
        request_sending(environment=to)
    if campaign.is_link:
        send(environment=to)  # our own rows alone: nothing leaves this machine
        campaign.refresh_from_db()
    return campaign


def _lock(study: Study, shown_campaigns: int | None) -> None:
    """One launch of a study at a time, of the study as it is now, and not from a page that shows it as it was."""
    study.state = Study.objects.select_for_update(of=("self",)).get(pk=study.pk).state
    _check_open(study)
    if shown_campaigns is not None and shown_campaigns != study.campaigns.filter(compensates=None).count():
        raise Conflict(
            "A campaign of this study was launched since this page was opened; nothing was launched now. Look at it "
            "first, then launch another one if you want more places."
        )


def _check_open(study: Study) -> None:
    if study.state == StudyState.STOPPED:
        raise StudyRefused("This study is stopped; make a new version of it to go on.")


def _ask_gates(study: Study, to: str, price: pricing.Quote, *, skip: bool) -> None:
    if skip and to not in gates.REHEARSAL_GROUNDS:
        raise InvalidRequest("The pre-flight check cannot be skipped where people are paid by an external service.")
    sentence = "" if skip else gates.refusal(study=study, to=to, price=price)
    if sentence:
        raise StudyRefused(sentence)


def _check(study: Study, to: str, price: pricing.Quote, confirmed_cents: int | None) -> None:
    if study.origin == Origin.IMPORTED:
        raise StudyRefused("This study holds imported trials; no one can be recruited for it.")
    _check_open(study)
    if to in (Environment.SANDBOX, Environment.PRODUCTION) and not settings.PUBLIC_URL.startswith("https://"):
        raise StudyRefused(
            f"PUBLIC_URL is {settings.PUBLIC_URL}: MTurk shows studies from https addresses only. "
            "Put a TLS proxy in front and set PUBLIC_URL=https://..."
        )
    check_confirmed(to, price.total_cents, confirmed_cents)


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
    if not capabilities_of(to).pays:
        if reward_cents:
            raise InvalidRequest(
                "No money goes through a plain link: set the reward to 0 and pay people where you found them.",
                fields={"reward": "0"},
            )
    elif unpaid and reward_cents:
        raise InvalidRequest(
            f"The campaign is marked as unpaid, but its reward is {money.dollars(reward_cents)}: choose one.",
            fields={"reward": "0, or paid"},
        )
    elif not reward_cents and not unpaid:
        raise InvalidRequest(
            "With a reward of 0 no one is paid. Enter what one person gets, or say that it is unpaid (--unpaid).",
            fields={"reward": "more than 0, or unpaid"},
        )


def _check_places(study: Study, price: pricing.Quote) -> None:
    free = selectors.free_sessions(study)
    if price.assignments > free:
        raise StudyRefused(
            f"The plan of this study has {free} free sessions, fewer than the {price.assignments} places asked for."
        )


def _quiz_of(study: Study) -> dict[str, Any]:
    """The study file's `[recruitment.quiz]`, checked; empty where there is none."""
    stated = (study.configuration.get("recruitment") or {}).get("quiz")
    return Quiz.from_dict(stated).to_dict() if stated else {}
