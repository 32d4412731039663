from __future__ import annotations

from django.apps import AppConfig


class CounterfactualsConfig(AppConfig):
    name = "humanexp.counterfactuals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.core.pages.navigation import Section, register_section

        register_section(
            Section(key="counterfactuals", label="Counterfactuals", url_name="counterfactuals:leaderboard", order=35)
        )
