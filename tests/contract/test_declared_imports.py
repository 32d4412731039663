from __future__ import annotations

from pathlib import Path

from tests.product.declared_imports import ROOT, undeclared


def test_the_product_imports_what_it_declares() -> None:
    assert undeclared() == []


def test_an_import_inside_a_function_is_seen(tmp_path: Path) -> None:
    for name in ("analysis", "humanexp", "requirements"):
        (tmp_path / name).mkdir()
    for name in ("manage.py", "gunicorn.conf.py"):
        (tmp_path / name).write_text("")
    for file in ROOT.glob("requirements/*.txt"):
        (tmp_path / "requirements" / file.name).write_bytes(file.read_bytes())
    (tmp_path / "requirements.txt").write_bytes((ROOT / "requirements.txt").read_bytes())
    (tmp_path / "analysis/late.py").write_text("def intervals():\n    import numpy\n    from pytest import approx\n")
    (tmp_path / "humanexp/named.py").write_text(
        'import importlib\n\nimportlib.import_module("hypothesis.strategies")\n'
    )
    assert [line.split(" ")[:2] for line in undeclared(tmp_path)] == [
        ["analysis/late.py:3:", "pytest"],
        ["humanexp/named.py:3:", "hypothesis"],
    ]
