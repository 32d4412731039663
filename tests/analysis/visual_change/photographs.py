"""Real photographs for tests, where there are any."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from analysis.generation.originals import prepare_original

FOLDER = Path(os.environ.get("REFERENCE_DATA", "")) / "photos16"

needs_photographs = pytest.mark.skipif(
    "REFERENCE_DATA" not in os.environ or not FOLDER.is_dir(),
    reason="set REFERENCE_DATA to a folder that holds photos16",
)


def photograph(number: int, size_px: int = 224) -> np.ndarray:
    """One of the photographs; numbers beyond the last begin anew."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix.lower() in {".jpg", ".jpeg", ".png"})
    return prepare_original(paths[number % len(paths)], size_px)
