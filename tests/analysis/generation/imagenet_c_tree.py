"""A folder in the layout of ImageNet-C, made as the published one: framed, corrupted, saved as JPEG of quality 85."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from PIL import Image

from analysis.corruptions import corrupt
from analysis.corruptions.imagenet_c import LEVELS
from analysis.generation.originals import Framing, prepare_original


def write_tree(
    root: Path,
    originals: Iterable[tuple[str, Path]],
    functions: Sequence[str],
    *,
    levels: Sequence[int] = (1, 2, 3, 4, 5),
    size_px: int = 112,
    framing: Framing = "imagenet",
    groups: Mapping[str, str] | None = None,
) -> Path:
    """Originals are (class folder, path); files keep their stem. `groups` puts functions into folders around them."""
    for class_folder, path in originals:
        picture = prepare_original(path, size_px, framing)
        for name in functions:
            for level in levels:
                folder = root / (groups or {}).get(name, "") / name / str(level) / class_folder
                folder.mkdir(parents=True, exist_ok=True)
                corrupted = corrupt(picture, name, level, 7 * level, version=LEVELS[name].version)
                Image.fromarray(corrupted).save(folder / f"{path.stem}.JPEG", quality=85, optimize=True)
    return root
