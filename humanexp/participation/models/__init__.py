"""Sessions, what is answered in them, and what their people get to see."""

from __future__ import annotations

from humanexp.participation.models.own_curves import EarlierCurves, OwnCurve
from humanexp.participation.models.sessions import (
    FINISHED,
    LEFT,
    OUT_OF_TIME,
    SESSION_TRANSITIONS,
    ClosingAnswers,
    DamagedPicture,
    Device,
    Participant,
    Preview,
    RefusalReason,
    RefusedCall,
    Response,
    Session,
    SessionState,
    SetUp,
    StudyTally,
    Trial,
    WentWrong,
    counting,
)

__all__ = [
    "ClosingAnswers",
    "DamagedPicture",
    "Device",
    "EarlierCurves",
    "FINISHED",
    "LEFT",
    "OUT_OF_TIME",
    "OwnCurve",
    "Participant",
    "Preview",
    "RefusalReason",
    "RefusedCall",
    "Response",
    "SESSION_TRANSITIONS",
    "Session",
    "SessionState",
    "SetUp",
    "StudyTally",
    "Trial",
    "WentWrong",
    "counting",
]
