from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StimuliConfig(AppConfig):
    name = "humanexp.stimuli"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.core.navigation import Section, register_section
        from humanexp.stimuli import handlers  # noqa: F401  (registers)

        register_section(Section(key="stimuli", label=_("Stimuli"), url_name="stimuli:stimulus_sets", order=20))
