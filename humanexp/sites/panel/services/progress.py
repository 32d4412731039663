"""States that change: by a call, by another state, and by time. Callers hold a transaction."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from humanexp.sites.panel.models.money import Payment
from humanexp.sites.panel.models.studies import Study, Submission
from humanexp.sites.panel.models.switches import Switches
from humanexp.sites.panel.selectors.studies import places_taken
from humanexp.sites.panel.selectors.wallet import balance, cost_in
from humanexp.sites.panel.services.events import study_changed, submission_changed
from humanexp.sites.panel.services.payments import reward
from humanexp.sites.panel.states import AT_WORK, StudyStatus, SubmissionStatus

#: Submissions that nobody has reviewed are approved after this.
REVIEW_DAYS = 21


def move_study(study: Study, status: str, now: datetime, *, after_s: float = 0, then: str = "") -> Study:
    """Into this state; with `then`, which follows after so many seconds."""
    study.status, study.next_status = status, then
    study.due_at = now + timedelta(seconds=after_s) if then else None
    if status == StudyStatus.ACTIVE and study.published_at is None:
        study.published_at = now
    study.save()
    study_changed(study, now)
    return study


def move_submission(submission: Submission, status: str, now: datetime) -> Submission:
    """Into this state, with everything that follows from it."""
    was_completed = submission.completed_at is not None
    submission.status, submission.next_status, submission.due_at = status, "", None
    switches = Switches.current()
    if status == SubmissionStatus.ACTIVE:
        submission.started_at = now
        submission.due_at = now + timedelta(minutes=submission.study.terms["maximum_allowed_time"])
    elif status == SubmissionStatus.AWAITING_REVIEW:
        submission.completed_at = submission.completed_at or now
        if switches.processing_s and not was_completed:
            submission.status, submission.next_status = SubmissionStatus.PROCESSING, status
            submission.due_at = now + timedelta(seconds=switches.processing_s)
        else:
            submission.due_at = submission.completed_at + timedelta(days=REVIEW_DAYS)
    elif status == SubmissionStatus.APPROVED:
        reward(submission, now)
    submission.save()
    submission_changed(submission, now)
    _follow(submission.study, now, was_rejected=status == SubmissionStatus.REJECTED)
    return submission


def _follow(study: Study, now: datetime, *, was_rejected: bool) -> None:
    """What a changed submission makes of its study."""
    study.refresh_from_db(fields=["status", "places"])
    if study.status == StudyStatus.ACTIVE and places_taken(study) >= study.places:
        if not study.submissions.filter(status__in=AT_WORK).exists():
            move_study(study, StudyStatus.AWAITING_REVIEW, now)
    elif study.status == StudyStatus.AWAITING_REVIEW and was_rejected and Switches.current().rejection_reopens:
        move_study(study, StudyStatus.ACTIVE, now)
    approved = study.submissions.filter(status=SubmissionStatus.APPROVED).count()
    if study.status == StudyStatus.AWAITING_REVIEW and approved >= study.places:
        move_study(study, StudyStatus.COMPLETED, now)


def _move_on(study: Study, now: datetime) -> None:
    """A scheduled study that cannot be paid for when its time comes is a draft again."""
    workspace = study.project.workspace
    cost = cost_in(workspace, study.reward_cents) * study.places
    is_short = study.status == StudyStatus.SCHEDULED and balance(workspace).available < cost.total
    move_study(study, StudyStatus.UNPUBLISHED if is_short else study.next_status, now)


#: What time makes of a submission; PROCESSING knows itself what comes next.
_BY_TIME = {
    # A place that nobody started on is given up like work that nobody finished.
    SubmissionStatus.RESERVED: SubmissionStatus.TIMED_OUT,
    SubmissionStatus.ACTIVE: SubmissionStatus.TIMED_OUT,
    SubmissionStatus.AWAITING_REVIEW: SubmissionStatus.APPROVED,
}


def catch_up(now: datetime) -> None:
    """Whatever was due until now happens, in its order. Every call and page begins with this."""
    submissions = Submission.objects.filter(due_at__lte=now)
    studies = Study.objects.filter(due_at__lte=now)
    payments = Payment.objects.filter(due_at__lte=now, paid_at=None)
    if not (submissions.exists() or studies.exists() or payments.exists()):
        return
    with transaction.atomic():
        payments.update(paid_at=F("due_at"))
        for study in studies.select_related("project__workspace"):
            _move_on(study, now)
        for submission in submissions.select_related("participant", "study__project__workspace").order_by("due_at"):
            move_submission(submission, submission.next_status or _BY_TIME[SubmissionStatus(submission.status)], now)
