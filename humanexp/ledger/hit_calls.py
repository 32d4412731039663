"""Calls about HITs: publish, stop, add places, stay open longer."""

from __future__ import annotations

import logging
import re
from abc import abstractmethod
from datetime import datetime, timedelta
from typing import cast

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import translation
from django.utils.translation import ngettext

from humanexp.core import clock
from humanexp.core.errors import NotAtRecruiter, RecruiterError
from humanexp.core.languages import code_of
from humanexp.core.models import record
from humanexp.ledger.delivery import DONE, NOT_DONE, Delivery, WriteOutcome
from humanexp.ledger.models import OFFERS, CallKind
from humanexp.ledger.outbox import order_for, type_for
from humanexp.recruiters.campaigns import facts_of
from humanexp.recruiters.models import Campaign, Hit, QualificationType
from humanexp.recruiters.port import OfferOrder, OfferReport, OfferTerms, Pausing, Recruiter, WayBackCode
from humanexp.recruiters.states import UNFINISHED, CampaignState, HitState, WriteState, advance
from humanexp.studies.facts import language_of_study

logger = logging.getLogger(__name__)

#: A read may lag behind a call: a HIT that is not found sooner than this may still appear.
READS_LAG = timedelta(minutes=10)
NOT_KNOWN = "It is not known yet whether this HIT was published."
#: A description that says itself how long it takes, and the longest that the requester API takes.
_MINUTES, _LONGEST = re.compile(r"\b[1-9][0-9]{0,2}\s*min(?:\b|ute)", re.IGNORECASE), 2_000


class HitCreation(Delivery):
    """CreateHITType and CreateHITWithHITType; found again by the annotation."""

    repeats = "publish"

    _hit_id = ""

    def ask(self) -> WriteOutcome:
        found = self.recruiter.find(self.call.token)
        if found is not None:
            self._hit_id = found.offer_id
            return DONE
        if self.hit.campaign.state != CampaignState.LIVE:
            sent = self.call.first_sent_at or clock.now()
            if clock.now() - sent < READS_LAG:
                return WriteOutcome(is_done=False, wait="The campaign was stopped while this HIT was being published.")
            return WriteOutcome(is_done=False, refusal="Stopped before it was published.")
        return NOT_DONE

    def carry_out(self) -> None:
        campaign = self.hit.campaign
        if not campaign.hit_type_id:
            campaign.hit_type_id = _publish_type(campaign, self.recruiter)
        self._hit_id = self.recruiter.publish(
            OfferOrder(
                terms_id=campaign.hit_type_id,
                places=self.hit.max_assignments,
                lifetime_s=campaign.lifetime_s,
                url=entry_url(campaign),
                annotation=self.call.token,
                token=self.call.token,
                terms=terms_of(campaign, self.recruiter),
                codes=tuple(
                    WayBackCode(outcome=outcome, code=row.code, is_reviewed=row.action == "review")
                    for outcome, row in (campaign.site.codes if campaign.site else {}).items()
                ),
                most_cents=self.call.cost_cents,
            )
        )

    @transaction.atomic
    def confirm(self) -> None:
        hit = self.hit
        super().confirm()
        advance(hit, HitState.OPEN, hit_id=self._hit_id, available=hit.max_assignments)

    @transaction.atomic
    def refuse(self, why: str) -> None:
        super().refuse(why)
        if self.hit.campaign.state != CampaignState.LIVE:
            advance(self.hit, HitState.CANCELLED)


