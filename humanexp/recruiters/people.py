"""Who somebody is to a recruiter, and lists of people who may not take part, as keyed hashes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from analysis.tables.reading import read_cells, text_of
from humanexp.core.errors import InputRefused, InvalidRequest, NotAllowed
from humanexp.core.models import User, record
from humanexp.core.names import pseudonym
from humanexp.core.sealing import pseudonym_key
from humanexp.participation.models import Session, SessionState, counting
from humanexp.participation.openings import participant_for, scripted_participant
from humanexp.recruiters import registry
from humanexp.recruiters.models import FROM, Assignment, Campaign, Exclusion, RecruitedPerson, id_here
from humanexp.recruiters.presets import presets
from humanexp.studies.models import Action, Study, StudyFamily
from humanexp.studies.permissions import may


def assignments_of(study: Study) -> QuerySet[Assignment]:
    of_study = Assignment.objects.filter(campaign__study=study)
    return of_study.select_related("person__participant", "session", "campaign", "hit")


def code_of(*, environment: str, worker_id: str, family: StudyFamily) -> str:
    """One code per person and family, the same in every environment that shares the person's worker id."""
    return pseudonym(pseudonym_key(), registry.kind_of(environment).namespace, family.slug, worker_id)


def exclusion_code(*, environment: str, worker_id: str) -> str:
    """A keyed hash, the same in every family and for all environments in which the worker id is the same person's."""
    namespace = registry.kind_of(environment).namespace
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
    presets = {site.preset for campaign in Campaign.objects.filter(study=study) if (site := campaign.site)}
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


def check_worker_id(environment: str, worker_id: str) -> str:
    """The id, if it has the form of one."""
    if not registry.kind_of(environment).person_id.fullmatch(worker_id):
        raise InvalidRequest("This link does not say who you are: open the study again from where you found it.")
    return worker_id


@transaction.atomic
def person_for(*, environment: str, worker_id: str, family: StudyFamily, scripted: bool = False) -> RecruitedPerson:
    """The person behind a worker id, known from now on by a code."""
    check_worker_id(environment, worker_id.rpartition(FROM)[2])
    known = RecruitedPerson.objects.filter(environment=environment, worker_id=worker_id, family=family)
    person = known.select_related("participant").first()
    if person is not None:
        return person
    if scripted:
        participant = scripted_participant(family=family)
    else:
        code = code_of(environment=environment, worker_id=worker_id, family=family)
        participant = participant_for(family=family, code=code)
    person, _ = RecruitedPerson.objects.get_or_create(
        environment=environment, worker_id=worker_id, family=family, defaults={"participant": participant}
    )
    return person


_CODE = re.compile(r"X-[0-9A-Z]{20}")


@dataclass(frozen=True, kw_only=True)
class ExclusionReport:
    added: int
    #: were on the list before
    known: int


@transaction.atomic
def exclude_people(
    *,
    family: StudyFamily,
    worker_ids: Iterable[str] = (),
    hashes: Iterable[str] = (),
    environment: str = "",
    note: str = "",
    by: User | None = None,
) -> ExclusionReport:
    """Add people by worker ids, which are hashed here and forgotten, or by hashes that another list gave.

    One entry that is neither refuses the whole list, by its number: an id is never repeated in a message.
    """
    codes = []
    for number, worker_id in enumerate(worker_ids, start=1):
        try:
            check_worker_id(environment, worker_id.strip())
            codes.append(exclusion_code(environment=environment, worker_id=worker_id.strip()))
        except (InvalidRequest, ValueError) as err:
            raise InvalidRequest(
                f"Line {number} is no worker id of {environment or 'any recruiter'}; nothing was added.",
                fields={"worker_ids": f"line {number}"},
            ) from err
    for number, code in enumerate(hashes, start=1):
        if not _CODE.fullmatch(code.strip()):
            raise InvalidRequest(
                f"Line {number} is no hash of a list of exclusions (X- and 20 letters); nothing was added.",
                fields={"hashes": f"line {number}"},
            )
        codes.append(code.strip())
    wanted = list(dict.fromkeys(codes))
    known = set(Exclusion.objects.filter(family=family, code__in=wanted).values_list("code", flat=True))
    Exclusion.objects.bulk_create(
        (
            Exclusion(family=family, code=code, note=note.strip()[:200], added_by=by)
            for code in wanted
            if code not in known
        ),
        ignore_conflicts=True,
    )
    report = ExclusionReport(added=len(wanted) - len(known), known=len(known))
    record(
        action="exclude",
        subject=f"family:{family.pk}",
        by=by,
        family=family.slug,
        added=report.added,
        known=report.known,
        note=note,
    )
    return report


