from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis.errors import InvalidInput
from analysis.findings import __main__
from analysis.findings.__main__ import main
from analysis.findings.reproduction import TOLERANCE, analyse_export, describe_analysis, differences

ROOT = Path(__file__).resolve().parents[3]


def test_differences_name_the_place_and_the_size() -> None:
    stored = {"a": [1, 2.0, {"b": "x"}], "gone": 1, "same": None}
    computed = {"a": [1.0, 2.5, {"b": "y"}], "new": 2, "same": None}
    found = {one.path: one.size for one in differences(stored, computed)}
    assert found == {"a/1": 0.5, "a/2/b": math.inf, "gone": math.inf, "new": math.inf}
    assert list(differences([1, 2], [1, 2, 3]))[0].path == ""
    assert not list(differences({"a": [0.1]}, {"a": [0.1]}))


@pytest.mark.parametrize(
    ("moved_by", "status", "said"),
    [(0.0, 0, "Identical"), (1e-11, 0, "at most 1.0e-11 (curves/0/area)"), (1e-6, 1, "curves/0/area: 0.5 there")],
)
def test_numbers_of_another_platform_may_differ_by_a_billionth(
    moved_by: float,
    status: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    (tmp_path / "findings.json").write_text(json.dumps({"curves": [{"area": 0.5}]}))
    monkeypatch.setattr(__main__, "analyse_export", lambda folder: {"curves": [{"area": 0.5 + moved_by}]})
    assert main([str(tmp_path), "--check"]) == status
    assert said in capsys.readouterr().out


def test_folders_that_cannot_be_analysed_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(InvalidInput, match="no exported study"):
        analyse_export(tmp_path)
    description = describe_analysis(study="s", settings={"seed": 1})
    assert {"python", "numpy", "scipy"} <= description["made_with"].keys()
    (tmp_path / "analysis.json").write_text(json.dumps(description))
    assert main([str(tmp_path)]) == 2
    assert "neither trials.parquet nor trials.csv" in capsys.readouterr().err
    pd.DataFrame({"study": ["s"]}).to_csv(tmp_path / "trials.csv", index=False)
    assert main([str(tmp_path)]) == 2
    assert "column 'participant' is missing" in capsys.readouterr().err


#: The analysis of the shared study, by a Python whose linear algebra uses the instructions of an older processor.
OLDER = """
import json, sys
from tests.analysis.findings.studies import analysed, study
json.dump(analysed(*study(1), study="simulated", seed=3, n_bootstrap=60), sys.stdout)
"""


@pytest.mark.process
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names instructions of x86 processors")
def test_another_processor_gives_the_numbers_within_a_billionth(findings: dict[str, Any]) -> None:
    older = {**os.environ, "OPENBLAS_CORETYPE": "NEHALEM", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3", "PYTHONPATH": "."}
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", OLDER], capture_output=True, text=True, check=True, env=older, cwd=ROOT
    )
    others = list(differences(findings, json.loads(found.stdout)))
    assert max((one.size for one in others), default=0.0) <= TOLERANCE
