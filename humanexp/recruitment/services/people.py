"""Who somebody is to a recruiter, and lists of people who may not take part, as keyed hashes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest, NotAllowed
from humanexp.core.models import User
from humanexp.participation import services as participation
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Exclusion, RecruitedPerson
from humanexp.recruitment.models.people import FROM
from humanexp.recruitment.recruiters import kind_of
from humanexp.recruitment.selectors.people import code_of
from humanexp.studies.models import Study, StudyFamily
from humanexp.studies.permissions import may
from humanexp.studies.roles import Action


def check_worker_id(environment: str, worker_id: str) -> str:
    """The id, if it has the form of one."""
    if not kind_of(environment).person_id.fullmatch(worker_id):
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
        participant = participation.scripted_participant(family=family)
    else:
        code = code_of(environment=environment, worker_id=worker_id, family=family)
        participant = participation.participant_for(family=family, code=code)
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
            codes.append(selectors.exclusion_code(environment=environment, worker_id=worker_id.strip()))
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
    hashes = selectors.participant_hashes(other)
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
