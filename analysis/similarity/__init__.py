"""Which corruptions are alike: curves compared for equivalence and difference, and same/different or ABX trials."""

from __future__ import annotations

from analysis.similarity.assay import Assay
from analysis.similarity.curves import CurveSimilarity, compare_curves
from analysis.similarity.discrimination import DiscriminationTest, PlainPairs, Sensitivity, discrimination_test
from analysis.similarity.family import ReuseSaving, alike_classes, compare_all, reuse_saving
from analysis.similarity.observers import d_prime_of, share_right
from analysis.similarity.overlap import bands_overlap
from analysis.similarity.permutation import CurveTrials, PermutationTest, permutation_test
from analysis.similarity.sample_size import trials_for_equivalence, trials_to_detect
from analysis.similarity.verdicts import Verdict, holm, verdict_of

__all__ = [
    "Assay",
    "CurveSimilarity",
    "CurveTrials",
    "DiscriminationTest",
    "PermutationTest",
    "PlainPairs",
    "ReuseSaving",
    "Sensitivity",
    "Verdict",
    "alike_classes",
    "bands_overlap",
    "compare_all",
    "compare_curves",
    "d_prime_of",
    "discrimination_test",
    "holm",
    "permutation_test",
    "reuse_saving",
    "share_right",
    "trials_for_equivalence",
    "trials_to_detect",
    "verdict_of",
]
