"""Whether a set of pictures is enough for what the form for new studies starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from humanexp.stimuli.sufficiency import Answer
from humanexp.studies.drafting.presets import PRESETS, Preset

if TYPE_CHECKING:
    from analysis.design import Sufficiency


def answers_for(n_originals: int) -> list[Answer]:
    """One answer a preset, from the planner."""
    return [_answer(preset, n_originals) for preset in PRESETS]


def _answer(preset: Preset, n_originals: int) -> Answer:
    from analysis.design import DesignConfig, sufficiency_of

    sessions = preset.values.get("max_sessions_per_worker", 1)
    config = DesignConfig.from_dict({**preset.values["design"], "sessions_per_participant": sessions})
    found = sufficiency_of(config, originals=n_originals)
    if found.is_enough:
        return Answer(study=preset.name, verdict="yes", text=_takes(found))
    if found.demand is not None:
        return Answer(study=preset.name, verdict="smaller", text=" ".join(found.cuts))
    if found.smaller_comparisons:
        fewer = ngettext(
            "With %(n)d comparison a session instead of %(asked)d it would work.",
            "With %(n)d comparisons a session instead of %(asked)d it would work.",
            found.smaller_comparisons,
        ) % {"n": found.smaller_comparisons, "asked": preset.values["design"]["discrimination"]["trials"]}
        return Answer(study=preset.name, verdict="smaller", text=f"{found.refusal} {fewer}")
    return Answer(study=preset.name, verdict="no", text=found.refusal)


def _takes(found: Sufficiency) -> str:
    demand = found.demand
    if demand is None:
        return ""
    pools = {
        _("for practice"): demand.practice_originals,
        _("for the qualification"): demand.qualification_originals,
        _("for sentinels"): demand.gold_originals,
        _("for consistency"): demand.consistency_originals,
        _("at least, in the main trials"): demand.main_originals,
    }
    parts = ", ".join(f"{count} {what}" for what, count in pools.items() if count)
    return _("It takes %(n)d originals: %(parts)s.") % {"n": demand.originals, "parts": parts}
