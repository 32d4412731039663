from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps as global_apps
from django.db.models.signals import post_migrate

from humanexp.core.pages.navigation import StudyTab, register_study_tab


class RecruitmentConfig(AppConfig):
    name = "humanexp.recruitment"

    def ready(self) -> None:
        from humanexp.core.metrics import register_source
        from humanexp.recruiters import shipped  # noqa: F401  (registers)
        from humanexp.recruiting.accounts import figures
        from humanexp.recruiting.pages.people import PANEL
        from humanexp.screening.pages.evidence import register_panel

        register_study_tab(StudyTab(key="recruit", label="Recruit", url_name="recruitment:recruit", order=30))
        register_study_tab(StudyTab(key="monitor", label="Monitor", url_name="recruitment:monitor", order=40))
        register_panel(PANEL)
        register_source(figures)
        post_migrate.connect(_open_first_accounts, sender=self)


def _open_first_accounts(*, apps: Any = global_apps, using: str, **_of_the_signal: object) -> None:
    from humanexp.recruiting.accounts import open_first_accounts

    try:
        apps.get_model("recruitment", "RecruiterAccount")
    except LookupError:  # the tables of this app were not made, or taken back
        return
    open_first_accounts(using=using)
