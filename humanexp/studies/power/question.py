"""From a study's plan to a question of power: could this design find the difference that matters?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from analysis.corruptions import NO_CORRUPTION
from humanexp.core.errors import InputRefused, StudyRefused
from humanexp.studies.models import Study
from humanexp.studies.plans import plan_head
from humanexp.studies.selectors import configuration_of

if TYPE_CHECKING:
    from analysis.power import PlannedStudy

#: Difference in area that a study is planned for unless it says otherwise.
USUAL_DIFFERENCE = 0.033
#: What each part of a question may be.
LIMITS: Mapping[str, tuple[float, float]] = {
    "people": (2, 5000),
    "difference": (0.005, 0.5),
    "bend": (0.0, 1.0),
    "image_sd": (0.0, 10.0),
    "participant_sd": (0.0, 10.0),
    "runs": (20, 1000),
    "seed": (0, 2**31 - 1),
}


@dataclass(frozen=True, kw_only=True)
class PowerQuestion:
    """Which difference is to be found, by how many people, and what is believed of them."""

    people: int
    difference: float = USUAL_DIFFERENCE
    #: visual change at which accuracy is half-way down
    bend: float = 0.8
    #: spread of pictures and of people on the logit
    image_sd: float = 2.0
    participant_sd: float = 0.5
    runs: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            if not low <= getattr(self, name) <= high:
                said = f"{name} lies between {low:g} and {high:g}, not at {getattr(self, name):g}."
                raise InputRefused(said, fields={name: f"{low:g} to {high:g}"})

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class PlannedAnswers:
    """What a plan holds that power depends on."""

    #: corruption functions that people name pictures of
    functions: int
    people: int
    #: answers of a person on the function with the fewest
    trials_each: int
    answers_per_stimulus: int
    originals: int
    clean_answers: int


def planned_answers(study: Study) -> PlannedAnswers | None:
    """None where no two corruptions are compared by their curves: the study judges pairs, or a single corruption."""
    configuration, summary = configuration_of(study), plan_head(study)["summary"]
    answers = [sum(counts) for name, counts in summary["strata"].items() if name != NO_CORRUPTION and any(counts)]
    if configuration.design.validation is not None or len(answers) < 2:
        return None
    people = -(-summary["sessions"] // configuration.max_sessions_per_worker)
    return PlannedAnswers(
        functions=len(answers),
        people=people,
        trials_each=max(1, round(min(answers) / people)),
        answers_per_stimulus=max(1, round(sum(answers) / max(1, summary["stimuli_used"]))),
        originals=summary["pools"]["main"]["originals"],
        clean_answers=summary["clean_answers"],
    )


def planned_study(study: Study, question: PowerQuestion) -> PlannedStudy:
    """The design as the simulation takes it; refuses a study without two curves to compare."""
    from analysis.power import Crowd, LogisticDrop, PlannedStudy

    planned = planned_answers(study)
    if planned is None:
        raise StudyRefused(
            _("Power is simulated for studies in which people name pictures of at least two corruptions.")
        )
    plan = configuration_of(study).analysis
    found = PlannedStudy(
        crowd=Crowd(
            people=question.people,
            trials_each=planned.trials_each,
            answers_per_stimulus=planned.answers_per_stimulus,
            originals=planned.originals,
            image_sd=question.image_sd,
            participant_sd=question.participant_sd,
        ),
        functions=planned.functions,
        clean_answers=round(planned.clean_answers * question.people / planned.people),
        curve=LogisticDrop(bend=question.bend),
        margin=plan.margin,
        band_margin=plan.band_margin,
    )
    found.curve.lowered(question.difference)
    return found
