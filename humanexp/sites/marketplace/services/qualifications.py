"""Making, changing and deleting qualification types, granting and revoking; messages to workers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from humanexp.sites.marketplace.answer_key import AnswerKey
from humanexp.sites.marketplace.errors import (
    InvalidParameterValue,
    InvalidQualificationState,
    InvalidQualificationTypeState,
    QualificationTypeAlreadyExists,
)
from humanexp.sites.marketplace.models.accounts import Requester
from humanexp.sites.marketplace.models.hits import HIT
from humanexp.sites.marketplace.models.qualifications import Qualification, QualificationRequest, QualificationType
from humanexp.sites.marketplace.question_form import FileUpload, QuestionForm
from humanexp.sites.marketplace.selectors.accounts import is_known_to, worker_by_id
from humanexp.sites.marketplace.selectors.work import hit_types_asking_for
from humanexp.sites.marketplace.services.workers import send_message
from humanexp.sites.rows import change, first_or


@dataclass(frozen=True, kw_only=True)
class TypeValues:
    """What can be said of a qualification type; None leaves as it is."""

    description: str | None = None
    status: str | None = None
    retry_delay_seconds: int | None = None
    is_auto_granted: bool | None = None
    auto_granted_value: int | None = None
    test: str | None = None
    answer_key: str | None = None
    test_duration_seconds: int | None = None

    def check_test(self) -> None:
        """A test, its duration and its key come together, and the key scores what the test asks."""
        if self.test is None:
            for name, value in (("AnswerKey", self.answer_key), ("TestDurationInSeconds", self.test_duration_seconds)):
                if value is not None:
                    raise InvalidParameterValue(f"{name}: needs a Test.")
            return
        if self.test_duration_seconds is None:
            raise InvalidParameterValue("TestDurationInSeconds: a Test needs one.")
        form = QuestionForm.from_xml(self.test)
        if any(isinstance(question.specification, FileUpload) for question in form.questions):
            raise InvalidParameterValue("Test: a qualification test takes no files.")
        if self.answer_key is not None:
            AnswerKey.from_xml(self.answer_key, form)


@transaction.atomic
def create_type(
    *, requester: Requester, name: str, keywords: str, values: TypeValues, now: datetime
) -> QualificationType:
    if values.auto_granted_value is not None and not values.is_auto_granted:
        raise InvalidParameterValue("AutoGrantedValue: needs AutoGranted.")
    if values.is_auto_granted and values.test is not None:
        raise InvalidParameterValue("AutoGranted: a QualificationType with a Test cannot be granted by itself.")
    values.check_test()
    _require_free_name(requester, name, now)
    granted = bool(values.is_auto_granted)
    value = 1 if values.auto_granted_value is None else values.auto_granted_value
    return QualificationType.objects.create(
        requester=requester,
        name=name,
        description=values.description or "",
        status=values.status or QualificationType.Status.ACTIVE,
        keywords=keywords,
        retry_delay_seconds=values.retry_delay_seconds,
        is_auto_granted=granted,
        auto_granted_value=value if granted else None,
        test=values.test or "",
        answer_key=values.answer_key or "",
        test_duration_seconds=values.test_duration_seconds,
        created_at=now,
    )


def _require_free_name(requester: Requester, name: str, now: datetime) -> None:
    """A deleted type keeps its name until the last HIT that asks for it is gone."""
    for owned in requester.qualification_types.filter(name=name):
        types = hit_types_asking_for(requester, owned.qualification_type_id) if owned.disposed_at else []
        if owned.disposed_at is None or HIT.objects.counted(now).listed(now).filter(hit_type__in=types).exists():
            raise QualificationTypeAlreadyExists


@transaction.atomic
def update_type(*, owned: QualificationType, values: TypeValues, now: datetime) -> QualificationType:
    """Name and keywords stay for ever; retries and a test can be added and not taken away."""
    values.check_test()
    if values.is_auto_granted and (owned.test or values.test is not None):
        raise InvalidParameterValue("AutoGranted: a QualificationType with a Test cannot be granted by itself.")
    if values.test is not None:
        owned.test, owned.answer_key = values.test, values.answer_key or ""
        owned.test_duration_seconds, owned.is_auto_granted, owned.auto_granted_value = (
            values.test_duration_seconds,
            False,
            None,
        )
    if values.is_auto_granted is not None:
        owned.is_auto_granted = values.is_auto_granted
        owned.auto_granted_value = (owned.auto_granted_value or 1) if values.is_auto_granted else None
    if values.auto_granted_value is not None:
        if not owned.is_auto_granted:
            raise InvalidParameterValue("AutoGrantedValue: needs AutoGranted.")
        owned.auto_granted_value = values.auto_granted_value
    for name in ("description", "status", "retry_delay_seconds"):
        if getattr(values, name) is not None:
            setattr(owned, name, getattr(values, name))
    owned.save()
    return owned


@transaction.atomic
def dispose_type(*, owned: QualificationType, now: datetime) -> QualificationType:
    """Pending requests are rejected; grants stay, for the HITs that are open."""
    change(owned, disposed_at=now)
    owned.requests.filter(decided_at=None).update(
        decided_at=now, outcome=QualificationRequest.Outcome.REJECTED, reason="The qualification has been deleted."
    )
    return owned


@transaction.atomic
def grant(*, owned: QualificationType, worker_id: str, value: int, notify: bool, now: datetime) -> Qualification:
    """Twice equals once; another value replaces the first. Who never worked for the requester gets no message."""
    if owned.status != QualificationType.Status.ACTIVE:
        raise InvalidQualificationTypeState
    worker = worker_by_id(worker_id)
    qualification, is_new = Qualification.objects.get_or_create(
        qualification_type=owned,
        worker=worker,
        defaults={"value": value, "status": Qualification.Status.GRANTED, "granted_at": now},
    )
    was_granted = not is_new and qualification.status == Qualification.Status.GRANTED
    if not is_new and (not was_granted or qualification.value != value):
        granted_at = qualification.granted_at if was_granted else now
        change(qualification, value=value, status=Qualification.Status.GRANTED, granted_at=granted_at)
    if notify and not was_granted and is_known_to(owned.requester, worker, now):
        text = f"You now have the qualification “{owned.name}”. {owned.description}"
        send_message(sender=owned.requester, worker=worker, subject="A new qualification", text=text, now=now)
    return qualification


@transaction.atomic
def revoke(*, owned: QualificationType, worker_id: str, reason: str, now: datetime) -> Qualification:
    """The row stays, as revoked; a worker who has worked for this requester reads the reason."""
    worker = worker_by_id(worker_id)
    qualification = first_or(
        owned.qualifications.filter(worker=worker, status=Qualification.Status.GRANTED),
        InvalidQualificationState("This worker does not have this qualification, so it cannot be taken away."),
    )
    change(qualification, status=Qualification.Status.REVOKED)
    if is_known_to(owned.requester, worker, now):
        text = f"You no longer have the qualification “{owned.name}”. {reason}".strip()
        send_message(sender=owned.requester, worker=worker, subject="A qualification has ended", text=text, now=now)
    return qualification
