"""Write the tables of a description again: python -m analysis.study docs/study-file.md."""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.study.documents import filled

for name in sys.argv[1:]:
    Path(name).write_text(filled(Path(name).read_text(encoding="utf-8")), encoding="utf-8")
