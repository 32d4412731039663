from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import connection, transaction

from analysis.spec.terms import PEOPLE_LISTS
from humanexp.core import file_store
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, NotAllowed
from humanexp.core.keys import random_code
from humanexp.core.models import User
from humanexp.core.storage import media_path, relative_to_media
from humanexp.core.traces import empty_journal, files_naming, rename_in
from humanexp.jobs.models import Job
from humanexp.participation.models import Participant, Response, Session
from humanexp.participation.tallies import drop_tallies
from humanexp.recruitment import recruiters
from humanexp.recruitment.models import Assignment, Call, CallKind, Campaign, Payment, RecruitedPerson
from humanexp.recruitment.selectors.personal_data import PersonalData, participants_called, personal_data, studies_of
from humanexp.recruitment.states import UNFINISHED, UNSETTLED, AssignmentState
from humanexp.studies.models import Study
from humanexp.studies.permissions import may
from humanexp.studies.roles import Action

#: Findings of analyses, below MEDIA_ROOT.
_RESULTS = "results"
#: Folders there in which files name participants.
_NAMING = (_RESULTS, "tallies")
#: What a job was about, once that is gone.
_DELETED = "session:deleted"


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """What goes, or went, with a participant; payments stay in the books without the person."""

    code: str
    sessions: int
    answers: int
    worker_ids: int
    payments_kept: int
    #: stored results, relative to MEDIA_ROOT, in which the person has a name that leads nowhere now
    renamed_in: tuple[str, ...] = ()
    #: other files there that still hold a code of theirs
    left_in: tuple[str, ...] = ()
    #: the database's journal was emptied; False where somebody was reading it
    is_journal_empty: bool = True


def what_goes(*, code: str) -> Deletion:
    """What `delete_participant` would remove. Raises NotFound."""
    participants = participants_called(code)
    return Deletion(
        code=code,
        sessions=sum(participant.sessions.count() for participant in participants),
        answers=Response.objects.filter(session__participant__in=participants).count(),
        worker_ids=RecruitedPerson.objects.filter(participant__in=participants).count(),
        payments_kept=Payment.objects.filter(assignment__person__participant__in=participants).count(),
    )


@transaction.atomic
def take_personal_data(*, code: str, study: Study | None = None, by: User | None = None) -> PersonalData:
    """Everything that is stored about a person, to be handed to them; the record says who took it. Raises NotFound."""
    data = personal_data(code)
    _check_may(by, Action.EXPORT, data.studies)
    subject = f"participant:{code}"
    record(action="take-personal-data", subject=subject, study=study.slug if study else "", by=by)
    return data


def _check_may(by: User | None, action: Action, studies: Sequence[Study]) -> None:
    """A person of several studies is not one member's affair: their role must allow it in each of them."""
    if by is None:
        return
    for study in studies:
        if not may(by, action, study):
            raise NotAllowed(f"The person also took part in {study.slug}, in which your role does not allow this.")


def delete_participant(*, code: str, by: User | None = None) -> Deletion:
    """Remove a person: worker ids, sessions, answers, verdicts. The ledger keeps what was paid, to nobody by name.

    Refused while money is owed: a person who is deleted cannot be paid. A member must be an owner of every study in
    which the person took part. Stored results keep their numbers and name the
    person otherwise. Never call it in a transaction: the journal of the database is emptied at the end.
    """
    _check_may(by, Action.MEMBERS, studies_of(code))
    codes = [code, *Session.objects.filter(participant__code=code).values_list("code", flat=True)]
    file_store.bring(*_NAMING)  # whoever cannot have them deletes nobody
    deletion = _delete_rows(code=code, by=by)
    is_journal_empty = connection.in_atomic_block or empty_journal()
    renamed, left = _clean_files(codes)
    return replace(deletion, renamed_in=renamed, left_in=left, is_journal_empty=is_journal_empty)


def _clean_files(codes: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    renamed: list[str] = []
    left: list[str] = []
    names = {code: random_code(f"D{code[0]}", length=len(code) - 3) for code in codes}
    for path in files_naming(codes):
        is_result = path.suffix == ".json" and path.is_relative_to(media_path(_RESULTS))
        if is_result:
            rename_in(path, names)
            file_store.publish(relative_to_media(path))
        (renamed if is_result else left).append(relative_to_media(path))
    return tuple(renamed), tuple(left)


def why_not_yet(code: str) -> str:
    """What keeps the person here; empty where nothing does. Who is deleted, or whose id is erased, cannot be paid."""
    owed = Assignment.objects.filter(person__participant__code=code, state=AssignmentState.SUBMITTED)
    waiting = Payment.objects.filter(assignment__person__participant__code=code, state__in=UNSETTLED)
    refusals = Call.objects.filter(
        kind=CallKind.REJECT, assignment__person__participant__code=code, state__in=UNFINISHED
    )
    # Nobody is owed anything through a recruiter that pays nobody.
    if owed.exclude(recruiters.at(pays=False)).exists() or waiting.exists() or refusals.exists():
        return f"{code} has not been paid yet: run settle and sync first, then delete."
    return ""


@transaction.atomic
def _delete_rows(*, code: str, by: User | None) -> Deletion:
    deletion = what_goes(code=code)
    if why := why_not_yet(code):
        raise Conflict(why)
    forget_ids_of_sites(code)
    for participant in Participant.objects.filter(code=code):
        RecruitedPerson.objects.filter(participant=participant).delete()
        for study in Study.objects.filter(sessions__participant=participant).distinct():
            drop_tallies(study=study)  # they hold participants' codes
        subjects = [f"session:{session}" for session in participant.sessions.values_list("code", flat=True)]
        Job.objects.filter(subject__in=subjects).update(subject=_DELETED)
        participant.sessions.all().delete()
        participant.delete()
    record(
        action="delete-participant",
        subject=f"participant:{code}",
        by=by,
        sessions=deletion.sessions,
        answers=deletion.answers,
    )
    return deletion


def forget_ids_of_sites(code: str) -> None:
    """The id of a participation is the site's name for a person; lists of whom a launch is for may name them, too."""
    for person in RecruitedPerson.objects.filter(participant__code=code):
        _leave_lists(person)
    for row in Assignment.objects.filter(recruiters.at(vouches=False), person__participant__code=code):
        row.assignment_id = secrets.token_urlsafe(12)
        row.save(update_fields=["assignment_id"])


def _leave_lists(person: RecruitedPerson) -> None:
    """Campaigns that were open to people of a list, or to all but them, keep the rest of it."""
    for campaign in Campaign.objects.filter(environment=person.environment):
        asked = campaign.asks_for
        kept = {name: tuple(one for one in getattr(asked, name) if one != person.worker_id) for name in PEOPLE_LISTS}
        if any(kept[name] != getattr(asked, name) for name in PEOPLE_LISTS):
            campaign.requirements = asked.model_copy(update=kept).to_dict()
            campaign.save(update_fields=["requirements"])
