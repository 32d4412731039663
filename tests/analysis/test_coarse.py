"""Exported trials tell nobody by their screen, and a table and its export have one digest."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.findings.pipeline import digest_of
from analysis.tables.sessions import coarse_trials
from analysis.tables.trials import TRIALS

EXACT = {
    "t_refresh_median_ms": 16.683,
    "dpr": 1.3333,
    "css_px": 168.0,
    "viewport_width_px": 1517,
    "viewport_height_px": 733,
}


def trials(**cells: object) -> pd.DataFrame:
    return TRIALS.frame([{"study": "s", "session": "S-1", "position": 0, **cells}])


def test_sizes_ratio_and_rate_are_coarse_and_nothing_else_changes() -> None:
    exact = trials(**EXACT, dur_stim_ms=200.2, canvas_px=224)
    coarse = coarse_trials(exact)
    assert coarse[list(EXACT)].iloc[0].to_dict() == {
        "t_refresh_median_ms": 16.667,
        "dpr": 1.5,
        "css_px": 150.0,
        "viewport_width_px": 1400,
        "viewport_height_px": 600,
    }
    others = [name for name in TRIALS.names if name not in EXACT]
    pd.testing.assert_frame_equal(coarse[others], exact[others])
    assert list(coarse.dtypes) == list(exact.dtypes)
    assert exact["dpr"].iloc[0] == EXACT["dpr"], "the table itself keeps what was measured"


@pytest.mark.parametrize("refresh_ms", [16.6, 16.683, 6.944, 20.833, 33.4, 8.3])
def test_what_is_coarse_stays_as_it_is(refresh_ms: float) -> None:
    once = coarse_trials(trials(**EXACT | {"t_refresh_median_ms": refresh_ms}))
    pd.testing.assert_frame_equal(coarse_trials(once), once)


def test_a_table_and_its_export_have_one_digest() -> None:
    exact = trials(**EXACT)
    assert digest_of(exact) == digest_of(coarse_trials(exact))
    assert digest_of(exact) != digest_of(trials(**EXACT | {"dpr": 2.0}))


def test_a_table_without_screens_is_unchanged() -> None:
    empty = trials()
    pd.testing.assert_frame_equal(coarse_trials(empty), empty)
    assert list(coarse_trials(pd.DataFrame({"response": ["cat"]})).columns) == ["response"]
