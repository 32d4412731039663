"""What a new study can start from, and whether a set of pictures is enough for it.

A preset is a study file without a title and a stimulus set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.labels.space import FEWEST, MOST_FOR_PEOPLE
from humanexp.stimuli.selectors.sources import Answer

if TYPE_CHECKING:
    from analysis.design.planner import Sufficiency


#: The page of ImageNet-D (supplement, Figure 1). Its last instruction threatened that work may be rejected; no
#: instruction here does, for pay never depends on answers.
IMAGENET_D_WORDS: Mapping[str, Any] = {
    "shows": "Can you recognize the desired object ({label}) in the image? It may have rare backgrounds, materials, "
    "textures, or styles.",
    "usable": "Can the object in the image be used as the desired object ({label})?",
    "instructions": [
        "Review each image and answer two questions about the shown object and desired object.",
        "Read each question carefully, and select either 'Yes' or 'No' for all questions before proceeding to the next "
        "page and submitting your answers.",
        "Before your labeling task, you'll complete two practice tasks where correct answers are revealed after your "
        "selection.",
        "Incorrect, inconsistent, or incomplete answers may not be counted due to quality control measures.",
    ],
    "instructions_shown": True,
}


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A good beginning, and what it is for."""

    key: str
    name: str
    summary: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)


PRESETS: tuple[Preset, ...] = (
    Preset(
        key="vcr",
        name="VCR: naming at a glance",
        summary="200 ms, a choice among the pictures' labels, over the whole range of visual change. For curves of "
        "people against models.",
        title="What do people see at a glance?",
        values={
            "protocol": "vcr",
            "rules": "vcr",
            "design": {"sessions": 40, "main_trials": 40, "qualification_trials": 16},
        },
    ),
    Preset(
        key="imagenet-d",
        name="ImageNet-D: is it really one?",
        summary="Two yes/no questions a picture, without a time limit, ten people a picture. Works on phones.",
        title="Is this really one?",
        values={
            "rules": "imagenet-d",
            "max_sessions_per_worker": 5,
            "design": {"sessions": 100, "validation": {"shown": "all", "answers_per_picture": 10}},
            "judging": IMAGENET_D_WORDS,
        },
    ),
    Preset(
        key="discrimination",
        name="Same corruption or not?",
        summary="Two pictures, matched in visual change. For which corruptions look alike to people.",
        title="Do these two look changed in the same way?",
        values={
            "protocol": "vcr",
            "rules": "vcr",
            "design": {
                "sessions": 40,
                "main_trials": 0,
                "discrimination": {"form": "same-different", "trials": 40, "sentinels": 16},
            },
        },
    ),
    Preset(
        key="abx",
        name="ABX: whose corruption?",
        summary="A and B, then X: like which of them? Without a bias towards “same”; for claims of equivalence.",
        title="Which of the two is it like?",
        values={
            "protocol": "vcr",
            "rules": "vcr",
            "design": {
                "sessions": 40,
                "main_trials": 0,
                "discrimination": {"form": "abx", "trials": 32, "sentinels": 16},
            },
        },
    ),
    Preset(
        key="rehearsal",
        name="Rehearsal",
        summary="Two short sessions with everything in them, from consent to pay. To try the whole way out oneself.",
        title="A short rehearsal: what do you see?",
        values={
            "protocol": "vcr",
            "rules": "vcr",
            "design": {"sessions": 2, "main_trials": 16, "practice_trials": 1, "qualification_trials": 0},
        },
    ),
)


def preset(key: str) -> Preset:
    """The preset with this name; the first one for any other."""
    return next((known for known in PRESETS if known.key == key), PRESETS[0])


def values_of(chosen: Preset, *, stimuli: str) -> dict[str, Any]:
    """The preset as values of a study file."""
    return {"title": str(chosen.title), "stimuli": stimuli, **chosen.values}


def answers_for(n_originals: int, n_labels: int) -> list[Answer]:
    """One answer a preset, from the planner."""
    return [_answer(known, n_originals, n_labels) for known in PRESETS]


def _answer(chosen: Preset, n_originals: int, n_labels: int) -> Answer:
    from analysis.design.planner import sufficiency_of
    from analysis.study.design import DesignConfig

    sessions = chosen.values.get("max_sessions_per_worker", 1)
    config = DesignConfig.from_dict({**chosen.values["design"], "sessions_per_participant": sessions})
    if config.main_trials and n_labels > MOST_FOR_PEOPLE:
        text = f"People choose among {FEWEST} to {MOST_FOR_PEOPLE} labels, and these pictures have {n_labels:,}."
        return Answer(study=chosen.name, verdict="no", text=text)
    found = sufficiency_of(config, originals=n_originals)
    if found.is_enough:
        return Answer(study=chosen.name, verdict="yes", text=_takes(found))
    if found.demand is not None:
        return Answer(study=chosen.name, verdict="smaller", text=" ".join(found.cuts))
    return Answer(study=chosen.name, verdict="smaller" if found.smaller_comparisons else "no", text=found.refusal)


def _takes(found: Sufficiency) -> str:
    demand = found.demand
    if demand is None:
        return ""
    pools = {
        "for practice": demand.practice_originals,
        "for the qualification": demand.qualification_originals,
        "for sentinels": demand.gold_originals,
        "for consistency": demand.consistency_originals,
        "at least, in the main trials": demand.main_originals,
    }
    parts = ", ".join(f"{count} {what}" for what, count in pools.items() if count)
    return f"It takes {demand.originals} originals: {parts}."
