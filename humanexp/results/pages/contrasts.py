"""The room of pictures on which people and a model differ: what is shown of the findings, with the files."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.agreement.contrasts import ENOUGH_ANSWERS, NAMED
from analysis.findings.model.agreement import Contrast, ContrastPicture
from analysis.findings.model.findings import Findings
from humanexp.core.errors import NotFound
from humanexp.results.selectors import stimuli_of_pictures
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study


@dataclass(frozen=True)
class Shown:
    """A picture, and its file where the study has it."""

    picture: ContrastPicture
    stimulus: Stimulus | None


@dataclass(frozen=True)
class Side:
    """Pictures that one side alone names."""

    contrast: Contrast
    shown: tuple[Shown, ...]

    @property
    def by_people(self) -> bool:
        return self.contrast.named_by == "people"


@dataclass(frozen=True)
class ContrastRoom:
    """Both sides for one model, and which models there are."""

    model: str
    models: tuple[str, ...]
    sides: tuple[Side, ...]
    enough: int = ENOUGH_ANSWERS
    named: float = NAMED
    missed: float = 1.0 - NAMED


def contrast_room(study: Study, found: Findings, model: str) -> ContrastRoom:
    """The room with this model, or with the first one."""
    models = tuple(dict.fromkeys(one.classifier for one in found.contrasts))
    if not models:
        raise NotFound("No picture of this study has enough answers of people and an answer of a model.")
    if model and model not in models:
        raise NotFound("There is no such model in this analysis.")
    chosen = model or models[0]
    contrasts = [one for one in found.contrasts if one.classifier == chosen]
    names = [picture.picture for one in contrasts for picture in one.shown]
    stimuli = stimuli_of_pictures(study, names)
    return ContrastRoom(
        model=chosen,
        models=models,
        sides=tuple(
            Side(one, tuple(Shown(picture, stimuli.get(picture.picture)) for picture in one.shown)) for one in contrasts
        ),
    )
