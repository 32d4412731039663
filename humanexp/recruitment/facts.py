"""What participants of a campaign are told, and what a study is advertised with."""

from __future__ import annotations

from typing import Any, TypedDict, cast

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from analysis.own_performance import FEWEST_PICTURES
from analysis.spec import StudyConfiguration
from analysis.spec.terms import PayOnLeaving
from humanexp.participation.earlier_curves import Earlier
from humanexp.participation.selectors.own_results import CURVE_ROLES
from humanexp.recruitment import money
from humanexp.recruitment.models import Campaign, LinkTerms, VolunteerTerms
from humanexp.recruitment.recruiters import kind_of
from humanexp.recruitment.recruiters.presets import preset_called
from humanexp.studies.facts import StudyFacts, tasks_of
from humanexp.studies.languages import code_in, language_of_study
from humanexp.studies.models import Study
from humanexp.studies.plans import plan_head


class DeletionFacts(TypedDict, total=False):
    gives_deletion_code: bool
    deletable_until: str
    deletion_address: str


def facts_of(campaign: Campaign, *, minutes: int = 0, shows_code: bool = False) -> StudyFacts:
    """From the campaign's own terms, or the measured `minutes`.

    `shows_code`: the person was sent by somebody who may ask for a code.
    """
    terms = LinkTerms.of(campaign)
    return StudyFacts(
        tasks=tasks_of(campaign.study.configuration),
        **({} if terms is None else _site_facts(terms)),
        way=kind_of(campaign.environment).way,
        reward_cents=campaign.reward_cents if terms is None else 0,  # the site's own words say it
        currency=campaign.currency,
        minutes=minutes or campaign.estimated_minutes,
        title=campaign.study.title,
        contact=campaign.contact,
        pay_on_leaving=pay_on_leaving(campaign.study),
        shows_code=terms is None and (shows_code or campaign.capabilities.vouches),
        **({} if terms is not None else _deletion(campaign)),
        **(_promises(campaign) if campaign.capabilities.is_public else {}),
    )


def _promises(campaign: Campaign) -> dict[str, Any]:
    """What volunteers are told of the mark in their browser, and of what they get to see."""
    terms = VolunteerTerms.of(campaign)
    earlier = terms.compared_with if terms else None
    configuration = campaign.study.configuration
    is_shown = bool(configuration) and StudyConfiguration.from_dict(configuration).ending.own_result
    return {
        "marks_browser": True,
        # a promise that too few pictures would break is not made
        "shows_curve": is_shown and pictures_of_person(campaign.study) >= FEWEST_PICTURES,
        "shown_next_to": Earlier.model_validate(earlier.content).title if earlier else "",
    }


def pictures_of_person(study: Study) -> int:
    """How many pictures one person names that count for their own curve, over all the sessions that they may do."""
    if not study.plan_file:
        return 0
    planned = plan_head(study)["summary"]["trials_by_role"]
    sessions = int(study.configuration.get("max_sessions_per_worker") or 1)
    return int(sum(planned.get(role, 0) for role in CURVE_ROLES) * sessions)


def _site_facts(terms: LinkTerms) -> dict[str, Any]:
    """What people are told of the site that has sent them."""
    amount = "" if terms.reward is None else f"{money.decimal(terms.reward)} {terms.currency}"
    return {
        "leads_out": True,
        "site": preset_called(terms.preset).label,
        "site_pay": terms.pay,
        "site_reward": amount,
        "alternative": terms.alternative,
    }


def _deletion(campaign: Campaign) -> DeletionFacts:
    """How people without an id have their answers deleted: only a link that anybody may hand out brings such people."""
    if campaign.capabilities.vouches or not campaign.study.configuration:
        return {}
    ethics = StudyConfiguration.from_dict(campaign.study.configuration).ethics
    if not ethics.deletion_code:
        return {}
    # Without the slash at its end, which text that is read from right to left would put in front of the address.
    path = reverse("recruitment:delete", args=[campaign.entry]).rstrip("/") if campaign.entry else ""
    address = f"{settings.PUBLIC_URL.rstrip('/')}{path}"
    return {"gives_deletion_code": True, "deletable_until": ethics.deletable_until, "deletion_address": address}


def pay_on_leaving(study: Study) -> PayOnLeaving:
    """What the study pays people who stop before the end, where money goes through the recruiter."""
    stated = study.configuration.get("recruitment") or {}
    return cast(PayOnLeaving, stated.get("pay_on_leaving", "none"))


def run_address(campaign: Campaign) -> str:
    """Path of the window of the study."""
    return reverse("recruitment:run", args=[campaign.entry])


def advertisement(study: Study) -> str:
    """What the study asks, and on what, in its own language."""
    facts = StudyFacts(tasks=tasks_of(study.configuration))
    with translation.override(code_in(study, language_of_study(study))):
        asks = {
            "categorisation": _("Look at pictures that are shown for a moment and say what each of them showed."),
            "discrimination": _(
                "Look at two pictures, each shown for a moment, and say whether both were changed in the same way."
            ),
            "abx": _(
                "Look at three pictures, each shown for a moment, and say whether the third was changed like the first "
                "or like the second."
            ),
            "validation": _("Look at pictures, each for as long as you like, and answer two questions about each."),
        }
        device = (
            _("A research study; needs a computer with a mouse or a keyboard.")
            if facts.is_timed
            else _("A research study; works on computers and on phones.")
        )
        return " ".join([*(asks[name] for name in facts.tasks), device])
