from __future__ import annotations

from django.apps import AppConfig

from humanexp.core.pages.navigation import StudyTab, register_study_tab


class ParticipationConfig(AppConfig):
    name = "humanexp.participation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.core.metrics import register_source
        from humanexp.participation.monitoring import figures
        from humanexp.participation.pages.figures import SESSIONS
        from humanexp.participation.tallies import ANSWERS, register_tally

        register_source(figures)
        register_study_tab(StudyTab(key="live", label="Sessions", url_name="participation:live", order=42))
        register_tally(ANSWERS)
        register_tally(SESSIONS)
