"""What every part of the findings has in common."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, JsonValue

from analysis.spec.analysis_plan import LEVEL as LEVEL

#: The population of all people.
HUMANS = "humans"
#: Refits per resampled unit where no number is chosen.
N_BOOTSTRAP = 1000

Property = Literal["accuracy", "consistency"]
Interval: TypeAlias = tuple[float, float]
Pair: TypeAlias = tuple[str, str]
Numbers: TypeAlias = tuple[float, ...]


class Entry(BaseModel):
    """A part of the findings: it never changes, and nothing can be put into it that it does not name.

    Notes
    -----
    A field with a default was not written by the first versions, or is not written for everybody. What was not given
    is left out of the JSON, so that absent stays absent and null stays null.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")

    def to_json(self) -> dict[str, JsonValue]:
        """Plain values in the order of the fields, floats unrounded."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class CurveName(Entry):
    """Names a curve of one population."""

    population: str
    corruption: str
    property: Property


class ComparisonName(Entry):
    """Names a classifier beside people."""

    classifier: str
    corruption: str
    property: Property
