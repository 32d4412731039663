"""How far observers agree: in being right or wrong, in following shapes, and in judging pictures.

`error_consistency` is the published statistic of two observers who saw the same pictures, `pooled_consistency` its
form for crowds, in which any two people share few pictures or none. `at_difficulties` places a model over people's own
accuracy, read by `ease_for_others` from answers that are not compared. `shape_bias` reads answers to cue-conflict
pictures. `label_agreement` says how far people agree on a picture, and `one_coin` who of them can be relied on.
"""

from __future__ import annotations

from analysis.agreement.difficulty import AtDifficulty, at_difficulties, ease_for_others
from analysis.agreement.labels import LabelAgreement, OneCoin, label_agreement, one_coin
from analysis.agreement.pairs import (
    ErrorConsistency,
    consistency_from_counts,
    error_consistency,
    pictures_for_width,
    stretch_of,
    width_for_pictures,
)
from analysis.agreement.pooled import PooledConsistency, pooled_consistency
from analysis.agreement.shape_bias import ShapeBias, shape_bias

__all__ = [
    "AtDifficulty",
    "ErrorConsistency",
    "LabelAgreement",
    "OneCoin",
    "PooledConsistency",
    "ShapeBias",
    "at_difficulties",
    "consistency_from_counts",
    "ease_for_others",
    "error_consistency",
    "label_agreement",
    "one_coin",
    "pictures_for_width",
    "pooled_consistency",
    "shape_bias",
    "stretch_of",
    "width_for_pictures",
]
