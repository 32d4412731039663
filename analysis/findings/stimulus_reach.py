"""How far up the axis a study's stimuli reach: top bins may hold only pictures that change easily."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.findings.model import Reach
from analysis.findings.observations import CLEAN
from analysis.persons import SENTINELS
from analysis.visual_change.coverage import measure_coverage, measure_paper_coverage

if TYPE_CHECKING:
    import pandas as pd


def reach_entries(stimuli: pd.DataFrame | None) -> list[Reach]:
    """Coverage and reach of every corruption.

    Parameters
    ----------
    stimuli : pandas.DataFrame or None
        Columns of `analysis.tables.STIMULI`.

    Returns
    -------
    list of Reach
        ``corruption``, ``n``, ``originals``, ``targets_missed``, ``largest`` (median over originals of the largest
        visual change), ``largest_worst_original``, ``covered`` and ``bins`` in our 40 bins, ``paper_covered`` and
        ``paper_bins`` in the published 39.
    """
    if stimuli is None or stimuli.empty:
        return []
    entries = []
    # Sentinels of persons lie on no curve. Published pictures of such a name have no version here.
    is_sentinel = stimuli["corruption"].isin(SENTINELS) & stimuli["corruption_version"].notna()
    for name, own in stimuli[(stimuli["corruption"] != CLEAN) & ~is_sentinel].groupby("corruption", sort=True):
        change = own["visual_change"].to_numpy(dtype=np.float64)
        largest = own.groupby("original", sort=True)["visual_change"].max().to_numpy(dtype=np.float64)
        ours, paper = measure_coverage(change), measure_paper_coverage(change)
        entries.append(
            Reach(
                corruption=str(name),
                n=len(own),
                originals=len(largest),
                targets_missed=int((~own["reached"].astype(bool)).sum()),
                largest=float(np.median(largest)),
                largest_worst_original=float(largest.min()),
                covered=ours.covered,
                bins=len(ours.counts),
                paper_covered=paper.covered,
                paper_bins=len(paper.counts),
            )
        )
    return entries
