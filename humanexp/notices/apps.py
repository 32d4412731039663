from __future__ import annotations

from django.apps import AppConfig

from humanexp.core.pages.navigation import Section, register_section


class NoticesConfig(AppConfig):
    name = "humanexp.notices"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.notices.selectors import waiting_count

        register_section(
            Section(key="waiting", label="Needs you", url_name="notices:waiting", order=5, count=waiting_count)
        )
