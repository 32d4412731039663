"""Study plans: which picture stands where in which session, from originals, stimuli, a configuration and a seed.

``plan_study`` makes the plan, ``StudyPlan`` holds it and writes it to a file, ``without_seen`` adapts one session for a
person who has already seen some of the originals.
"""

from __future__ import annotations

from analysis.design.catalogue import Catalogue, StimulusRow
from analysis.design.grid import shuffled_grid
from analysis.design.plan import BlockPlan, PlannedTrial, SessionPlan, StudyPlan, read_session_plan
from analysis.design.planner import plan_study
from analysis.design.substitution import without_seen
from analysis.design.sufficiency import Sufficiency, sufficiency_of
from analysis.spec.design import DesignConfig, DiscriminationDesign
from analysis.spec.validation import ValidationDesign

__all__ = [
    "BlockPlan",
    "Catalogue",
    "DesignConfig",
    "DiscriminationDesign",
    "PlannedTrial",
    "SessionPlan",
    "StimulusRow",
    "StudyPlan",
    "Sufficiency",
    "ValidationDesign",
    "plan_study",
    "read_session_plan",
    "shuffled_grid",
    "sufficiency_of",
    "without_seen",
]
