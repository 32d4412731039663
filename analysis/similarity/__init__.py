"""Which corruptions are alike: curves compared for equivalence and difference, and same/different or ABX trials."""

from __future__ import annotations

from analysis.claims.corruptions import Verdict
from analysis.similarity.assay import Assay
from analysis.similarity.curves import CurveSimilarity, compare_all
from analysis.similarity.discrimination import DiscriminationTest, PlainPairs, Sensitivity, discrimination_test
from analysis.similarity.family import ReuseSaving, alike_classes, reuse_saving
from analysis.similarity.observers import d_prime_of, share_right
from analysis.similarity.overlap import bands_overlap
from analysis.similarity.sample_size import PlannedPairs, people_for_equivalence, people_to_detect
from analysis.similarity.verdicts import holm, verdict_of

__all__ = [
    "Assay",
    "CurveSimilarity",
    "DiscriminationTest",
    "PlainPairs",
    "PlannedPairs",
    "ReuseSaving",
    "Sensitivity",
    "Verdict",
    "alike_classes",
    "bands_overlap",
    "compare_all",
    "d_prime_of",
    "discrimination_test",
    "holm",
    "people_for_equivalence",
    "people_to_detect",
    "reuse_saving",
    "share_right",
    "verdict_of",
]
