"""Who may take part, and who may not."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from humanexp.core.fingerprints import Stored, pseudonym_key
from humanexp.core.keys import pseudonym
from humanexp.experiments.counting import counting
from humanexp.experiments.models import Session, StudyFamily
from humanexp.recruitment.models import (
    WORKER_NAMESPACE,
    Campaign,
    Environment,
    Exclusion,
    GrantKind,
    Purpose,
    QualificationType,
    QualificationWrite,
    RecruitedPerson,
)
from humanexp.recruitment.states import WriteState


def code_of(*, environment: str, worker_id: str, family: StudyFamily) -> str:
    """One code per person and family, the same in every environment that shares the person's worker id."""
    return _code(pseudonym_key(), environment, worker_id, family.slug)


def _code(key: str, environment: str, worker_id: str, family: str) -> str:
    return pseudonym(key, WORKER_NAMESPACE[Environment(environment)], family, worker_id)


def stored_codes(key: str) -> Stored:
    """Every participant's code computed again from the worker id that is kept of them."""
    people = RecruitedPerson.objects.filter(participant__is_scripted=False)
    rows = people.values_list("environment", "worker_id", "family__slug", "participant__code")
    alike = [_code(key, *of_person) == code for *of_person, code in rows.iterator()]
    return Stored(
        alike=sum(alike), otherwise=len(alike) - sum(alike), beyond_proof=Exclusion.objects.values("code").count()
    )


def exclusion_code(*, environment: str, worker_id: str) -> str:
    """A keyed hash, the same in every family and for all environments in which the worker id is the same person's."""
    namespace = WORKER_NAMESPACE[Environment(environment)]
    return pseudonym(pseudonym_key(), "exclusion", namespace, worker_id, prefix="X", length=20)


def exclusions(family: StudyFamily, query: str = "") -> QuerySet[Exclusion]:
    """Who is on the family's list; `query` is looked for in codes and notes."""
    found = Exclusion.objects.filter(family=family).select_related("added_by", "family")
    return found.filter(Q(code__icontains=query) | Q(note__icontains=query)) if query else found


def is_excluded(family: StudyFamily, *, environment: str, worker_id: str) -> bool:
    return exclusions(family).filter(code=exclusion_code(environment=environment, worker_id=worker_id)).exists()


def took_part(family: StudyFamily) -> QuerySet[RecruitedPerson]:
    """People with a session of the family that counts: not those in whose name somebody has begun."""
    held = Session.objects.filter(counting(), participant__family=family)
    return RecruitedPerson.objects.filter(family=family, participant__in=held.values("participant"))


def participant_hashes(family: StudyFamily) -> list[str]:
    """Everybody who took part, as a list to exclude them by elsewhere; sorted, so that it tells no order."""
    people = took_part(family).values_list("environment", "worker_id")
    return sorted({exclusion_code(environment=environment, worker_id=worker) for environment, worker in people})


def has_passed(campaign: Campaign, worker_id: str) -> bool:
    """Whether the worker holds the family's qualification, as we have granted it."""
    held = QualificationType.objects.filter(
        environment=campaign.environment, family=campaign.study.family, purpose=Purpose.PASSED
    )
    last = (
        QualificationWrite.objects.filter(qualification__in=held, person__worker_id=worker_id)
        .exclude(state=WriteState.REFUSED)
        .order_by("-pk")
        .first()
    )
    return last is not None and last.kind == GrantKind.GRANT
