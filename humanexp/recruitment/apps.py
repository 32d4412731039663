from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from humanexp.core.pages.navigation import Section, StudyTab, register_section, register_study_tab


class RecruitmentConfig(AppConfig):
    name = "humanexp.recruitment"

    def ready(self) -> None:
        from humanexp.core.fingerprints import register_witness
        from humanexp.core.metrics import register_source
        from humanexp.recruitment.monitoring import figures
        from humanexp.recruitment.pages.review_panel import PANEL
        from humanexp.recruitment.recruiters import shipped  # noqa: F401  (registers)
        from humanexp.recruitment.selectors.people import stored_codes
        from humanexp.screening.pages.panels import register_panel

        register_section(Section(key="desk", label=_("Desk"), url_name="recruitment:desks", order=70))
        register_study_tab(StudyTab(key="recruit", label=_("Recruit"), url_name="recruitment:recruit", order=30))
        register_study_tab(StudyTab(key="monitor", label=_("Monitor"), url_name="recruitment:monitor", order=40))
        register_panel(PANEL)
        register_witness(stored_codes)
        register_source(figures)
