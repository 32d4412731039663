"""Which sentinels of persons a session has: `[design.persons]` of a study file."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from analysis.study.base import InForm, Names, Spec, refusal

#: Role of their trials.
PERSON = "person"
#: Most sentinels of persons in a session: more would be noticed, and cost more than they tell.
MOST_PERSON_TRIALS = 4


class PersonsDesign(Spec):
    """Sentinels of persons: a few pictures that people and machines answer differently, outside all curves."""

    per_session: Annotated[
        int,
        Field(ge=0, le=MOST_PERSON_TRIALS, description="sentinels of persons a session, in turn from the families"),
        InForm(
            "Sentinels of persons a session",
            help="At most 4. Empty: none, or 4 if you choose pictures.",
            name="person_trials",
            part="persons",
            placeholder="none",
        ),
    ] = MOST_PERSON_TRIALS
    families: Annotated[
        Names,
        Field(
            description="`cue_conflict`, `high_pass`, `silhouette`, or families of your own; all that the stimulus set "
            "has if left out ([stimuli.md](stimuli.md))"
        ),
        InForm("Their pictures", help="None chosen: all that the set has.", name="person_families", part="persons"),
    ] = ()

    @classmethod
    def called(cls) -> str:
        return "persons"

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if len(set(self.families)) != len(self.families):
            raise refusal("{place} names a family twice.", "families")
        return self
