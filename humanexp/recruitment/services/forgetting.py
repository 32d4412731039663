"""Ids of people are erased some time after their last session; what they answered stays, under a code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Max
from django.db.models.functions import Coalesce

from analysis.spec.terms import PEOPLE_LISTS
from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict
from humanexp.core.models import User
from humanexp.core.traces import empty_journal
from humanexp.participation.models import Session
from humanexp.recruitment.consent import ethics_of
from humanexp.recruitment.models import Campaign, Exclusion, RecruitedPerson
from humanexp.recruitment.selectors.people import exclusion_code
from humanexp.recruitment.services.deleting import forget_ids_of_sites, why_not_yet
from humanexp.recruitment.states import CampaignState
from humanexp.studies.models import StudyFamily

#: What stands beside the keyed hash that is left of an erased id, so that nobody takes part twice.
NOTE = "took part; the id is erased"


@dataclass(frozen=True, kw_only=True)
class Forgetting:
    """Whose ids go, or went, and whose stay."""

    #: ids that are old enough, and nothing keeps them
    erased: int = 0
    #: old enough, but something is owed to their people
    owed: int = 0
    #: their people were here later than that
    recent: int = 0
    #: the database's journal was emptied; False where somebody was reading it
    is_journal_empty: bool = True


def forget_ids(*, family: StudyFamily, days: int, dry_run: bool = False, by: User | None = None) -> Forgetting:
    """Erase the ids of people whose last session in the family was so many days ago.

    A keyed hash of each id stays, by which the person is still known as somebody who took part. Refused while a study
    of the family recruits: who may come back would not be let in. Never call it in a transaction.
    """
    if Campaign.objects.filter(study__family=family, state=CampaignState.LIVE).exists():
        raise Conflict(f"{family.slug} still recruits: stop it first, then its people's ids can be erased.")
    before = clock.now() - timedelta(days=days)
    erased = owed = recent = 0
    for person in RecruitedPerson.objects.filter(family=family).select_related("participant").order_by("pk"):
        # By our own clock: `submitted_at` is the recruiter's word, and an id must neither go early nor stay for ever.
        seen = Session.objects.filter(participant=person.participant).aggregate(
            last=Max(Coalesce("last_seen_at", "opened_at"))
        )["last"]
        if max(seen or person.created_at, person.created_at) >= before:
            recent += 1
        elif why_not_yet(person.participant.code):
            owed += 1
        else:
            erased += 1
            if not dry_run:
                _forget(person)
    if not dry_run:
        _forget_lists(family, before)
    done = Forgetting(erased=erased, owed=owed, recent=recent)
    if dry_run or not erased:
        return done
    record(action="forget-ids", subject=f"family:{family.pk}", by=by, family=family.slug, erased=erased, days=days)
    return replace(done, is_journal_empty=connection.in_atomic_block or empty_journal())


def _forget_lists(family: StudyFamily, before: datetime) -> None:
    """Of people whom a campaign was open to, or closed to; most of them never came, and have no row of their own."""
    for campaign in Campaign.objects.filter(study__family=family, launched_at__lt=before):
        kept = {name: asked for name, asked in campaign.requirements.items() if name not in PEOPLE_LISTS}
        if kept != campaign.requirements:
            campaign.requirements = kept
            campaign.save(update_fields=["requirements"])


@transaction.atomic
def _forget(person: RecruitedPerson) -> None:
    if not person.participant.is_scripted:
        code = exclusion_code(environment=person.environment, worker_id=person.worker_id)
        Exclusion.objects.get_or_create(family_id=person.family_id, code=code, defaults={"note": NOTE})
    forget_ids_of_sites(person.participant.code)
    person.delete()


def forget_by_policies() -> list[tuple[str, Forgetting]]:
    """Erase what is due in families whose studies all say after how many days; the longest of these counts."""
    done = []
    for family in StudyFamily.objects.order_by("pk"):
        days = [ethics_of(study).ids_kept_days for study in family.studies.all()]
        is_due = bool(days) and all(days) and RecruitedPerson.objects.filter(family=family).exists()
        if is_due and not Campaign.objects.filter(study__family=family, state=CampaignState.LIVE).exists():
            done.append((family.slug, forget_ids(family=family, days=max(days))))
    return done
