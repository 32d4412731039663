from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class StimuliConfig(AppConfig):
    name = "humanexp.stimuli"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from analysis.errors import InvalidInput
        from humanexp.core.pages.navigation import Section, register_section

        register_section(Section(key="stimuli", label="Stimuli", url_name="stimuli:stimulus_sets", order=20))
        try:
            from analysis.corruptions import load_modules  # looks at FROST_TEXTURES

            load_modules(settings.CORRUPTION_MODULES)
        except InvalidInput as error:
            raise ImproperlyConfigured(f"{error} (FROST_TEXTURES, CORRUPTION_MODULES)") from error
