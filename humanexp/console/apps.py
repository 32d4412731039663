from __future__ import annotations

from django.apps import AppConfig

from humanexp.core.pages.navigation import Section, StudyTab, register_section, register_study_tab


class ConsoleConfig(AppConfig):
    name = "humanexp.console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.console.access import jobs_shown_to
        from humanexp.console.preflight.check import refuse
        from humanexp.jobs.selectors import register_rule
        from humanexp.recruiting import approvals

        approvals.register(refuse)
        register_rule(jobs_shown_to)
        register_section(Section(key="studies", label="Studies", url_name="console:studies", order=10))
        register_section(Section(key="recruiters", label="Recruiters", url_name="console:recruiters", order=40))
        register_section(Section(key="jobs", label="Jobs", url_name="jobs:jobs", order=90))
        register_study_tab(
            StudyTab(key="overview", label="Overview", url_name="console:overview", order=10, for_imported=True)
        )
