"""What no document of Prolific tells, read from a study of ours. Nothing is changed, and nobody is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from humanexp.core.errors import RecruiterError
from humanexp.recruiters.prolific.client import ProlificClient
from humanexp.recruiters.prolific.replies import FINAL, SubmissionInList

#: Words that the published interface does not name for the list; refused only if it is enforced.
UNNAMED_STATUS, UNNAMED_ORDERING = "RESERVED", "-completed_at"
ORDERING = "-started_at"


def findings_of(client: ProlificClient, *, workspace: str, study: str, no_consent: str) -> dict[str, Any]:
    """By name; None where nobody has done yet what would tell. `no_consent`: the code of who does not agree."""
    rows = [row for page in client.latest_submissions(study) for row in page]
    return {
        "currency_code": client.balance(workspace).currency_code,
        "status_words_taken": {word: _takes(client, study, status=word) for word in sorted(FINAL)},
        "other_status_words_refused": not _takes(client, study, status=UNNAMED_STATUS),
        "ordering_taken": _takes(client, study, ordering=ORDERING),
        "other_orderings_refused": not _takes(client, study, ordering=UNNAMED_ORDERING),
        "order_of_list": _order([row for row in rows if row.status != "RESERVED"]),
        "bonuses_in_list": _lists_bonuses(client, study),
        "after_no_consent": _after(no_consent, rows),
    }


def _takes(client: ProlificClient, study: str, **query: str) -> bool:
    return client.takes_query(study, {name: value.replace(" ", "_") for name, value in query.items()})


def _order(rows: Sequence[SubmissionInList]) -> str | None:
    began = [row.started_at for row in rows if row.started_at is not None]
    if len(set(began)) < 2:
        return None
    if began == sorted(began, reverse=True):
        return "latest first"
    return "oldest first" if began == sorted(began) else "neither"


def _lists_bonuses(client: ProlificClient, study: str) -> bool | None:
    try:
        rows = client.bonuses_in_list(study)
    except RecruiterError:
        return False
    return all(row.bonus_payments is not None for row in rows) if rows else None


def _after(code: str, rows: Sequence[SubmissionInList]) -> Mapping[str, Any] | None:
    """What became of the first who came back with the code for not agreeing."""
    row = next((one for one in rows if code and one.study_code == code), None)
    return None if row is None else {"status": row.status, "return_requested": row.return_requested is not None}
