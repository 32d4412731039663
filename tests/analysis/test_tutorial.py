"""The tutorial runs as it stands, in a Python that has no Django, with warnings as errors."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
#: Packages that are not there. (None in sys.modules would say that they are being imported, which scipy looks at.)
ALONE = """
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("django", "humanexp", "torch"):
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Absent())
"""


def test_every_block_of_the_tutorial_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "analysis-tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 7
    program = tmp_path / "tutorial.py"
    program.write_text(ALONE + "\n".join(blocks), encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "MPLCONFIGDIR": str(tmp_path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert re.search(r"area +0\.\d+ \[0\.\d+, 0\.\d+\]", found.stdout)
    assert re.search(r"HMRI +0\.", found.stdout) and "mean difference" in found.stdout
    assert (tmp_path / "sheet.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "gaussian-noise.svg").read_text().startswith("<?xml")
