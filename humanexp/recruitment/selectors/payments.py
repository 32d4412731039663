from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from humanexp.core import clock
from humanexp.recruitment import recruiters
from humanexp.recruitment.models import (
    Assignment,
    Call,
    CallKind,
    Campaign,
    Payment,
    RecruiterAccount,
)
from humanexp.recruitment.models.campaigns import UNMATCHED
from humanexp.recruitment.states import UNSETTLED, AssignmentState, WriteState
from humanexp.studies.models import Study

#: Not confirmed: on their way, or refused and waiting for a person.
UNCONFIRMED = (*UNSETTLED, WriteState.REFUSED)


def account_of(environment: str) -> RecruiterAccount | None:
    """The account with a recruiter as it was last seen, if the balance was ever asked for."""
    return RecruiterAccount.objects.filter(environment=environment, balance_cents__isnull=False).first()


def assignments_of(study: Study) -> QuerySet[Assignment]:
    of_study = Assignment.objects.filter(campaign__study=study)
    return of_study.select_related("person__participant", "session", "campaign", "hit")


def unmatched(*studies: Study) -> QuerySet[Assignment]:
    """Submissions that a person has to look at."""
    is_waited_for = Q(return_due_at__isnull=False, return_due_at__gt=clock.now())
    found = _submitted(studies, Q(evidence__in=UNMATCHED, cleared_at=None) & ~is_waited_for)
    return found.select_related("person__participant", "session", "campaign")


def waiting_payments(*studies: Study) -> QuerySet[Payment]:
    """Promised and not confirmed, oldest first; refused ones too, because they wait for a person."""
    # few among many: with the environment, the index of the outbox finds them
    unconfirmed = _payments(studies).filter(recruiters.at(), state__in=UNCONFIRMED)
    return unconfirmed.order_by("created_at", "pk")


def ledger(study: Study, *, state: str = "", kind: str = "", query: str = "") -> QuerySet[Payment]:
    """Newest first; `query` is looked for in codes, causes and reasons."""
    found = _listed(_one_by_one(study))
    if state:
        found = found.filter(state=state)
    if kind:
        found = found.filter(kind=kind)
    if query:
        found = found.filter(
            Q(assignment__person__participant__code__icontains=query)
            | Q(cause__icontains=query)
            | Q(reason__icontains=query)
        )
    return found


def latest_payments(study: Study, count: int) -> list[Payment]:
    """The newest rows of the ledger."""
    return list(_listed(_one_by_one(study))[:count])


def ledger_rows(study: Study, *, state: str = "", kind: str = "", query: str = "") -> Iterator[dict[str, Any]]:
    """The same as columns for a file, the oldest first; people by their codes, never by worker ids."""
    for payment in ledger(study, state=state, kind=kind, query=query).order_by("pk").iterator(chunk_size=500):
        person = payment.assignment.person
        yield {
            "row": payment.pk,
            "environment": payment.environment,
            "kind": payment.kind,
            "cause": payment.cause,
            "participant": person.participant.code if person else "",
            "amount_cents": payment.amount_cents,
            "fee_cents": payment.fee_cents,
            "tax_cents": payment.tax_cents,
            "currency": payment.currency,
            "state": payment.state,
            "planned_at": payment.created_at,
            "confirmed_at": payment.confirmed_at,
            "reason": payment.reason,
        }


def notices(study: Study) -> QuerySet[Call]:
    """Messages to people, newest first."""
    sent = Call.objects.filter(kind=CallKind.MESSAGE, campaign__study=study).order_by("-pk")
    return sent.select_related("assignment__person__participant", "created_by")


def _submitted(studies: Collection[Study], which: Q) -> QuerySet[Assignment]:
    of_study = Assignment.objects.filter(campaign__in=Campaign.objects.filter(study__in=studies))
    found = of_study.filter(which, state=AssignmentState.SUBMITTED).exclude(recruiters.at(pays=False))
    # few among many: by their keys, which an index tells
    return Assignment.objects.filter(pk__in=found)


def _payments(studies: Collection[Study]) -> QuerySet[Payment]:
    rows = Payment.objects.filter(campaign__study__in=studies)
    return rows.select_related("assignment", "assignment__person__participant", "campaign")


def _listed(payments: QuerySet[Payment]) -> QuerySet[Payment]:
    """Newest first, with what a page or a file says of each, and no more."""
    return payments.select_related("assignment__person__participant").only(*_LISTED).order_by("-pk")


_LISTED = (
    "environment", "kind", "cause", "amount_cents", "fee_cents", "tax_cents", "state", "last_error", "created_at",
    "confirmed_at", "reason", "assignment__person__participant__code",
)  # fmt: skip


def _one_by_one(study: Study) -> QuerySet[Payment]:
    """Each payment's campaign looked up: in the order of their keys, a page of them ends the search."""
    return Payment.objects.filter(Exists(Campaign.objects.filter(pk=OuterRef("campaign"), study=study)))
