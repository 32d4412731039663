"""Qualification types: who has them, who can ask for one, how each is made, granted and revoked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from humanexp.sites.marketplace.accounts import is_known_to, send_message, worker_by_id
from humanexp.sites.marketplace.errors import (
    CannotRequest,
    InvalidParameterValue,
    InvalidQualificationState,
    InvalidQualificationTypeState,
    NotFound,
    PermissionDenied,
    QualificationRequestDoesNotExist,
    QualificationTypeAlreadyExists,
    QualificationTypeDoesNotExist,
)
from humanexp.sites.marketplace.models.people import (
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from humanexp.sites.marketplace.models.work import HIT, Assignment, is_approved, is_rejected
from humanexp.sites.marketplace.question import AnswerKey
from humanexp.sites.marketplace.question_form import FileUpload, QuestionForm, answers_to_xml
from humanexp.sites.marketplace.requirements import RATE_COUNTS_FROM, Locale, WorkerProfile
from humanexp.sites.marketplace.work import hit_types_asking_for
from humanexp.sites.rows import change, first_or


def existing_type_ids(qualification_type_ids: Iterable[str]) -> set[str]:
    """Of these, the ones that exist: a requirement may name another requester's type."""
    return set(
        QualificationType.objects.filter(
            qualification_type_id__in=list(qualification_type_ids), disposed_at=None
        ).values_list("qualification_type_id", flat=True)
    )


def qualification_type(qualification_type_id: str) -> QualificationType:
    return first_or(
        QualificationType.objects.filter(qualification_type_id=qualification_type_id, disposed_at=None),
        QualificationTypeDoesNotExist(f"QualificationType {qualification_type_id} does not exist."),
    )


def owned_type(requester: Requester, qualification_type_id: str) -> QualificationType:
    found = qualification_type(qualification_type_id)
    if found.requester_id != requester.pk:
        raise PermissionDenied("You do not own this QualificationType.")
    return found


def matching_types(
    requester: Requester, *, query: str, must_be_requestable: bool, must_be_owned: bool
) -> QuerySet[QualificationType]:
    """Every word of the query occurs in the name, the description or the keywords."""
    types = QualificationType.objects.filter(disposed_at=None)
    if must_be_requestable:
        types = types.filter(status=QualificationType.Status.ACTIVE)
    if must_be_owned:
        types = types.filter(requester=requester)
    for word in query.split():
        types = types.filter(Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word))
    return types


def qualifications_of_type(owned: QualificationType, status: str) -> QuerySet[Qualification]:
    return owned.qualifications.filter(status=status).select_related("worker", "qualification_type")


def pending_requests(requester: Requester, owned: QualificationType | None) -> QuerySet[QualificationRequest]:
    """What workers have asked of this requester and nobody has decided."""
    requests = QualificationRequest.objects.filter(
        qualification_type__requester=requester, submitted_at__isnull=False, decided_at=None
    ).select_related("worker", "qualification_type")
    return requests if owned is None else requests.filter(qualification_type=owned)


def requestable_types() -> QuerySet[QualificationType]:
    """What workers can ask for, newest first."""
    types = QualificationType.objects.filter(status=QualificationType.Status.ACTIVE, disposed_at=None)
    return types.select_related("requester").order_by("-pk")


def requestable_type(qualification_type_id: str) -> QualificationType:
    return first_or(requestable_types().filter(qualification_type_id=qualification_type_id), NotFound())


def own_request(worker: Worker, request_id: str) -> QualificationRequest:
    return first_or(
        QualificationRequest.objects.select_related("qualification_type__requester", "worker").filter(
            worker=worker, request_id=request_id
        ),
        NotFound(),
    )


def obstacle_of(wanted: QualificationType, last: QualificationRequest | None, now: datetime) -> str | None:
    """Why somebody without the qualification cannot ask for it now.

    A request counts from its beginning: nobody sees a test twice by letting the time run out.
    """
    if last is None:
        return None
    if last.submitted_at is not None and last.decided_at is None:
        return gettext("You have asked for it; the requester has not decided yet.")
    if wanted.retry_delay_seconds is None:
        return gettext("It can be asked for once only, and you have.")
    again_at = last.began_at + timedelta(seconds=wanted.retry_delay_seconds)
    if now < again_at:
        return gettext("You can ask for it again on %(time)s UTC.") % {"time": f"{again_at:%d %b %Y %H:%M}"}
    return None


def profile_of(worker: Worker | None, now: datetime) -> WorkerProfile:
    """Nobody signed in is a worker about whom nothing is known."""
    if worker is None:
        return WorkerProfile()
    granted = worker.qualifications.filter(status=Qualification.Status.GRANTED)
    theirs = Assignment.objects.filter(worker=worker)
    return WorkerProfile(
        qualifications=dict(granted.values_list("qualification_type__qualification_type_id", "value")),
        approved=theirs.filter(is_approved(now)).count(),
        rejected=theirs.filter(is_rejected()).count(),
        locale=Locale(worker.country, worker.subdivision) if worker.country else None,
        is_adult=worker.is_adult,
        is_master=worker.is_master,
    )


@dataclass(frozen=True, kw_only=True)
class OwnQualification:
    """A qualification type as one worker sees it."""

    qualification_type: QualificationType
    pending: bool = False
    #: Why it cannot be asked for now; None: it can.
    obstacle: str | None = None
    #: A test that is being taken.
    open_request: QualificationRequest | None = None


@dataclass(frozen=True, kw_only=True)
class OwnQualifications:
    granted: tuple[Qualification, ...]
    others: tuple[OwnQualification, ...]
    profile: WorkerProfile

    @property
    def rate_counts(self) -> bool:
        return self.profile.approved + self.profile.rejected >= RATE_COUNTS_FROM


def qualifications_of(worker: Worker, now: datetime) -> OwnQualifications:
    granted = tuple(
        worker.qualifications.filter(status=Qualification.Status.GRANTED)
        .select_related("qualification_type__requester")
        .order_by("-granted_at", "-pk")
    )
    had = {one.qualification_type_id for one in granted}
    last = {one.qualification_type_id: one for one in worker.qualification_requests.order_by("pk")}
    others = tuple(
        own_qualification(wanted, last.get(wanted.pk), now) for wanted in requestable_types() if wanted.pk not in had
    )
    return OwnQualifications(granted=granted, others=others, profile=profile_of(worker, now))


def own_qualification(wanted: QualificationType, last: QualificationRequest | None, now: datetime) -> OwnQualification:
    is_open = last is not None and last.is_open(now)
    return OwnQualification(
        qualification_type=wanted,
        pending=last is not None and last.submitted_at is not None and last.decided_at is None,
        obstacle=None if is_open else obstacle_of(wanted, last, now),
        open_request=last if is_open else None,
    )


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
