"""``import torchvision`` wherever torch is, and networks with the same random weights every time."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from analysis.errors import ClassifierUnavailable
from analysis.extras import install

INSTALL = install("classifiers")
#: The one failure of ``import torchvision`` that `import_torchvision` mends.
MISSING_OPERATOR = "operator torchvision::nms does not exist"
#: Kept alive: an operator's declaration lives as long as its library object.
_declarations: list[Any] = []


def import_torchvision() -> ModuleType:
    """``import torchvision``, also where its compiled extension was built for another torch.

    The CPU build of torch with the common build of torchvision fails at import, for want of two detection operators
    that classification never uses. After that failure, and no other, they are declared and the import is repeated.

    Raises
    ------
    ClassifierUnavailable
        If torchvision is not installed.
    """
    try:
        return importlib.import_module("torchvision")
    except ImportError as error:
        raise ClassifierUnavailable(f"torchvision is not installed: {INSTALL}") from error
    except RuntimeError as error:
        if MISSING_OPERATOR not in str(error):
            raise
    declare_detection_operators()
    return importlib.import_module("torchvision")


def declare_detection_operators() -> None:
    """Declare the schemas of torchvision's two operators, and forget its half-imported modules."""
    import torch

    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    library = torch.library.Library("torchvision", "FRAGMENT")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declarations.append(library)


def untrained(make: Callable[[], Any]) -> Any:
    """A network with the same random weights every time, leaving torch's own random state alone."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return make()
