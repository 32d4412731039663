"""Metrics of visual change by name; another one is a class with two methods, and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from analysis.errors import UnknownName
from analysis.visual_change.pixel import PixelVifReference
from analysis.visual_change.vif import METRIC, METRIC_VERSION, VifReference


class Reference(Protocol):
    """A reference picture, ready to be compared with others of its size."""

    def vif(self, other: NDArray[Any]) -> float:
        """Visual information fidelity of another picture."""
        ...

    def visual_change(self, other: NDArray[Any]) -> float:
        """Visual change of another picture, in [0, 1]."""
        ...


@dataclass(frozen=True)
class Metric:
    """A way to measure visual change.

    Parameters
    ----------
    name : str
    version : int
        Rises when a value changes by more than 1e-9.
    reference : callable
        From a picture, uint8 of shape (h, w) or (h, w, 3), to a `Reference`.
    """

    name: str
    version: int
    reference: Callable[[NDArray[Any]], Reference]

    @property
    def stored_name(self) -> str:
        """Name with version, as it is stored with every stimulus."""
        return f"{self.name}-{self.version}"


#: Every metric by name; stimuli are made with the first.
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (Metric(METRIC, METRIC_VERSION, VifReference), Metric("vif-pixel", 1, PixelVifReference))
}


def find_metric(name: str) -> Metric:
    """Metric registered under a name, with or without its version.

    Raises
    ------
    UnknownName
        If nothing is registered under it.
    """
    for metric in METRICS.values():
        if name in (metric.name, metric.stored_name):
            return metric
    raise UnknownName(f"There is no metric named {name!r}; choose from {', '.join(METRICS)}.")
