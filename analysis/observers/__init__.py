"""Observers that are asked in words: what they are asked, how their answers are read, and what the answers say."""

from __future__ import annotations

from analysis.observers.port import Answer, AnswerKind, Observer
from analysis.observers.questions import WORDINGS, AskPlan, ForcedChoice
from analysis.observers.reading import Reading, read_answer
from analysis.observers.scoring import LabelScores, decide, replies, text_of
from analysis.observers.summary import AnswerSummary, place_preference, summarise

__all__ = [
    "WORDINGS",
    "Answer",
    "AnswerKind",
    "AnswerSummary",
    "AskPlan",
    "ForcedChoice",
    "LabelScores",
    "Observer",
    "Reading",
    "decide",
    "place_preference",
    "read_answer",
    "replies",
    "summarise",
    "text_of",
]
