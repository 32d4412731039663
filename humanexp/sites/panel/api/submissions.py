"""Submissions, approvals and bonuses."""

from __future__ import annotations

import csv
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db.models import Count, F, QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpResponse, JsonResponse

from humanexp.sites.panel import wallet
from humanexp.sites.panel.actions import (
    approve_soon,
    request_return as submissions_request_return,
    transition as submissions_transition,
)
from humanexp.sites.panel.api.bodies import Bonuses, BulkApproval, SubmissionAction
from humanexp.sites.panel.api.protocol import Call, created, endpoint, iso, listed, numbered_page, shown_status
from humanexp.sites.panel.errors import invalid
from humanexp.sites.panel.models import BonusPlan, Study, Submission, Switches
from humanexp.sites.panel.states import SubmissionOrder, SubmissionStatus
from humanexp.sites.panel.studies import one, study_of, submission_of, submissions_of

#: PARTIALLY APPROVED and SCREENED OUT belong to features that the panel's workspaces do not have.
_COUNTED = [
    *(status for status in SubmissionStatus if status is not SubmissionStatus.PROCESSING),
    "PARTIALLY APPROVED",
    "SCREENED OUT",
]
#: What is the same for all submissions to a study has no column.
_COLUMNS: dict[str, Any] = {
    "started_at": Coalesce("started_at", "reserved_at"),
    "completed_at": F("completed_at"),
    "status": F("status"),
    "ip": F("participant__ip"),
    "time_taken": F("completed_at") - F("started_at"),
    "participant_id": F("participant__participant_id"),
    "study_code": F("entered_code"),
    "changed_at": Coalesce("completed_at", "started_at", "reserved_at"),
}
_ORDERS: dict[str, str] = {
    SubmissionOrder.OLDEST_FIRST: "started_at",
    SubmissionOrder.NEWEST_FIRST: "-started_at",
    SubmissionOrder.FIRST_CHANGED_FIRST: "changed_at",
    SubmissionOrder.LAST_CHANGED_FIRST: "-changed_at",
}


def _listed_json(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.submission_id,
        "participant_id": submission.participant.participant_id,
        "status": shown_status(submission.status),
        "started_at": iso(submission.started_at or submission.reserved_at),
        "completed_at": iso(submission.completed_at),
        "has_siblings": False,
        "study_code": submission.entered_code,
        "return_requested": submission.return_requested,
    }


def _bonuses(submission: Submission) -> list[int]:
    """Cents, and nothing else: neither when, nor why, nor by which plan."""
    paid = submission.payments.filter(plan__isnull=False, paid_at__isnull=False)
    return list(paid.order_by("paid_at", "pk").values_list("amount_cents", flat=True))


def _json(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.submission_id,
        "participant": submission.participant.participant_id,
        "study_id": submission.study.study_id,
        "parent_study_id": None,
        "status": shown_status(submission.status),
        "started_at": iso(submission.started_at or submission.reserved_at),
        "completed_at": iso(submission.completed_at),
        "entered_code": submission.entered_code,
        "bonus_payments": _bonuses(submission),
        "return_requested": submission.return_requested,
    }


def _telltale_json(submission: Submission) -> dict[str, Any]:
    """One list of the service also says who a person is and where they sit. Clients must drop that."""
    person = submission.participant
    began, ended = submission.started_at, submission.completed_at
    return {
        **_listed_json(submission),
        "time_taken": (ended - began).total_seconds() if began and ended else None,
        **({"bonus_payments": _bonuses(submission)} if Switches.current().lists_bonuses else {}),
        "reward": submission.study.reward_cents,
        "ip": person.ip,
        "strata": {"date of birth": person.born_on.isoformat(), "sex": person.sex, "ethnicity": person.ethnicity},
    }


def _submissions(call: Call) -> dict[str, Any]:
    rows = submissions_of(call.researcher).filter(study=study_of(call.researcher, call.query("study")))
    return numbered_page(call, _by_order(call, _of_status(call, rows)), _listed_json)


def _of_status(call: Call, rows: QuerySet[Submission]) -> QuerySet[Submission]:
    wanted = call.query("status").upper().replace("_", " ")
    return rows.filter(status=wanted) if wanted else rows


def _by_order(call: Call, rows: QuerySet[Submission]) -> QuerySet[Submission]:
    """As asked for; one of the switches has that ignored."""
    wanted = _ORDERS.get(Switches.current().submission_order) or call.query("ordering")
    column = _COLUMNS.get(wanted.removeprefix("-"), F("pk"))
    return rows.order_by(column.desc() if wanted.startswith("-") else column.asc(), "pk")


