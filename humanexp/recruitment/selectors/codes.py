"""Completion codes that people send in: whose they are, if anybody's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from humanexp.participation.credentials import completion_codes
from humanexp.participation.models import Session
from humanexp.recruitment.models import Assignment
from humanexp.studies.models import Study

#: Codes that are looked up at once.
MOST_CODES = 500


@dataclass(frozen=True, kw_only=True)
class FoundCode:
    """A code as it was sent in, and the finished session that it belongs to; None where it is nobody's."""

    code: str
    session: Session | None = None
    #: under which the session was recruited, where that is known
    assignment: Assignment | None = None

    @property
    def given_id(self) -> str:
        """The id by which a link named the person, if it did: whoever sent them knows them by it."""
        row = self.assignment
        return (
            row.person.given_id
            if row is not None and row.person is not None and not row.campaign.capabilities.vouches
            else ""
        )


def codes_in(text: str) -> list[str]:
    """What was typed or pasted, one after the other, each once; codes are read out in small letters, too."""
    return list(dict.fromkeys(part.upper() for part in re.split(r"[\s,;]+", text) if part))


def find_codes(study: Study, codes: Sequence[str]) -> list[FoundCode]:
    """In the order given. Codes are stored nowhere: those of the study's finished sessions are reckoned anew."""
    wanted = set(codes)
    finished = Session.objects.filter(study=study, completed_at__isnull=False).select_related("participant")
    sessions = {
        code: session for session in finished.iterator() for code in completion_codes(session.code) if code in wanted
    }
    held = Assignment.objects.filter(session__in=list(sessions.values())).select_related("campaign", "person")
    assignments = {assignment.session_id: assignment for assignment in held.order_by("pk")}
    return [
        FoundCode(code=code, session=session, assignment=assignments.get(session.pk) if session else None)
        for code, session in ((code, sessions.get(code)) for code in codes)
    ]
