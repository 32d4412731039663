"""What Prometheus reads: counts of this site's processes, and figures of the database at the moment of the question.

Counts of several web processes are added up: `humanexp.serving` gives them one folder (PROMETHEUS_MULTIPROC_DIR).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = CONTENT_TYPE_LATEST

_COUNTED = CollectorRegistry()
REQUESTS = Counter(
    "humanexp_requests",
    "Requests answered, by route; refusals are those with a status from 400 on.",
    ["route", "method", "status"],
    registry=_COUNTED,
)
SECONDS = Histogram(
    "humanexp_request_seconds",
    "Time until the answer was ready, by the first part of the route.",
    ["area"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=_COUNTED,
)
ANSWERS = Counter("humanexp_answers", "Answers of participants that were stored.", registry=_COUNTED)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number of the database."""

    name: str
    #: the same in every figure of this name
    about: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


#: How an app tells its figures, in few and cheap questions; registered in AppConfig.ready().
Source = Callable[[], Iterator[Figure]]
_SOURCES: list[Source] = []


def register_source(source: Source) -> None:
    _SOURCES.append(source)


class _Database:
    """Asks every app when Prometheus does."""

    def collect(self) -> Iterator[Metric]:
        families: dict[str, GaugeMetricFamily] = {}
        for source in _SOURCES:
            for figure in source():
                if figure.name not in families:
                    families[figure.name] = GaugeMetricFamily(figure.name, figure.about, labels=sorted(figure.labels))
                values = [figure.labels[label] for label in sorted(figure.labels)]
                families[figure.name].add_metric(values, figure.value)
        yield from families.values()


def exposition() -> bytes:
    """All of it in Prometheus's text format."""
    shown = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(shown)  # type: ignore[no-untyped-call]
        counted = generate_latest(shown)
    else:
        counted = generate_latest(_COUNTED)
    asked = CollectorRegistry()
    asked.register(_Database())
    return counted + generate_latest(asked)
