"""Everything that is stored about one participant: told, deleted, or kept under a code once its id is erased."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Max, Q
from django.db.models.functions import Coalesce

from analysis.study.terms import PEOPLE_LISTS
from humanexp.core import clock, file_store
from humanexp.core.errors import Conflict, NotAllowed, NotFound
from humanexp.core.models import AuditEvent, User, record
from humanexp.core.names import random_code
from humanexp.core.personal_data import (
    WITHHELD,
    Table,
    empty_journal,
    files_naming,
    rename_in,
    rows_about,
    tables_about,
    written_out,
)
from humanexp.core.storage import media_path, relative_to_media
from humanexp.jobs.models import Job
from humanexp.ledger.models import Call, CallKind, Payment
from humanexp.participation.models import Participant, Response, Session
from humanexp.participation.tallies import drop_tallies
from humanexp.recruiters import registry
from humanexp.recruiters.campaigns import ethics_of
from humanexp.recruiters.models import Assignment, Campaign, Exclusion, RecruitedPerson
from humanexp.recruiters.people import exclusion_code
from humanexp.recruiters.states import UNFINISHED, UNSETTLED, AssignmentState, CampaignState
from humanexp.studies.models import Action, Study, StudyFamily
from humanexp.studies.permissions import may


@dataclass(frozen=True, kw_only=True)
class Holding:
    """A table with personal data."""

    #: name in the database
    table: str
    about: str
    fields: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PersonalData:
    """Of one participant: rows by table of the database, nearest to the person first."""

    code: str
    studies: tuple[Study, ...]
    rows: dict[str, list[dict[str, Any]]]

    @property
    def counts(self) -> list[tuple[str, int]]:
        return [(table, len(rows)) for table, rows in self.rows.items()]

    def to_dict(self) -> dict[str, Any]:
        return {
            "participant": self.code,
            "studies": [study.slug for study in self.studies],
            "withheld": sorted(WITHHELD),
            "tables": self.rows,
        }


def participants_called(code: str) -> list[Participant]:
    """Raises NotFound."""
    found = list(Participant.objects.filter(code=code).order_by("pk"))
    if not found:
        raise NotFound(f"There is no participant {code}.")
    return found


def studies_of(code: str) -> list[Study]:
    """The studies in which the person has a session."""
    return list(Study.objects.filter(sessions__participant__code=code).distinct().order_by("slug"))


def personal_data(code: str) -> PersonalData:
    """Everything that is stored about the person in the database. Raises NotFound."""
    participants = participants_called(code)
    found = rows_about(Participant.objects.filter(pk__in=[one.pk for one in participants]))
    rows = {table._meta.db_table: written_out(table, keys) for table, keys in found.items()}
    subjects = [f"participant:{code}", *(f"session:{session['code']}" for session in rows.get(_SESSIONS, []))]
    told = AuditEvent.objects.filter(Q(subject__in=subjects)).values_list("pk", flat=True)
    if told:
        rows[AuditEvent._meta.db_table] = written_out(AuditEvent, list(told))
    return PersonalData(code=code, studies=tuple(studies_of(code)), rows=rows)


_SESSIONS = "experiments_session"


def holdings() -> dict[str, list[Holding]]:
    """Tables about participants, and tables about the people who use the console."""
    participants = tables_about(Participant)
    users = [table for table in tables_about(User) if table not in participants]
    return {
        "participants": [_holding(table) for table in participants],
        "accounts": [_holding(table) for table in users if _names_user(table)],
    }


def _names_user(table: Table) -> bool:
    return table is User or any(field.related_model is User for field in table._meta.concrete_fields)


def _holding(table: Table) -> Holding:
    about = (inspect.getdoc(table) or "").partition("\n")[0]
    if about.startswith(f"{table.__name__}("):  # Django's own: the list of fields
        about = str(table._meta.verbose_name)
    fields = tuple(field.name for field in table._meta.concrete_fields if not field.primary_key)
    return Holding(table=table._meta.db_table, about=about, fields=fields)


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
    if owed.exclude(registry.at(vouches=False)).exists() or waiting.exists() or refusals.exists():
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
    for row in Assignment.objects.filter(registry.at(vouches=False), person__participant__code=code):
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
