from __future__ import annotations

from django.apps import AppConfig

from humanexp.core.pages.navigation import StudyTab, register_study_tab


class ScreeningConfig(AppConfig):
    name = "humanexp.screening"

    def ready(self) -> None:
        from humanexp.participation.tallies import register_tally
        from humanexp.screening.pages.review import GOLDS, TIMING

        register_study_tab(StudyTab(key="review", label="Review", url_name="screening:review", order=50))
        register_study_tab(StudyTab(key="timing", label="Timing", url_name="screening:timing", order=45))
        register_tally(TIMING)
        register_tally(GOLDS)