def _submissions_of_study(call: Call, study_id: str) -> dict[str, Any]:
    rows = submissions_of(call.researcher).filter(study=study_of(call.researcher, study_id))
    return listed(call, _by_order(call, rows), _telltale_json)


def _counts(call: Call, study_id: str) -> dict[str, int]:
    rows = study_of(call.researcher, study_id).submissions.values_list("status").annotate(Count("pk"))
    found: dict[str, int] = dict(rows)
    return {**{str(status): found.get(status, 0) for status in _COUNTED}, "TOTAL": sum(found.values())}


def _submission(call: Call, submission_id: str) -> dict[str, Any]:
    return _json(submission_of(call.researcher, submission_id))


def _transition(call: Call, submission_id: str) -> dict[str, Any]:
    wanted: SubmissionAction = call.body
    submission = submission_of(call.researcher, submission_id)
    if wanted.action == "COMPLETE":
        codes = [one["code"] for one in submission.study.completion_codes if one["actor"] == "researcher"]
        if wanted.completion_code not in codes:
            raise invalid("completion_code", "Not a code of this study for researchers.")
        submission.entered_code = submission.entered_code or wanted.completion_code
    if wanted.action == "REJECT":
        submission.rejection_category = wanted.rejection_category
    return _json(submissions_transition(submission, wanted.action, call.now))


def _request_return(call: Call, submission_id: str) -> dict[str, Any]:
    reasons = call.body.request_return_reasons
    submission = submissions_request_return(submission_of(call.researcher, submission_id), reasons, call.now)
    return {name: _json(submission)[name] for name in ("id", "status", "participant", "return_requested")}


def _bulk_approve(call: Call) -> HttpResponse:
    wanted: BulkApproval = call.body
    rows = submissions_of(call.researcher)
    if wanted.submission_ids:
        rows = rows.filter(submission_id__in=wanted.submission_ids)
    else:
        rows = rows.filter(study__study_id=wanted.study_id, participant__participant_id__in=wanted.participant_ids)
    approve_soon(list(rows), call.now)
    return JsonResponse({"message": "The request to bulk approve has been made successfully."})


def _plan_bonuses(call: Call) -> HttpResponse:
    wanted: Bonuses = call.body
    study = study_of(call.researcher, wanted.study_id)
    plan, cost = wallet.plan_bonuses(study, _lines(study, wanted.csv_bonuses))
    return created(
        {
            "id": plan.plan_id,
            "study": study.study_id,
            "amount": cost.amount,
            "fees": cost.fees,
            "vat": cost.vat,
            "total_amount": cost.total,
        }
    )


def _lines(study: Study, text: str) -> list[tuple[Submission, int]]:
    """`<participant or submission id>,<amount in pounds or dollars>`, one a line."""
    by_id: dict[str, Submission] = {}
    for submission in study.submissions.select_related("participant").order_by("pk"):
        by_id[submission.participant.participant_id] = by_id[submission.submission_id] = submission
    lines, unknown = [], []
    for row in csv.reader(text.splitlines()):
        if not row:
            continue
        try:
            name, amount = row[0].strip(), Decimal(row[1].strip())
        except (IndexError, InvalidOperation) as err:
            raise invalid("csv_bonuses", "Each line needs an id and an amount.") from err
        if not amount.is_finite() or amount <= 0 or amount != amount.quantize(Decimal("0.01")):
            raise invalid("csv_bonuses", f"{row[1].strip()} is not an amount.")
        if name in by_id:
            lines.append((by_id[name], int(amount * 100)))
        else:
            unknown.append(name)
    if unknown:
        raise invalid("csv_bonuses", f"These ids did not take part in the study: {', '.join(unknown)}")
    if not lines:
        raise invalid("csv_bonuses", "There is no line.")
    return lines


def _pay_bonuses(call: Call, plan_id: str) -> HttpResponse:
    plans = BonusPlan.objects.filter(study__project__workspace__researcher=call.researcher)
    wallet.pay(one(plans.filter(plan_id=plan_id).select_related("study__project__workspace"), "payment"), call.now)
    return JsonResponse({"message": "The bonuses will be paid in the following minutes."}, status=202)


submissions = endpoint(GET=_submissions)
submissions_of_study = endpoint(GET=_submissions_of_study)
counts = endpoint(GET=_counts)
submission = endpoint(GET=_submission)
transition = endpoint(POST=_transition, money=True)
request_return = endpoint(POST=_request_return)
bulk_approve = endpoint(POST=_bulk_approve, money=True)
bonus_plans = endpoint(POST=_plan_bonuses)
bonus_payment = endpoint(POST=_pay_bonuses, money=True)
