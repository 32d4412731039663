from __future__ import annotations

import os
from pathlib import Path

import pytest


def handed_in(name: str) -> Path:
    """The folder of a file that somebody has handed in, or a skip where there is none."""
    folder = Path(os.environ.get("REFERENCE_DATA", "/nonexistent")) / "inputs" / name
    if not folder.is_dir():
        pytest.skip(f"REFERENCE_DATA holds no inputs/{name}")
    return folder