class HitChange(Delivery):
    """A write about a HIT that is there; with the last of them a campaign that is being stopped is stopped."""

    #: what it means that the recruiter has the HIT no more
    gone = WriteOutcome(is_done=False, refusal="The recruiter has disposed of this HIT.")
    is_for_live_campaigns = True

    def waits_for(self) -> str:
        return "" if self.hit.hit_id else NOT_KNOWN

    def ask(self) -> WriteOutcome:
        try:
            report = self.recruiter.offer(self.hit.hit_id)
        except NotAtRecruiter:
            return self.gone
        if self.shows(report):
            return DONE
        if self.is_for_live_campaigns and self.hit.campaign.state != CampaignState.LIVE:
            return WriteOutcome(is_done=False, refusal="Stopped before it was sent.")
        return NOT_DONE

    @abstractmethod
    def shows(self, report: OfferReport) -> bool:
        """Whether the HIT, as the recruiter describes it, says that this took effect."""

    @transaction.atomic
    def confirm(self) -> None:
        super().confirm()
        self.take_over()
        _end_stop(self.hit)

    @abstractmethod
    def take_over(self) -> None:
        """Store what the HIT is from now on."""

    @transaction.atomic
    def refuse(self, why: str) -> None:
        super().refuse(why)
        self.take_back()
        _end_stop(self.hit)

    def take_back(self) -> None:
        """What was promised for it."""


class HitExpiry(HitChange):
    """UpdateExpirationForHIT with a time long past."""

    repeats = "until"
    gone = DONE
    is_for_live_campaigns = False

    def waits_for(self) -> str:
        return "" if self.hit.state == HitState.CANCELLED else super().waits_for()

    def ask(self) -> WriteOutcome:
        return DONE if self.hit.state == HitState.CANCELLED else super().ask()

    def shows(self, report: OfferReport) -> bool:
        return report.is_over or (report.expires_at is not None and report.expires_at <= clock.now())

    def carry_out(self) -> None:
        if self.hit.state != HitState.CANCELLED:
            self.recruiter.close(self.hit.hit_id)

    def take_over(self) -> None:
        now = clock.now()
        Hit.objects.filter(pk=self.hit.pk).exclude(expires_at__lte=now).update(expires_at=now)


class HitGrowth(HitChange):
    """CreateAdditionalAssignmentsForHIT; the HIT's number of places tells whether it took effect."""

    repeats = "extend"

    def waits_for(self) -> str:
        earlier = self.hit.calls.filter(kind=self.call.kind, pk__lt=self.call.pk, state__in=UNFINISHED)
        why = "An earlier extension of this HIT is on its way." if earlier.exists() else ""
        return super().waits_for() or why

    def shows(self, report: OfferReport) -> bool:
        return report.places >= int(self.call.payload["places"])

    def carry_out(self) -> None:
        self.recruiter.change(self.hit.hit_id, places=self.call.payload["places"], token=self.call.token)

    def take_over(self) -> None:
        Hit.objects.filter(pk=self.hit.pk).update(max_assignments=self.call.payload["places"])

    def take_back(self) -> None:
        """The places are not there, so nothing is promised for them."""
        campaign = Campaign.objects.select_for_update().get(pk=self.hit.campaign_id)
        campaign.assignments -= self.call.places
        campaign.quoted_cents -= self.call.cost_cents
        campaign.save(update_fields=["assignments", "quoted_cents"])


class HitProlonging(HitChange):
    """UpdateExpirationForHIT with a time to come."""

    repeats = "until"

    @property
    def until(self) -> datetime:
        return datetime.fromisoformat(self.call.payload["until"])

    def shows(self, report: OfferReport) -> bool:
        return report.expires_at is not None and report.expires_at >= self.until

    def carry_out(self) -> None:
        self.recruiter.change(self.hit.hit_id, until=self.until, token=self.call.token)

    def take_over(self) -> None:
        Hit.objects.filter(pk=self.hit.pk).update(expires_at=self.until)


class HitPause(HitChange):
    """Of recruiters that can close an offer for a while."""

    repeats = "until"

    def shows(self, report: OfferReport) -> bool:
        return not report.is_open

    def carry_out(self) -> None:
        cast(Pausing, self.recruiter).pause(self.hit.hit_id)

    def take_over(self) -> None:
        """The next look says so."""


