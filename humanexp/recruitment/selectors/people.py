"""Who may take part, who may not, who may be let back in, and who can be written to."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from humanexp.core import clock
from humanexp.core.fingerprints import Stored, pseudonym_key
from humanexp.core.keys import pseudonym
from humanexp.participation.models import Session, SessionState, counting
from humanexp.recruitment import recruiters
from humanexp.recruitment.models import Assignment, Exclusion, LinkTerms, RecruitedPerson, WayBack, id_here
from humanexp.recruitment.selectors.payments import assignments_of
from humanexp.recruitment.states import LISTED, AssignmentState
from humanexp.studies.models import Study, StudyFamily


def code_of(*, environment: str, worker_id: str, family: StudyFamily) -> str:
    """One code per person and family, the same in every environment that shares the person's worker id."""
    return _code(pseudonym_key(), environment, worker_id, family.slug)


def _code(key: str, environment: str, worker_id: str, family: str) -> str:
    return pseudonym(key, recruiters.kind_of(environment).namespace, family, worker_id)


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
    namespace = recruiters.kind_of(environment).namespace
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


#: Groups of people who can be written to, by where they stand.
RECIPIENTS = {
    "everybody": Q(),
    "opened": Q(state=AssignmentState.OPENED),
    "listed": Q(state__in=LISTED),
}


def reachable(study: Study, group: str) -> QuerySet[Assignment]:
    """One assignment of every person of a group whom a recruiter can write to."""
    mine = Assignment.objects.filter(RECIPIENTS[group], campaign__study=study, person__isnull=False)
    mine = mine.exclude(recruiters.at(messages=False))
    # the latest: a person may have returned an earlier one
    latest = mine.order_by("person", "-pk").values_list("person", "pk")
    newest: dict[int, int] = {}
    for person, pk in latest:
        newest.setdefault(person, pk)
    return Assignment.objects.filter(pk__in=newest.values()).order_by("pk")


def named_in(rows: QuerySet[Assignment], said: Collection[str]) -> dict[str, Assignment]:
    """Whom of these each word means, by the word in capitals: an id of the recruiter, a submission's, or the code of a
    participant or session. Of several assignments of one person, the latest."""
    wanted = {*said, *(one.upper() for one in said)}
    fields = ("person__worker_id", "person__participant__code", "session__code", "assignment_id")
    found: dict[str, int] = {}
    for field in fields:
        for name, pk in rows.filter(**{f"{field}__in": wanted}).order_by("pk").values_list(field, "pk"):
            found[name.upper()] = pk
    known = rows.in_bulk(list(set(found.values())))
    return {name: known[pk] for name, pk in found.items()}


def assignment_of_person(study: Study, said: str) -> Assignment | None:
    """By an id of the recruiter or site, of the person or their submission, or the code of a participant or session.

    The one under way first, then the latest.
    """
    presets = set(LinkTerms.objects.filter(campaign__study=study).values_list("preset", flat=True))
    mine = assignments_of(study).filter(
        Q(person__worker_id__in=[said, *(id_here(preset, said) for preset in presets)])
        | Q(assignment_id=said)
        | Q(person__participant__code=said.upper())
        | Q(session__code=said.upper())
    )
    under_way = Case(When(session__state=SessionState.OPEN, then=Value(0)), default=1, output_field=IntegerField())
    return mine.order_by(under_way, "-pk").first()


def assignment_of(session: Session) -> Assignment | None:
    """Under which assignment a session was begun; of one that was begun anew, that of the session beside it."""
    taken = Assignment.objects.filter(Q(session=session) | Q(session=session.rival_of_id, session__isnull=False))
    return taken.select_related("hit", "person", "campaign").first()


def open_ways_back(assignment: Assignment) -> list[WayBack]:
    """Those that still let somebody in."""
    now = clock.now()
    ways = assignment.ways_back.filter(expires_at__gt=now, revoked_at=None)
    return [way for way in ways.select_related("made_by", "assignment__campaign") if way.is_open(now)]


def may_be_let_in(assignment: Assignment) -> bool:
    return assignment.session is not None and assignment.session.state == SessionState.OPEN
