"""Writes of this app: classifiers asked about stimuli and originals, and their answers."""

from __future__ import annotations

from humanexp.evaluations.services.asking import ASK_KIND, ask
from humanexp.evaluations.services.evaluations import (
    GOLD_KIND,
    JOB_KIND,
    TOGETHER_KIND,
    How,
    check_may_predict,
    complete,
    delete,
    evaluate,
    evaluate_together,
    select_gold,
)
from humanexp.evaluations.services.observers import Decoding, is_asked, is_scored

__all__ = [
    "ASK_KIND",
    "GOLD_KIND",
    "JOB_KIND",
    "TOGETHER_KIND",
    "Decoding",
    "How",
    "ask",
    "check_may_predict",
    "complete",
    "delete",
    "evaluate",
    "evaluate_together",
    "is_asked",
    "is_scored",
    "select_gold",
]