def exclude_family(*, family: StudyFamily, other: StudyFamily, by: User | None = None) -> ExclusionReport:
    """Whoever took part in the other family so far may not take part in this one."""
    hashes = participant_hashes(other)
    return exclude_people(family=family, hashes=hashes, note=f"took part in {other.slug}", by=by)


@transaction.atomic
def lift_exclusion(*, exclusion: Exclusion, study: Study | None = None, by: User | None = None) -> None:
    """The person may take part in the family from now on. `study`: on whose page it was done; its record tells it.

    The list is the whole family's: who lifts must be allowed to launch every study of it.
    """
    if by is not None:
        for other in exclusion.family.studies.order_by("pk"):
            if not may(by, Action.LAUNCH, other):
                raise NotAllowed(
                    f"The list is also that of the study {other.slug}, in which your role does not allow this: ask "
                    "one of its owners."
                )
    record(
        action="lift-exclusion",
        subject=f"family:{exclusion.family_id}",
        study=study.slug if study else "",
        by=by,
        family=exclusion.family.slug,
        code=exclusion.code,
        note=exclusion.note,
    )
    exclusion.delete()


#: How columns of people's ids are called, letters and digits alone, beside the names that sites have for them.
_HEADER = re.compile(r".*(participantid|workerid)|pid|id|participant|worker")
#: Forms that large sites give their ids; where most of a list have one of them, all must.
_FORMS = (re.compile(r"[0-9a-f]{24}"), re.compile(r"A[A-Z0-9]{8,20}"))
_ANY = re.compile(r".*", re.DOTALL)
#: What a spreadsheet makes of a long number.
_ROUNDED = re.compile(r"\d([.,]\d+)?E\+\d+", re.IGNORECASE)


def ids_of(content: bytes, source: str) -> list[str]:
    """The ids of a list, in order, without its header.

    Raises
    ------
    InputRefused
        Naming the line: of a table without a column of ids, of a number that a spreadsheet has rounded, of what can
        only be a header. An id is never repeated in a message.
    TableRefused
        If it is no text.
    """
    lines = [line.strip() for line in text_of(content, source=source).splitlines() if line.strip()]
    if any(re.search(r"[,;|\t]", line) for line in lines):
        table = read_cells(content, source=source)
        named = [name for name in table.names if is_id_column(name)]
        if len(named) != 1:
            said = f"{' and '.join(named)} can both hold the ids" if named else "no column is known to hold ids"
            raise InputRefused(f"{source}: {said}. Keep one column: one id a line.")
        ids = [record[named[0]] for record in table.records()]
    else:
        ids = lines[1:] if lines and is_id_column(lines[0]) else lines
        is_word = len(ids) > 2 and not re.search(r"\d", ids[0]) and not any(form.fullmatch(ids[0]) for form in _FORMS)
        if is_word and all(re.search(r"\d", one) for one in ids[1:]):
            raise InputRefused(
                f"{source}, line 1: this seems to be a header, not an id. If it is one, remove the line; if it "
                "is an id, put it behind the others."
            )
    usual = next((form for form in _FORMS if 2 * sum(map(bool, map(form.fullmatch, ids))) > len(ids)), _ANY)
    for number, one in enumerate(ids, start=1):
        if not usual.fullmatch(one) and not _ROUNDED.fullmatch(one):
            raise InputRefused(f"{source}, id {number}: it has another form than the others. Correct or remove it.")
        if _ROUNDED.fullmatch(one):
            raise InputRefused(f"{source}, id {number}: a spreadsheet has rounded it. Export the list again as text.")
    return ids


def is_id_column(name: str) -> bool:
    """Whether a column of this name holds people's ids."""
    known = {_plain(site.parameters["person"]) for site in presets().values()}
    return _plain(name) in known or _HEADER.fullmatch(_plain(name)) is not None


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()
