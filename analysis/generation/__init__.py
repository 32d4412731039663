"""From originals to stimuli: originals are prepared, stimuli planned, made in shards, and verified."""

from __future__ import annotations

from analysis.generation.originals import Inspection, inspect_originals, prepare_original
from analysis.generation.plan import (
    OriginalPlan,
    Sampling,
    StimulusPlan,
    StimulusRequest,
    pilot_originals,
    plan_stimuli,
)
from analysis.generation.png import decode_png, encode_png
from analysis.generation.reach_survey import SurveyOutcome, SurveyShard, cut_survey, survey_shard, with_survey
from analysis.generation.shards import (
    METRIC_NAME,
    PilotShard,
    Shard,
    ShardOutcome,
    cut_into_shards,
    fit_pilot_shard,
    generate_shard,
    make_stimulus,
    prepare_reference,
)
from analysis.generation.verification import StimulusRecord, Verification, VerificationShard, verify_shard
from analysis.original import Original

__all__ = [
    "METRIC_NAME",
    "Inspection",
    "Original",
    "OriginalPlan",
    "PilotShard",
    "Sampling",
    "Shard",
    "ShardOutcome",
    "StimulusPlan",
    "StimulusRecord",
    "StimulusRequest",
    "SurveyOutcome",
    "SurveyShard",
    "Verification",
    "VerificationShard",
    "cut_into_shards",
    "cut_survey",
    "decode_png",
    "encode_png",
    "fit_pilot_shard",
    "generate_shard",
    "inspect_originals",
    "make_stimulus",
    "pilot_originals",
    "plan_stimuli",
    "prepare_original",
    "prepare_reference",
    "survey_shard",
    "verify_shard",
    "with_survey",
]
