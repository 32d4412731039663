"""Words for studies and submissions, and which action leads from one to another."""

from __future__ import annotations

from enum import StrEnum


class StudyStatus(StrEnum):
    UNPUBLISHED = "UNPUBLISHED"
    SCHEDULED = "SCHEDULED"
    PUBLISHING = "PUBLISHING"
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    #: seen at the service for a short time, and documented nowhere; shown as the word that `Switches` has for it
    PROCESSING = "PROCESSING"
    AWAITING_REVIEW = "AWAITING REVIEW"
    COMPLETED = "COMPLETED"


class SubmissionStatus(StrEnum):
    RESERVED = "RESERVED"
    ACTIVE = "ACTIVE"
    PROCESSING = "PROCESSING"
    TIMED_OUT = "TIMED-OUT"
    AWAITING_REVIEW = "AWAITING REVIEW"
    APPROVED = "APPROVED"
    RETURNED = "RETURNED"
    REJECTED = "REJECTED"


_S, _P = StudyStatus, SubmissionStatus

#: PUBLISH passes through PUBLISHING; where STOP ends is one of the `Switches`.
STUDY_TRANSITIONS: dict[tuple[StudyStatus, str], StudyStatus] = {
    (_S.UNPUBLISHED, "PUBLISH"): _S.ACTIVE,
    (_S.UNPUBLISHED, "SCHEDULE_PUBLISH"): _S.SCHEDULED,
    (_S.SCHEDULED, "CANCEL_PUBLISH"): _S.UNPUBLISHED,
    (_S.ACTIVE, "PAUSE"): _S.PAUSED,
    (_S.ACTIVE, "STOP"): _S.COMPLETED,
    (_S.PAUSED, "START"): _S.ACTIVE,
    (_S.PAUSED, "STOP"): _S.COMPLETED,
    (_S.AWAITING_REVIEW, "START"): _S.ACTIVE,
}
SUBMISSION_TRANSITIONS: dict[tuple[SubmissionStatus, str], SubmissionStatus] = {
    (_P.RESERVED, "START"): _P.ACTIVE,
    (_P.ACTIVE, "COMPLETE"): _P.AWAITING_REVIEW,
    (_P.AWAITING_REVIEW, "APPROVE"): _P.APPROVED,
    (_P.AWAITING_REVIEW, "REJECT"): _P.REJECTED,
    (_P.RESERVED, "RETURN"): _P.RETURNED,
    (_P.ACTIVE, "RETURN"): _P.RETURNED,
    (_P.AWAITING_REVIEW, "RETURN"): _P.RETURNED,
    (_P.REJECTED, "UNREJECT"): _P.AWAITING_REVIEW,
    (_P.RETURNED, "UNRETURN"): _P.AWAITING_REVIEW,
}
#: A draft costs nothing and can be deleted.
DRAFTS = (_S.UNPUBLISHED, _S.SCHEDULED)
#: Money for every place is locked.
OPEN = (_S.PUBLISHING, _S.ACTIVE, _S.PAUSED, _S.PROCESSING, _S.AWAITING_REVIEW)
#: A person is at work.
AT_WORK = (_P.RESERVED, _P.ACTIVE)
#: These may still be approved.
PENDING = (*AT_WORK, _P.PROCESSING, _P.AWAITING_REVIEW)
#: These take up a place.
TAKEN = (*PENDING, _P.APPROVED)


class SubmissionOrder(StrEnum):
    """In which lists of submissions come, whatever order is asked for."""

    AS_ASKED = "as asked"
    OLDEST_FIRST = "oldest first"
    NEWEST_FIRST = "newest first"
    FIRST_CHANGED_FIRST = "first changed first"
    LAST_CHANGED_FIRST = "last changed first"


REJECTION_CATEGORIES = frozenset(
    {
        "TOO_QUICKLY",
        "TOO_SLOWLY",
        "FAILED_INSTRUCTIONS",
        "INCOMP_LONGITUDINAL",
        "FAILED_CHECK",
        "LOW_EFFORT",
        "MALINGERING",
        "NO_CODE",
        "BAD_CODE",
        "NO_DATA",
        "UNSUPP_DEVICE",
        "OTHER",
    }
)
