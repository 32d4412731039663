"""Speed and coverage figures, as ratios to a named baseline measured in the same run."""

from __future__ import annotations

import os

# One thread a process, set before numpy is loaded: matrices are small, and processes share the cores already.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
