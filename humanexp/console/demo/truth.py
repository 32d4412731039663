"""The personas' true curves beside what the analysis made of their answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.findings.model import Findings
from humanexp.console.scripted import Cast
from humanexp.simulation.observers import ObserverModel
from humanexp.simulation.personas import LOOK_ALIKE, Honest, personas


def true_area(observers: ObserverModel, cast: Cast, corruption: str, seed: int) -> float:
    """Area under the marginal accuracy of the honest participants, lapses and misses included."""
    kinds = personas(observers, seed)
    weights, total = 0, 0.0
    for name, count in cast.counts().items():
        persona = kinds[name]
        if isinstance(persona, Honest):
            total += count * persona.area(corruption)
            weights += count
    return total / weights


def beside_estimates(
    findings: Findings, observers: ObserverModel, cast: Cast, excluded: Mapping[str, bool], seed: int
) -> dict[str, Any]:
    """The `truth` of the demo's JSON.

    Parameters
    ----------
    excluded : mapping
        Whether each participant's session was excluded, by the participant's name.
    """
    kinds = personas(observers, seed)
    curves = [
        {
            "corruption": curve.corruption,
            "property": curve.property,
            "area": (area := true_area(observers, cast, curve.corruption, seed)),
            "estimate": curve.area,
            "interval": curve.interval,
            "inside": curve.interval is not None and curve.interval[0] <= area <= curve.interval[1],
        }
        for curve in findings.human_curves
        if curve.property == "accuracy"
    ]
    similarity = [
        {"pair": one.pair, "alike": set(one.pair) <= LOOK_ALIKE, "verdict": one.verdict}
        for one in findings.similarity
        if one.property == "accuracy"
    ]
    honest = {name for name, persona in cast.persona_of.items() if kinds[persona].is_honest}
    return {
        "curves": curves,
        "similarity": similarity,
        "screening": {
            "personas": cast.counts(),
            "honest_excluded": sum(excluded[name] for name in honest if name in excluded),
            "careless_accepted": sum(not out for name, out in excluded.items() if name not in honest),
        },
    }
