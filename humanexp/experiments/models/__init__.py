"""Facts of studies and of the sessions in them."""

from __future__ import annotations

from humanexp.experiments.models.sessions import (
    SESSION_TRANSITIONS,
    DamagedPicture,
    Participant,
    Preview,
    RefusalReason,
    RefusedCall,
    Response,
    Session,
    SessionState,
    Trial,
)
from humanexp.experiments.models.studies import (
    STUDY_TRANSITIONS,
    Origin,
    Population,
    PowerEstimate,
    Protocol,
    Study,
    StudyFamily,
    StudyMembership,
    StudyState,
    StudyTally,
)

__all__ = [
    "DamagedPicture",
    "Origin",
    "Participant",
    "Population",
    "PowerEstimate",
    "Preview",
    "Protocol",
    "RefusalReason",
    "RefusedCall",
    "Response",
    "SESSION_TRANSITIONS",
    "STUDY_TRANSITIONS",
    "Session",
    "SessionState",
    "Study",
    "StudyFamily",
    "StudyMembership",
    "StudyState",
    "StudyTally",
    "Trial",
]
