"""Plans for real, uneven collections of pictures; only their folders are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analysis.design.planner import plan_study
from analysis.study.design import DesignConfig
from tests.analysis.design.test_plan_study import check_promises

REFERENCE_DATA = os.environ.get("REFERENCE_DATA", "")


def collection(name, per_function, most_a_category=None):
    folder = Path(REFERENCE_DATA) / name
    if not REFERENCE_DATA or not folder.is_dir():
        pytest.skip(f"set REFERENCE_DATA to a folder that holds {name}")
    originals = {
        f"{file.parent.name}/{file.name}": file.parent.name
        for category in sorted(folder.iterdir())
        for file in sorted(category.glob("*.jpg"))[:most_a_category]
    }
    keys = sorted(originals)
    rows = [("none", key, 0.0) for key in keys]
    for function in ("gaussian_blur", "gaussian_noise", "uniform_noise"):
        rows += [(function, keys[(5 * k) % len(keys)], (k + 0.5) / per_function) for k in range(per_function)]
    return originals, [
        {
            "stimulus": f"{n}",
            "original": key,
            "category": originals[key],
            "corruption": function,
            "visual_change": change,
        }
        for n, (function, key, change) in enumerate(rows)
    ]


def test_58_photographs_with_one_knife_make_a_smaller_study():
    # Six birds and six dogs of the many: the other categories have no more.
    originals, stimuli = collection("photos16", 120, most_a_category=6)
    plan = plan_study(originals, stimuli, DesignConfig(sessions=10), 1)
    check_promises(plan, {row["stimulus"]: row for row in stimuli})
    assert len(originals) == 58 and any("58 originals are few" in note for note in plan.notes)
    assert "knife" in {originals[original] for original in plan.pools["main"]}


def test_eight_stylised_pictures_a_category_make_a_full_session():
    originals, stimuli = collection("stylised16", 400)
    plan = plan_study(originals, stimuli, DesignConfig(sessions=20), 1)
    check_promises(plan, {row["stimulus"]: row for row in stimuli})
    assert len(originals) == 128 and len(plan.sessions) == 20
    assert all(sum(trial.role == "main" for trial in session.trials) == 40 for session in plan.sessions)
