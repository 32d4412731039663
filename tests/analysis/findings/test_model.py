"""The model of the findings: stored ones open and come out as they were, new ones are exact and never change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings
from analysis.study.analysis_plan import LEVEL

STORED = Path(__file__).parent / "stored"


def test_stored_findings_come_out_as_the_same_bytes() -> None:
    stored = (STORED / "findings-3.json").read_bytes()
    found = Findings.read(stored)
    assert json.dumps(found.to_json(), allow_nan=False).encode() + b"\n" == stored
    # Every part that findings-3 had is there, or this test would show less than it says.
    assert set(Findings.model_fields) - found.model_fields_set == {
        "asked", "benchmark", "consistency_differences", "contrasts", "crowd", "difficulty", "factors",
        "group_contrasts", "group_indices", "group_means", "groups",
        "labels", "model_discrimination", "persons", "recruiters", "selection", "soft_agreement",
    }  # fmt: skip
    assert all(getattr(found, name) for name in found.model_fields_set)


def test_findings_of_the_first_version_open_and_nothing_is_added() -> None:
    stored = (STORED / "findings-1.json").read_bytes()
    found = Findings.read(stored)
    assert found.version.endswith("findings-1") and found.curves and found.comparisons
    assert found.settings is None and found.leaderboard == () and found.levels is None
    assert found.curves[0].caveats == () and found.error_consistency[0].shown
    assert found.to_json() == json.loads(stored)


def test_a_later_version_opens_without_what_it_added() -> None:
    content = json.loads((STORED / "findings-3.json").read_text(encoding="utf-8"))
    later = content | {"colours": [1], "curves": [one | {"colour": 1} for one in content["curves"]]}
    assert Findings.read(json.dumps(later)).to_json() == content


def test_findings_never_change_and_take_nothing_that_they_do_not_name() -> None:
    found = Findings.read((STORED / "findings-3.json").read_bytes())
    with pytest.raises(ValidationError, match="frozen"):
        found.curves[0].area = 0.5
    with pytest.raises(ValidationError, match="Extra inputs"):
        Findings(study="s", version="v", data_digest="d", seed=1, n_bootstrap=0, curve=())


def test_what_early_versions_did_not_write_has_one_default() -> None:
    found = Findings.read((STORED / "findings-1.json").read_bytes())
    bare = found.comparisons[0].model_dump(exclude={"level"})
    assert type(found.comparisons[0])(**bare).level == LEVEL
    pair = found.similarity[0].model_dump(exclude={"population"})
    assert type(found.similarity[0])(**pair).population == HUMANS
