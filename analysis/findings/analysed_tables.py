"""The tables of one analysis, and the digest of what its numbers were computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.findings.observations import digest_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class AnalysedTables:
    """What is analysed, as `analyse` was given it."""

    trials: pd.DataFrame
    predictions: pd.DataFrame | None
    discrimination: pd.DataFrame | None
    sessions: pd.DataFrame | None
    stimuli: pd.DataFrame | None
    level_predictions: pd.DataFrame | None

    def digest(self) -> str:
        added = [] if self.level_predictions is None else [self.level_predictions]
        if self.sessions is not None and "recruiter" in self.sessions and self.sessions["recruiter"].nunique() > 1:
            added.append(self.sessions[["session", "recruiter"]])
        return digest_of(self.trials, self.predictions, self.discrimination, *added)
