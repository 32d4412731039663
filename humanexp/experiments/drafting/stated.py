"""A study as short as a person would write it: what differs from what every study has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.spec import PROTOCOLS, DesignConfig, DiscriminationDesign, StudyConfiguration, ValidationDesign


def stated(configuration: StudyConfiguration) -> dict[str, Any]:
    """Values of a study file from which `StudyConfiguration.from_dict` makes the same study."""
    values: dict[str, Any] = configuration.to_dict()
    usual = StudyConfiguration(title=configuration.title, stimuli=configuration.stimuli).to_dict()
    always = ("title", "stimuli", "slug", "family", "population", "language", "rules", "max_sessions_per_worker")
    short = {name: value for name, value in values.items() if name in always or value != usual[name]}
    short.pop("protocol", None)
    return {**short, **_protocol(values["protocol"]), "design": _design(values["design"])}


def _protocol(values: Mapping[str, Any]) -> dict[str, Any]:
    name = values["name"]
    if name not in PROTOCOLS:
        return {"protocol": dict(values)}
    own = _differing(values, PROTOCOLS[name].config.to_dict())
    return {"protocol": {"name": name, **own} if own else name}


def _design(values: Mapping[str, Any]) -> dict[str, Any]:
    short = _differing(values, DesignConfig().to_dict())
    for name, block in (("discrimination", DiscriminationDesign()), ("validation", ValidationDesign())):
        if values.get(name) is not None:
            short[name] = _differing(values[name], block.to_dict())
    if values.get("validation") is not None:
        short.pop("main_trials", None)  # such a study has none
    return short


def _differing(values: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value != usual.get(name)}
