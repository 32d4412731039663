from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from tests.analysis.findings.studies import analysed, sessions_of, study


@pytest.fixture(scope="session")
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    return study(1)


@pytest.fixture(scope="session")
def findings(tables: tuple[pd.DataFrame, pd.DataFrame]) -> dict[str, Any]:
    """One analysis, for all tests that only read it."""
    return analysed(*tables, study="simulated", seed=3, n_bootstrap=60)


@pytest.fixture(scope="session")
def screened() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Trials with response times and timing records, some sessions excluded or flagged, and the table of sessions."""
    trials = study(4, people=20, trials_each=50)[0]
    trials = trials.assign(
        rt_ms=lambda rows: 600.0 + 400.0 * rows["visual_change"] + rows["position"],
        timing_ok=lambda rows: rows["position"] % 7 != 0,
        accepted=lambda rows: ~rows["session"].isin(["S-0", "S-1", "S-2"]),
    )
    reasons = {"S-0": "timing", "S-1": "gold trials failed | timing", "S-2": "gold trials failed"}
    return trials, sessions_of(trials, reasons, flags={"S-3": "long run of one answer"})
