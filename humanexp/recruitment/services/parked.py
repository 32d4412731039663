"""What a person decides about bonuses of which nothing shows whether they were paid."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.jobs import services as jobs
from humanexp.recruitment.models import Payment
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.states import WriteState, advance
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action


@transaction.atomic
def pay_again(*, study: Study, payments: Collection[int], note: str, by: User) -> int:
    """Send these once more. The recruiter is asked before: what shows after all is not sent."""
    rows = _parked(study, payments, note, by)
    for row in rows:
        advance(row, WriteState.PLANNED, last_error="", first_sent_at=None, missed_at=None, ask_first=False)
        _record("pay-again", row, note, by)
    for environment in sorted({row.environment for row in rows}):
        request_sending(environment=environment)
    return len(rows)


@transaction.atomic
def found_paid(*, study: Study, payments: Collection[int], note: str, by: User) -> int:
    """Somebody has seen elsewhere that these were paid."""
    rows = _parked(study, payments, note, by)
    for row in rows:
        facts = {"confirmed_at": clock.now(), "look_at": None, "last_error": "", "missed_at": None}
        advance(row, WriteState.CONFIRMED, **facts, ask_first=False)
        _record("found-paid", row, note, by)
    return len(rows)


@transaction.atomic
def look_again(*, study: Study, by: User) -> None:
    """Have the recruiter asked now about everything of the study that is not proved."""
    permissions.check(by, Action.PAY, study)
    unproved = Payment.objects.filter(look_at__isnull=False, campaign__study=study)
    environments = set(unproved.values_list("environment", flat=True))
    unproved.update(look_at=clock.now())
    for environment in sorted(environments):
        jobs.submit("recruitment.send", subject=f"recruiter:{environment}", by=by, environment=environment)


def _parked(study: Study, payments: Collection[int], note: str, by: User) -> list[Payment]:
    permissions.check(by, Action.PAY, study)
    if not payments:
        raise InvalidRequest("Tick at least one bonus.", fields={"payments": "none is ticked"})
    if not note.strip():
        raise InvalidRequest("Write down why; it stays with the payment.", fields={"note": "a reason"})
    rows = list(Payment.objects.select_for_update().filter(campaign__study=study, pk__in=payments).order_by("pk"))
    if len(rows) != len(set(payments)) or any(row.state != WriteState.PARKED for row in rows):
        raise Conflict("Some of these do not wait for a person any more; nothing was changed. Look at them again.")
    return rows


def _record(action: str, row: Payment, note: str, by: User) -> None:
    study = row.campaign.study.slug
    facts = {"cents": row.amount_cents, "attempts": row.attempts, "note": note.strip()}
    record(action=action, subject=f"payment:{row.pk}", study=study, by=by, **facts)
