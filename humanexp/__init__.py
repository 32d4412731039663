"""The web side of HumanExp: a Django project whose apps are stations on the way from picture to figure."""

from __future__ import annotations

import os

# Before numpy is imported anywhere: thousands of small refits run up to nine times slower when each of them wakes a
# second thread. Work is spread over processes instead (COMPUTE).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
