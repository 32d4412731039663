from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.verify

ROOT = Path(__file__).resolve().parents[3]


def test_every_block_of_the_tutorial_runs(monkeypatch, capsys) -> None:
    text = (ROOT / "docs/counterfactuals.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 7
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"docs/counterfactuals.md, block {number}", "exec"), names)  # noqa: S102  our own page
    assert names["first"].valid
    assert 0 < names["submodel"].share < 1
    assert capsys.readouterr().out
