"""Which corruptions are alike: curves compared for equivalence and difference, and same/different or ABX trials."""

from __future__ import annotations

from analysis.similarity.curves import (
    BAND_MARGIN,
    MARGIN,
    CurveSimilarity,
    alike_classes,
    compare_all,
    compare_curves,
)
from analysis.similarity.discrimination import (
    DISCRIMINATION_MARGIN,
    DiscriminationForm,
    DiscriminationTest,
    d_prime_of,
    discrimination_test,
)
from analysis.similarity.permutation import CurveTrials, PermutationTest, permutation_test
from analysis.similarity.verdicts import Verdict, holm, verdict_of

__all__ = [
    "BAND_MARGIN",
    "DISCRIMINATION_MARGIN",
    "MARGIN",
    "CurveSimilarity",
    "CurveTrials",
    "DiscriminationForm",
    "DiscriminationTest",
    "PermutationTest",
    "Verdict",
    "alike_classes",
    "compare_all",
    "compare_curves",
    "d_prime_of",
    "discrimination_test",
    "holm",
    "permutation_test",
    "verdict_of",
]
