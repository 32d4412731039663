from __future__ import annotations

from django.apps import AppConfig

from humanexp.core.pages.navigation import StudyTab, register_study_tab


class ResultsConfig(AppConfig):
    name = "humanexp.results"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.participation.own_curves import register_source
        from humanexp.results.earlier_curves import FinishedStudies

        register_study_tab(
            StudyTab(key="results", label="Results", url_name="results:dashboard", order=60, for_imported=True)
        )
        register_source(FinishedStudies())
