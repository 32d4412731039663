"""What participants of a campaign are told, what it is advertised with, and what they agree to."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict, cast

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from analysis.own_performance import FEWEST_PICTURES
from analysis.study.ethics import Ethics
from analysis.study.study import StudyConfiguration
from analysis.study.terms import PayOnLeaving
from humanexp.core.catalogues import CONSENT, catalogues
from humanexp.core.languages import code_of
from humanexp.participation.earlier_curves import Earlier
from humanexp.participation.selectors.own_results import CURVE_ROLES
from humanexp.recruiters.models.campaigns import Campaign
from humanexp.recruiters.registry import kind_of
from humanexp.recruiters.site_terms import SiteTerms
from humanexp.studies.facts import StudyFacts, language_of_study, tasks_of
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
    site = campaign.site
    return StudyFacts(
        tasks=tasks_of(campaign.study.configuration),
        **({} if site is None else _site_facts(site)),
        way=kind_of(campaign.environment).way,
        reward_cents=campaign.reward_cents if site is None else 0,  # the site's own words say it
        currency=campaign.currency,
        minutes=minutes or campaign.estimated_minutes,
        title=campaign.study.title,
        contact=campaign.contact,
        pay_on_leaving=pay_on_leaving(campaign.study),
        shows_code=site is None and (shows_code or campaign.capabilities.vouches),
        **({} if site is not None else _deletion(campaign)),
        **(_promises(campaign) if campaign.capabilities.is_public else {}),
    )


def _promises(campaign: Campaign) -> dict[str, Any]:
    """What volunteers are told of the mark in their browser, and of what they get to see."""
    earlier = campaign.compared_with
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


def _site_facts(terms: SiteTerms) -> dict[str, Any]:
    """What people are told of the site that has sent them."""
    return {
        "leads_out": True,
        "site": terms.site.label,
        "site_pay": terms.pay,
        "site_reward": terms.reward_told,
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
    with translation.override(code_of(language_of_study(study))):
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


#: Change the number with the text in templates/recruitment/take/consent.
HOUSE_VERSION = "house-5"
#: Languages of the house text: English under the bare version, the others under version and language, "house-5.de".
HOUSE_LANGUAGES = ("en", "de")
#: Blocks that stand under "Your data" in it.
_OF_DATA = ("data", "storage", "retention", "recipients", "transfers", "legal_basis", "deletion")


@dataclass(frozen=True, kw_only=True)
class Consent:
    """A text as it is shown to one reader, and the name under which a session remembers it."""

    version: str
    language: str
    html: SafeString
    #: how old people are who agree for themselves, and whether younger ones may take part with a guardian
    ethics: Ethics

    @cached_property
    def digest(self) -> str:
        """SHA-256 of exactly what is shown."""
        return hashlib.sha256(self.html.encode()).hexdigest()


def ethics_of(study: Study) -> Ethics:
    """The study's blocks, as its configuration states them."""
    return Ethics.from_dict(study.configuration.get("ethics") or {})


def consent_version_of(study: Study) -> str:
    """Of the text that people agree to, whatever their language."""
    if str(study.configuration.get("consent") or "").strip():
        return str(study.configuration.get("consent_version") or "1")
    return HOUSE_VERSION


def consent_of(study: Study, language: str, facts: StudyFacts) -> Consent:
    """What a reader of this language agrees to.

    The study's configuration holds its own text and the text's version; both are frozen with it. The house text comes
    in the reader's language, and its version says which one that was; in one of a catalogue, sentence by sentence.
    """
    own = str(study.configuration.get("consent") or "").strip()
    own_language = str(study.configuration.get("language") or "en")
    catalogue = catalogues().get(language)
    spoken = language if catalogue or language in HOUSE_LANGUAGES else "en"
    version = HOUSE_VERSION if spoken == "en" else f"{HOUSE_VERSION}.{spoken}"
    ethics = ethics_of(study)
    texts = ethics.texts_in(spoken)
    context = {
        "facts": facts,
        "ethics": ethics,
        "texts": texts,
        "texts_language": spoken if spoken in ethics.translations else own_language,
        "own_text": own,
        "own_language": own_language,
        # an own text has said it all already, unless blocks add to it
        "tells_of_data": not own or facts.gives_deletion_code or any(getattr(texts, name) for name in _OF_DATA),
    }
    template = CONSENT if catalogue else f"recruitment/take/consent/{version}.html"
    with translation.override(code_of(spoken)):
        html = render_to_string(template, context)
    return Consent(version=consent_version_of(study) if own else version, language=spoken, html=html, ethics=ethics)