class HitResumption(HitPause):
    """After a pause, or because people gave their places back after all had been taken."""

    def shows(self, report: OfferReport) -> bool:
        # Without a person's word only places are offered again that came free after all had been taken: no pause ends.
        is_refilled = self.call.created_by_id is None and not (report.is_over and report.withheld)
        return is_refilled or report.is_open or (report.is_over and not report.withheld)

    def carry_out(self) -> None:
        if not self.shows(self.recruiter.offer(self.hit.hit_id)):
            cast(Pausing, self.recruiter).resume(self.hit.hit_id)
            if self.call.created_by_id is None:  # it had not opened by itself
                study = self.hit.campaign.study.slug
                record(action="reopen-offer", subject=f"hit:{self.hit.pk}", study=study)


def _end_stop(hit: Hit) -> None:
    """A campaign that is being stopped is stopped with the last write about its HITs, whichever comes last.

    A refused stop is not over: it is tried again.
    """
    campaign = Campaign.objects.select_for_update().get(pk=hit.campaign_id)
    is_over = Q(state=WriteState.CONFIRMED) | Q(state=WriteState.REFUSED) & ~Q(kind=CallKind.EXPIRE)
    unfinished = campaign.calls.filter(kind__in=OFFERS).exclude(is_over)
    if campaign.state == CampaignState.STOPPING and not unfinished.exists():
        advance(campaign, CampaignState.STOPPED)


def publish_qualification(qualification: QualificationType, recruiter: Recruiter) -> QualificationType:
    """Make sure that the recruiter knows it. The name is fixed, so this may be repeated as it is."""
    if not qualification.type_id:
        qualification.type_id = recruiter.publish_qualification(order_for(qualification))
        QualificationType.objects.filter(pk=qualification.pk).update(type_id=qualification.type_id)
    return qualification


def _publish_type(campaign: Campaign, recruiter: Recruiter) -> str:
    if recruiter.capabilities.vouches:
        publish_qualification(_mark_of(campaign), recruiter)
    hit_type_id = recruiter.publish_terms(terms_of(campaign, recruiter))
    try:
        recruiter.ask_for_hints(hit_type_id)
    except RecruiterError as err:
        logger.warning("No events will be told of campaign %s; polling goes on: %s", campaign.pk, err.message)
    Campaign.objects.filter(pk=campaign.pk).update(hit_type_id=hit_type_id)
    return hit_type_id


def _mark_of(campaign: Campaign) -> QualificationType:
    return type_for(environment=campaign.environment, family=campaign.study.family)


def terms_of(campaign: Campaign, recruiter: Recruiter) -> OfferTerms:
    return OfferTerms(
        title=campaign.title,
        description=_described(campaign),
        keywords=campaign.keywords,
        reward_cents=campaign.reward_cents,
        assignment_duration_s=campaign.assignment_duration_s,
        auto_approval_s=campaign.auto_approval_s,
        requirements=campaign.asks_for,
        hidden_from=_mark_of(campaign).type_id if recruiter.capabilities.vouches else "",
        minutes=campaign.estimated_minutes,
        needs_computer=facts_of(campaign).is_timed,
    )


def _described(campaign: Campaign) -> str:
    """With the minutes it takes: the requester API has no field for them, and people choose by the pay of an hour."""
    text = campaign.description
    if _MINUTES.search(f"{campaign.title} {text}"):
        return text
    minutes = campaign.estimated_minutes
    with translation.override(code_of(language_of_study(campaign.study))):
        # as the entry page says it
        told = ngettext(
            "A research study of about %(minutes)s minute", "A research study of about %(minutes)s minutes", minutes
        ) % {"minutes": minutes}
    return f"{text} {told}." if len(text) + len(told) < _LONGEST else text


def entry_url(campaign: Campaign) -> str:
    """The entry page's address as the outside knows it."""
    return f"{settings.PUBLIC_URL}{reverse('recruitment:take', args=[campaign.entry])}"
