from __future__ import annotations

from django.apps import AppConfig


class EvaluationsConfig(AppConfig):
    name = "humanexp.evaluations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.core.pages.navigation import Section, register_section

        register_section(Section(key="classifiers", label="Classifiers", url_name="evaluations:classifiers", order=30))
