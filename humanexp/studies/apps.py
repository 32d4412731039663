from __future__ import annotations

from django.apps import AppConfig

from humanexp.core.pages.navigation import StudyTab, register_study_tab


class StudiesConfig(AppConfig):
    name = "humanexp.studies"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.core import ownership
        from humanexp.stimuli.selectors.sources import register
        from humanexp.studies.permissions import grant_by_role
        from humanexp.studies.presets import answers_for

        ownership.register(grant_by_role)
        register(answers_for)
        register_study_tab(StudyTab(key="design", label="Design", url_name="studies:design", order=20))
