"""Everything that is stored about one participant, and in which tables such data lie."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from humanexp.core.errors import NotFound
from humanexp.core.models import AuditEvent, User
from humanexp.core.personal_data import WITHHELD, Table, rows_about, tables_about, written_out
from humanexp.participation.models import Participant
from humanexp.studies.models import Study


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
