"""A worker asks for a qualification: granted at once, by a test, or by the requester."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from humanexp.sites.marketplace.answer_key import AnswerKey
from humanexp.sites.marketplace.errors import CannotRequest, PermissionDenied, QualificationRequestDoesNotExist
from humanexp.sites.marketplace.models.accounts import Requester, Worker
from humanexp.sites.marketplace.models.qualifications import Qualification, QualificationRequest, QualificationType
from humanexp.sites.marketplace.question_form import QuestionForm
from humanexp.sites.marketplace.selectors.qualifications import obstacle_of
from humanexp.sites.marketplace.services.qualifications import grant
from humanexp.sites.marketplace.services.workers import send_message
from humanexp.sites.marketplace.xml_documents import answers_to_xml
from humanexp.sites.rows import change, first_or

Outcome = QualificationRequest.Outcome


@transaction.atomic
def begin(*, worker: Worker, wanted: QualificationType, now: datetime) -> QualificationRequest:
    """Granted at once, waiting for the requester, or a test to be taken; the open one when there is one."""
    QualificationType.objects.select_for_update().get(pk=wanted.pk)
    last = wanted.requests.filter(worker=worker).order_by("-pk").first()
    if last is not None and last.is_open(now):
        return last
    if wanted.qualifications.filter(worker=worker, status=Qualification.Status.GRANTED).exists():
        raise CannotRequest("You have this qualification.")
    refused = obstacle_of(wanted, last, now)
    if refused:
        raise CannotRequest(refused)
    request = QualificationRequest(qualification_type=wanted, worker=worker, began_at=now)
    if wanted.test:
        request.test = wanted.test
        request.deadline_at = now + timedelta(seconds=wanted.test_duration_seconds or 0)
    else:
        request.submitted_at = now
    request.save()
    if wanted.is_auto_granted:
        _grant(request, 1 if wanted.auto_granted_value is None else wanted.auto_granted_value, now, notify=False)
    return request


@transaction.atomic
def submit_test(
    *, request: QualificationRequest, fields: Mapping[str, Sequence[str]], now: datetime
) -> QualificationRequest:
    """Scored by the key where there is one. Sent twice, it counts once."""
    request = (
        QualificationRequest.objects.select_for_update(of=("self",))
        .select_related("qualification_type", "worker")
        .get(pk=request.pk)
    )
    if request.submitted_at is not None:
        return request
    if not request.is_open(now):
        raise CannotRequest("The time for this test is over.")
    form = QuestionForm.from_xml(request.test)
    answers = form.accepted(fields)
    change(request, answer=answers_to_xml(answers), submitted_at=now)
    key = request.qualification_type.answer_key
    # A key that came with another test than the worker has seen scores nothing.
    if key and request.test == request.qualification_type.test:
        _grant(request, AnswerKey.from_xml(key, form).score(answers), now, notify=False)
    return request


def pending_request(requester: Requester, request_id: str) -> QualificationRequest:
    """Of this requester's own type, sent and not decided."""
    request = first_or(
        QualificationRequest.objects.select_for_update(of=("self",))
        .select_related("qualification_type__requester", "worker")
        .filter(request_id=request_id, submitted_at__isnull=False, decided_at=None),
        QualificationRequestDoesNotExist(f"QualificationRequest {request_id} does not exist."),
    )
    if request.qualification_type.requester_id != requester.pk:
        raise PermissionDenied("You do not own the QualificationType of this request.")
    return request


@transaction.atomic
def accept(*, requester: Requester, request_id: str, value: int, now: datetime) -> QualificationRequest:
    request = pending_request(requester, request_id)
    _grant(request, value, now, notify=True)
    return request


@transaction.atomic
def reject(*, requester: Requester, request_id: str, reason: str, now: datetime) -> QualificationRequest:
    """The worker reads the reason."""
    request = pending_request(requester, request_id)
    change(request, decided_at=now, outcome=Outcome.REJECTED, reason=reason)
    text = f"Your request for the qualification “{request.qualification_type.name}” was not granted. {reason}".strip()
    send_message(
        sender=request.qualification_type.requester,
        worker=request.worker,
        subject="A qualification was not granted",
        text=text,
        now=now,
    )
    return request


def _grant(request: QualificationRequest, value: int, now: datetime, *, notify: bool) -> None:
    owned = request.qualification_type
    grant(owned=owned, worker_id=request.worker.worker_id, value=value, notify=notify, now=now)
    change(request, decided_at=now, outcome=Outcome.GRANTED)
