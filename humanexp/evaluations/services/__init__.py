"""Writes of this app: classifiers asked about stimuli and originals, and their answers."""

from __future__ import annotations

from humanexp.evaluations.services.evaluations import (
    GOLD_KIND,
    JOB_KIND,
    check_may_predict,
    complete,
    delete,
    evaluate,
    select_gold,
)

__all__ = ["GOLD_KIND", "JOB_KIND", "check_may_predict", "complete", "delete", "evaluate", "select_gold"]
