"""The scripts that an export holds for lme4 and bambi."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from analysis.findings.observations import CURVE_ROLES
from analysis.labels.files import default_labels
from analysis.tables.trials import TRIALS
from benchmarks.mixed_models import CURVES, area, write_trials
from humanexp.results.exports import MIXED_MODEL_SCRIPTS
from tests.labels import of_the_sixteen

R_SCRIPT, PYTHON_SCRIPT = MIXED_MODEL_SCRIPTS


def columns_read(script: Path) -> set[str]:
    """Columns of the trials that a script names."""
    text = script.read_text(encoding="utf-8")
    if script.suffix == ".R":
        return set(re.findall(r"trials\$(\w+)", text))
    (reader,) = [one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef) and one.name == "read_answers"]
    found = {
        str(node.slice.value)
        for node in ast.walk(reader)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "trials"
        and isinstance(node.slice, ast.Constant)
    }
    names = re.search(r"names = (\[.*\])", text)
    assert names is not None
    return found | set(ast.literal_eval(names[1]))


@pytest.mark.parametrize("script", MIXED_MODEL_SCRIPTS, ids=lambda script: script.suffix)
def test_the_columns_that_a_script_reads_are_exported(script: Path) -> None:
    read = columns_read(script)
    assert read == {
        "accepted", "task", "role", "corruption", "visual_change", "correct", "participant", "category", "original"
    }  # fmt: skip
    assert read <= set(TRIALS.names)


@of_the_sixteen
@pytest.mark.parametrize("script", MIXED_MODEL_SCRIPTS, ids=lambda script: script.suffix)
def test_the_scripts_take_the_answers_and_the_guess_rate_of_the_curves(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    choices, roles = re.search(r"^CHOICES (?:<-|=) (\d+)$", text, re.M), re.search(r"^ROLES .*", text, re.M)
    assert choices is not None and roles is not None
    assert int(choices[1]) == len(default_labels().ids)
    assert set(re.findall(r'"(\w+)"', roles[0])) == set(CURVE_ROLES) - {"clean"}


def has_lme4() -> bool:
    if shutil.which("Rscript") is None:
        return False
    asked = 'quit(status = !requireNamespace("lme4", quietly = TRUE))'
    return subprocess.run(["Rscript", "-e", asked], capture_output=True, check=False).returncode == 0


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def areas_said(text: str) -> dict[str, tuple[float, float, float]]:
    """Area and interval by corruption, from what a script printed."""
    (part,) = re.findall(r"^Areas\n.*\n((?:\w+ .*\n)+)", text, re.M)
    rows = [line.split() for line in part.splitlines()]
    return {row[0]: (float(row[1]), float(row[-2]), float(row[-1])) for row in rows}


@pytest.fixture
def trials(tmp_path: Path) -> Path:
    write_trials(tmp_path, np.random.default_rng(3), people=10, trials_each=50, originals=64)
    return tmp_path


def test_simulated_trials_are_a_table_of_trials(trials: Path) -> None:
    table = TRIALS.read(trials / "trials.csv")
    assert len(table) == 500 and set(table["corruption"]) == set(CURVES)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R")
def test_r_reads_the_script() -> None:
    assert said("Rscript", "-e", f'cat(length(parse("{R_SCRIPT}")) > 5)') == "TRUE"


@pytest.mark.slow
@pytest.mark.skipif(not has_lme4(), reason="needs R with lme4 (Debian: r-cran-lme4)")
def test_lme4_gives_back_planted_areas(trials: Path) -> None:
    found = areas_said(said("Rscript", str(R_SCRIPT), str(trials)))
    assert {name: lower <= area(name) <= upper for name, (_, lower, upper) in found.items()} == dict.fromkeys(
        CURVES, True
    )


@pytest.mark.slow
@pytest.mark.skipif(find_spec("bambi") is None, reason="needs bambi, which the product does not install")
def test_bambi_gives_back_planted_areas(trials: Path) -> None:
    sizes = ("--chains", "1", "--draws", "300", "--tune", "300")
    found = areas_said(said(sys.executable, str(PYTHON_SCRIPT), str(trials), *sizes))
    assert {name: lower <= area(name) <= upper for name, (_, lower, upper) in found.items()} == dict.fromkeys(
        CURVES, True
    )
