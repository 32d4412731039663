"""The shipped networks that a search looks at."""

from __future__ import annotations

CLEAN, ROBUST = (f"export:fixtures/classifiers/{name}.pt2" for name in ("clean", "robust"))
