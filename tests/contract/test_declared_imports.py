from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.product.declared_imports import COPIED, ROOT, undeclared, undeclared_by_scripts


@pytest.mark.verify
def test_the_product_imports_what_it_declares() -> None:
    assert undeclared() == []


def test_an_import_inside_a_function_is_seen(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    for name in ("analysis", "humanexp"):
        (tmp_path / name).mkdir()
    for name in ("manage.py", "gunicorn.conf.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "analysis/late.py").write_text("def intervals():\n    import numpy\n    from pytest import approx\n")
    (tmp_path / "humanexp/named.py").write_text(
        'import importlib\n\nimportlib.import_module("hypothesis.strategies")\n'
    )
    assert [line.split(" ")[:2] for line in undeclared(tmp_path)] == [
        ["analysis/late.py:3:", "pytest"],
        ["humanexp/named.py:3:", "hypothesis"],
    ]


def test_what_the_platform_may_import_the_analysis_may_not(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    for name in ("analysis", "humanexp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "web.py").write_text("import numpy\nimport requests\n")
    for name in ("manage.py", "gunicorn.conf.py"):
        (tmp_path / name).write_text("")
    assert [line.split(" ")[:2] for line in undeclared(tmp_path)] == [["analysis/web.py:2:", "requests"]]


@pytest.mark.parametrize(
    ("block", "missing"),
    [
        ('# /// script\n# dependencies = ["numpy", "arviz>=0.17"]\n# ///\n', []),
        ('# /// script\n# dependencies = [\n#   "numpy",\n# ]\n# ///\n', ["arviz"]),
        ("", ["arviz", "numpy"]),
    ],
)
def test_a_copied_script_names_what_it_needs_itself(tmp_path: Path, block: str, missing: list[str]) -> None:
    (tmp_path / COPIED[0]).mkdir(parents=True)
    (tmp_path / COPIED[0] / "fit.py").write_text(f"{block}import json\n\nimport arviz as az\nfrom numpy import eye\n")
    assert [line.split()[-1] for line in undeclared_by_scripts(tmp_path)] == missing


def test_no_script_of_an_export_stands_in_the_package_for_analysis() -> None:
    assert undeclared_by_scripts() == []
    assert [folder for folder in COPIED if folder.startswith("analysis/")] == []
