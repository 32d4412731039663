"""Proof of person: do a person's answers to a few sentinel trials look like people's or like a machine's?

A session's score is a flag for a person to look at. It excludes nobody, enters no curve, and never touches pay.
`docs/proof-of-person.md` says what it can and cannot say.
"""

from __future__ import annotations

from analysis.persons.answers import AnswerTable, Pictures, SentinelAnswers
from analysis.persons.bound import Bias, bias_of_area, machines_at_most
from analysis.persons.calibration import Judged, Share, judge_people, machine_share
from analysis.persons.generators import CUE_CONFLICT, high_pass, silhouette
from analysis.persons.score import MACHINES, PEOPLE, Effects, log_likelihood, scores
from analysis.persons.sentinels import (
    SENTINELS,
    Sentinel,
    SentinelCost,
    find_sentinel,
    register_sentinel,
    sentinel_cost,
)

__all__ = [
    "CUE_CONFLICT",
    "MACHINES",
    "PEOPLE",
    "SENTINELS",
    "AnswerTable",
    "Bias",
    "Effects",
    "Judged",
    "Pictures",
    "Sentinel",
    "SentinelAnswers",
    "SentinelCost",
    "Share",
    "bias_of_area",
    "find_sentinel",
    "high_pass",
    "judge_people",
    "log_likelihood",
    "machine_share",
    "machines_at_most",
    "register_sentinel",
    "scores",
    "sentinel_cost",
    "silhouette",
]
