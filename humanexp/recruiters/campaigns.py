"""Campaigns: what was launched, what may still be heard of it, and what participants are told and agree to."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from statistics import median, quantiles
from typing import Any, TypedDict, cast

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from analysis.own_performance import FEWEST_PICTURES
from analysis.study.ethics import Ethics
from analysis.study.study import StudyConfiguration
from analysis.study.terms import PayOnLeaving
from humanexp.core import clock
from humanexp.core.clock import Epoch
from humanexp.core.errors import NotFound
from humanexp.core.languages import CONSENT, catalogues, code_of
from humanexp.participation.models import FINISHED, DamagedPicture, Session, SessionState, counting
from humanexp.participation.own_curves import CURVE_ROLES, Earlier
from humanexp.participation.sessions import minutes_of
from humanexp.recruiters import registry
from humanexp.recruiters.models import Assignment, Campaign, Hit, RecruitedPerson
from humanexp.recruiters.port import OfferReport
from humanexp.recruiters.presets import SiteTerms
from humanexp.recruiters.registry import kind_of
from humanexp.recruiters.states import LISTED, AssignmentState, CampaignState, HitState
from humanexp.recruiters.tickets import Outcome, Ticket
from humanexp.screening.models import Verdict
from humanexp.studies.facts import StudyFacts, language_of_study, session_minutes, tasks_of
from humanexp.studies.models import Population, Study
from humanexp.studies.plans import plan_head

#: How long after its end a HIT may still list a late submission.
LISTING_LAG = timedelta(hours=1)


def recruiter_of(campaign: Campaign) -> str:
    """By which name a study's plan knows who sends people: the site of a link, or the kind of recruiter.

    Accounts of one kind are one recruiter: they draw on the same people under the same ids.
    """
    site = campaign.site
    return kind_of(campaign.environment).code if site is None else site.preset


def asks_whether_repeated(study: Study) -> bool:
    """Whether the plan has places with several recruiters, whose ids nothing connects."""
    return len((study.configuration.get("recruitment") or {}).get("places") or {}) > 1


def campaigns_of(study: Study) -> QuerySet[Campaign]:
    return Campaign.objects.filter(study=study)


def public_campaigns() -> QuerySet[Campaign]:
    """Those that the installation's public page may list."""
    return Campaign.objects.filter(registry.at(is_public=True)).select_related("study__family")


def campaign_by_entry(entry: str) -> Campaign:
    """Raises NotFound with a sentence for participants."""
    campaign = Campaign.objects.filter(entry=entry).select_related("study", "study__family").first()
    if campaign is None:
        raise NotFound("This link belongs to no study. Check that the whole address was copied.")
    return campaign


def live_entries(study: Study) -> list[str]:
    """Addresses of the entry pages that are open now."""
    open_now = Campaign.objects.filter(study=study, state=CampaignState.LIVE)
    entries = open_now.values_list("entry", flat=True)
    return [f"{settings.PUBLIC_URL}{reverse('recruitment:take', args=[entry])}" for entry in entries]


def sessions_allowed(person: RecruitedPerson) -> int:
    """How many sessions one person may do over the studies of a family, as its newest study says."""
    newest = person.family.studies.order_by("-version", "-pk").first()
    return int((newest.configuration if newest else {}).get("max_sessions_per_worker") or 1)


def campaigns_with_hits(environment: str, hit_ids: Collection[str]) -> list[Campaign]:
    """Whose HITs these are; ids that are none of ours are nobody's."""
    ours = Campaign.objects.filter(environment=environment, hits__hit_id__in=list(hit_ids)).distinct()
    return list(ours.select_related("study", "study__family"))


def unfinished_campaigns(study: Study | None = None) -> Iterator[Campaign]:
    """Campaigns of which something may still be heard."""
    campaigns = Campaign.objects.select_related("study", "study__family").order_by("pk")
    if study is not None:
        campaigns = campaigns.filter(study=study)
    for campaign in campaigns:
        under_way = campaign.assignments_taken.filter(state=AssignmentState.OPENED)
        if campaign.state != CampaignState.STOPPED or under_way.exists() or hits_to_ask_about(campaign):
            yield campaign


def hits_to_ask_about(campaign: Campaign) -> list[Hit]:
    """Published HITs that may list something new: open ones, undecided ones, and the just closed."""
    published = campaign.hits.exclude(hit_id="").select_related("campaign")
    undecided = set(
        campaign.assignments_taken.filter(
            state__in=[AssignmentState.SUBMITTED, AssignmentState.OPENED], hit__isnull=False
        ).values_list("hit_id", flat=True)
    )
    # Until it is listed, the frame's word alone does not tell the HIT.
    under_way = campaign.assignments_taken.filter(state=AssignmentState.OPENED, hit=None).exists()
    late = clock.now() - campaign.assignment_duration - LISTING_LAG
    return [
        hit
        for hit in published
        if hit.state == HitState.OPEN
        or hit.pending
        or hit.pk in undecided
        or hit.places_kept
        or under_way
        or (hit.expires_at is None and campaign.state != CampaignState.STOPPED)
        or (hit.expires_at is not None and hit.expires_at > late)
    ]


