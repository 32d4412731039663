"""Questions about studies."""

from __future__ import annotations

from humanexp.studies.selectors.studies import (
    configuration_of,
    has_stimuli,
    stimulus_sets,
    study_by_slug,
    study_for,
    visible_to,
)

__all__ = ["configuration_of", "has_stimuli", "stimulus_sets", "study_by_slug", "study_for", "visible_to"]
