"""Fine-tuning a classifier on generated stimuli, and what it brings: before and after, on other originals.

Source: VCR, experiment 3 (Shen et al., visually-continuous corruption robustness).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.retraining.held_out import Examples, HeldOut, Split, check_disjoint, hold_out, split_originals
from analysis.retraining.training import Recipe, Retrained, fine_tune, warnings_after, warnings_before

if TYPE_CHECKING:
    from analysis.retraining.comparison import before_and_after

__all__ = [
    "Examples",
    "HeldOut",
    "Recipe",
    "Retrained",
    "Split",
    "before_and_after",
    "check_disjoint",
    "fine_tune",
    "hold_out",
    "split_originals",
    "warnings_after",
    "warnings_before",
]


def __getattr__(name: str) -> object:
    """Import the comparison once it is asked for: it needs all of the findings, and training needs none of them."""
    if name != "before_and_after":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from analysis.retraining.comparison import before_and_after

    return before_and_after