@dataclass(frozen=True, kw_only=True)
class Listed:
    """How many submissions to a HIT are known here."""

    listed: int = 0
    decided: int = 0
    #: could be approved after all, of which no count tells
    rejected: int = 0

    def lacks(self, about: OfferReport) -> bool:
        """Whether the recruiter's list of submissions may say more than our rows."""
        return bool(self.rejected) or (self.listed, self.decided) != (about.submitted, about.completed)


def listed_by_hit(campaign: Campaign) -> Mapping[int, Listed]:
    """By primary key; a HIT without any is there, too."""
    rows = campaign.assignments_taken.filter(state__in=LISTED, hit__isnull=False).values_list("hit").order_by()
    counted = rows.annotate(
        listed=Count("pk"),
        decided=Count("pk", filter=~Q(state=AssignmentState.SUBMITTED)),
        rejected=Count("pk", filter=Q(state=AssignmentState.REJECTED)),
    )
    known = {
        hit: Listed(listed=listed, decided=decided, rejected=rejected) for hit, listed, decided, rejected in counted
    }
    return defaultdict(Listed, known)


#: The newest sessions, so many, tell the median and the quartile; the rest is not read.
ENOUGH = 100


def minutes_worked(study: Study, newest: int) -> dict[int, float]:
    """Minutes of work of the newest finished sessions, by primary key. Scripted participants are no measure of it."""
    if study.population != Population.PEOPLE:
        return {}
    people = Session.objects.filter(counting(), study=study, state__in=FINISHED, completed_at__isnull=False)
    return minutes_of(dict(people.order_by("-pk").values_list("pk", "active_s")[:newest]))


#: Of so many newest sessions people are told the median, once there are so many.
TOLD_OF, TOLD_FROM = 20, 5


def _sitting_minutes(sessions: QuerySet[Session], newest: int) -> list[float]:
    """Minutes from opening to the end, breaks included, of the newest that count and were not excluded.

    Whoever clicked through tells nobody how long the study takes.
    """
    excluded = Verdict.objects.filter(session=OuterRef("pk"), is_current=True, accepted=False)
    known = sessions.filter(counting(), ~Exists(excluded), state__in=FINISHED, completed_at__isnull=False)
    rows = known.order_by("-pk").values_list(Epoch("opened_at"), Epoch("completed_at"))
    return [(completed - opened) / 60 for opened, completed in rows[:newest]]


#: From so many of the newest sessions on, those who took longest tell how much time a place needs.
SLOW_OF, SLOW_FROM = 1_000, 5


def slow_minutes(study: Study) -> float | None:
    """What nine of ten people took at most, in all of the study's family; None while too few have done it."""
    alike = Session.objects.filter(study__family=study.family_id, study__population=study.population)
    minutes = _sitting_minutes(alike, SLOW_OF)
    return quantiles(minutes, n=10)[-1] if len(minutes) >= SLOW_FROM else None


def minutes_told(campaign: Campaign) -> int:
    """What a participant is told: the campaign's minutes, or the median of those who have done it where that is more.

    Never less than those who came first were told: quick people are not judged yet when they have finished, and a
    study that takes longer than it said is what one wants to know before agreeing.
    """
    return max(campaign.estimated_minutes, _usual_minutes(campaign.study) or 0)


def estimated_minutes(study: Study) -> int:
    """For a launch: as people took it so far, where enough did; else as its plan and its protocol let expect."""
    measured = _usual_minutes(study)
    # imported studies have no plan
    return measured or max(1, math.ceil(session_minutes(study)) if study.plan_file else 1)


def _usual_minutes(study: Study) -> int | None:
    """Scripted participants are no measure of it."""
    if study.population == Population.SCRIPTED:
        return None
    took = _sitting_minutes(Session.objects.filter(study=study), TOLD_OF)
    return max(1, math.ceil(median(took))) if len(took) >= TOLD_FROM else None


def is_stopped(session: Session) -> bool:
    """Whether a damaged picture keeps its person from going on."""
    return DamagedPicture.objects.filter(session=session, mended_at=None).exists()


def outcome_of(session: Session, *, is_stopped: Callable[[Session], bool] = is_stopped) -> Outcome | None:
    """How a session has ended; None while it has not."""
    # whoever has done their part stays owed for it, whatever becomes of the answers afterwards
    is_withdrawn = session.state == SessionState.WITHDRAWN
    has_finished = (session.withdrawn_from if is_withdrawn else session.state) in FINISHED
    if session.out_of_time:
        return Outcome.FINISHED
    if session.left_at is not None or (is_withdrawn and not has_finished):
        return Outcome.LEFT
    if has_finished:
        if session.practised is False:
            return Outcome.PRACTICE_FAILED
        return Outcome.QUALIFICATION_FAILED if session.qualified is False else Outcome.FINISHED
    return Outcome.TECHNICAL_FAILURE if is_stopped(session) else None


def ticket_behind(assignment: Assignment) -> Ticket:
    """The ids that a person came with, as they are kept in the one table."""
    person = assignment.person.given_id if assignment.person is not None else ""
    return Ticket(person=person, submission=assignment.assignment_id)


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
