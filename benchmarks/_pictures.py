"""Original pictures for benchmarks: the photographs of REFERENCE_DATA, or drawings where there are none."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from analysis.original import Original


def originals(folder: Path, *, drawings: int = 58) -> tuple[list[Original], str]:
    """Originals, and what they are; drawings are written into ``folder``."""
    photographs = Path(os.environ.get("REFERENCE_DATA", "")) / "photos16"
    if os.environ.get("REFERENCE_DATA") and photographs.is_dir():
        paths = [path for path in photographs.rglob("*") if path.suffix.lower() in {".jpg", ".jpeg", ".png"}]
        return _labelled(paths), f"{len(paths)} photographs of photos16"
    from analysis.examples.pictures import write_source_folder

    paths = write_source_folder(folder, per_category=-(-drawings // 16), seed=1)[:drawings]
    return _labelled(paths), f"{len(paths)} drawings (set REFERENCE_DATA for the photographs of photos16)"


def _labelled(paths: list[Path]) -> list[Original]:
    return [
        Original(f"{path.parent.name}-{path.stem}", path.parent.name, str(path), _digest(path))
        for path in sorted(paths)
    ]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
