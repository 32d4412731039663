"""Signed differences of performance: models beside people, from raw answers, without a smoother in between."""

from __future__ import annotations

from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.attention import attentive_share, least_changed
from analysis.differences.beside import Beside, ModelBesidePeople, beside_people
from analysis.differences.ranks import RankSet, rank_sets
from analysis.differences.rises import Rise, rises
from analysis.differences.windows import Contrasts, window_contrasts

__all__ = [
    "AnswersToOne",
    "Beside",
    "Clusters",
    "Contrasts",
    "ModelBesidePeople",
    "RankSet",
    "Rise",
    "attentive_share",
    "beside_people",
    "least_changed",
    "rank_sets",
    "rises",
    "window_contrasts",
]
