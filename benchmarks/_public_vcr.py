"""The stimulus pipeline of the seed authors' program (github.com/HuakunShen/VCR), taken from a clone beside this one.

Its modules import much that its pipeline does not use, and do not load any more with current libraries. So the four
functions are taken out of its file by name, as they stand, and run with the libraries that they call.
"""

from __future__ import annotations

import ast
import importlib.util
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2
import numpy as np
from PIL import Image

FUNCTIONS = ("gaussian_noise", "gaussian_blur", "shot_noise", "defocus_blur")
_SOURCE = Path("reliabilitycli/src")
_NAMES = (*FUNCTIONS, "disk", "TRANSFORMATION_LEVEL")


class PublicPipeline:
    """What `imagegen/generator.py` does for one stimulus, in its order."""

    def __init__(self, clone: Path) -> None:
        source = clone / _SOURCE
        self._functions = _take_out(source / "transformation" / "transformations.py")
        self._vif = _load(source / "utils" / "vif_utils.py").vif

    def measured(self, path: str, name: str) -> tuple[Any, int, float]:
        """`single_image_transform`: load, corrupt at a random level, measure. Returns picture, level, visual change."""
        original = Image.open(path).convert("RGB")
        level = random.choice(range(self._functions["TRANSFORMATION_LEVEL"]))  # noqa: S311
        corrupted = self._functions[name](original, level)[0].astype(np.uint8)
        reference = cv2.cvtColor(np.asarray(original), cv2.COLOR_RGB2GRAY)
        value = self._vif(reference, cv2.cvtColor(corrupted, cv2.COLOR_RGB2GRAY))
        return corrupted, level, 1 - float(value)

    def saved(self, path: str, name: str, level: int, target: Path) -> None:
        """`ImageGenerator.save`: load and corrupt once more, write."""
        original = Image.open(path).convert("RGB")
        cv2.imwrite(str(target), self._functions[name](original, level)[0].astype(np.uint8))


def missing_packages() -> list[str]:
    """Packages that the four functions and VIF call and this environment lacks."""
    needed = {"skimage": "scikit-image", "pyrtools": "pyrtools"}
    return [package for module, package in needed.items() if importlib.util.find_spec(module) is None]


def _take_out(path: Path) -> dict[str, Any]:
    from skimage.filters import gaussian

    tree = ast.parse(path.read_text(encoding="utf-8"))
    kept = [node for node in tree.body if _name_of(node) in _NAMES]
    lacking = set(_NAMES) - {_name_of(node) for node in kept}
    if lacking:
        raise SystemExit(f"{path} does not hold {', '.join(sorted(lacking))}: is it the program meant?")
    names: dict[str, Any] = {"np": np, "cv2": cv2, "gaussian": gaussian}
    exec(compile(ast.Module(body=kept, type_ignores=[]), str(path), "exec"), names)  # noqa: S102
    return names


def _name_of(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("public_vif_utils", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
