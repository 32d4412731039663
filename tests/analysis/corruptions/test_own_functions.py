from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from analysis.corruptions import CORRUPTIONS, corrupt, load_modules, register
from analysis.corruptions.registry import Corruption
from analysis.errors import InvalidInput

ROOT = Path(__file__).resolve().parents[3]
MODULE = '''
"""Fog of the lab's own."""

from __future__ import annotations

import numpy as np

from analysis.corruptions.registry import Corruption; from analysis.corruptions import register


def fog(intensities: np.ndarray, parameter: float, seed: int) -> np.ndarray:
    white = np.float32(np.random.default_rng(seed).uniform(200, 255))
    return intensities + np.float32(parameter) * (white - intensities)


register(
    Corruption(
        name="lab_fog", label="Fog", family="weather", version="1", low=0.01, high=1.0, scale="log",
        unit="share of fog", function=fog, formula="x + c (white - x)", source="our lab", departure="none",
    )
)
'''


@pytest.fixture
def lab_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "lab_functions_of_a_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "lab_functions_of_a_test"
    CORRUPTIONS.pop("lab_fog", None)
    sys.modules.pop("lab_functions_of_a_test", None)


def made_in_a_worker(module: str) -> bytes:
    load_modules([module])
    return corrupt(np.full((20, 20, 3), 90, dtype=np.uint8), "lab_fog", 0.5, 3).tobytes()


@pytest.mark.process
def test_a_module_of_the_lab_registers_its_function_here_and_in_other_processes(lab_module: str) -> None:
    load_modules([lab_module])
    load_modules([lab_module])
    assert list(CORRUPTIONS) == sorted(CORRUPTIONS)
    here = corrupt(np.full((20, 20, 3), 90, dtype=np.uint8), "lab_fog", 0.5, 3)
    assert 145 <= here.min() <= 173
    # A worker is started afresh: it knows the function only because it is told the module.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as workers:
        assert workers.submit(made_in_a_worker, lab_module).result(60) == here.tobytes()


@pytest.mark.process
def test_the_setting_makes_the_function_known_to_the_platform(tmp_path: Path) -> None:
    (tmp_path / "lab_functions.py").write_text(MODULE)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
        "CORRUPTION_MODULES": "lab_functions",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    code = (
        "import django; django.setup()\nfrom analysis.corruptions import CORRUPTIONS; print('lab_fog' in CORRUPTIONS)"
    )
    answer = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert answer.stdout.strip() == "True", answer.stderr
    environment["CORRUPTION_MODULES"] = "lab_functions,misspelt"
    answer = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 1
    assert "'misspelt' cannot be imported" in answer.stderr
    assert "CORRUPTION_MODULES" in answer.stderr


def _corruption(**changes: object) -> Corruption:
    values = {
        "name": "mine", "label": "Mine", "family": "own", "version": "1", "low": 0.1, "high": 1.0, "scale": "log",
        "unit": "1", "function": lambda intensities, parameter, seed: intensities,
    }  # fmt: skip
    return Corruption(**{**values, **changes})


@pytest.mark.parametrize("name", ["gaussian_blur", "none"])
def test_taken_names_are_refused_and_nothing_changes(name: str) -> None:
    before = dict(CORRUPTIONS)
    with pytest.raises(InvalidInput, match=name):
        register(_corruption(name=name))
    assert before == CORRUPTIONS


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": "My function"}, "lower-case"),
        ({"version": ""}, "needs a version"),
        ({"high": 0.1}, "two different ends"),
        ({"high": float("inf")}, "two different ends"),
        ({"low": 0.0}, "log scale"),
        ({"redraws": 0}, "At least one seed"),
    ],
)
def test_functions_that_cannot_work_are_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        _corruption(**changes)
