from __future__ import annotations

from django.apps import AppConfig


class ScreeningConfig(AppConfig):
    name = "humanexp.screening"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.screening import handlers  # noqa: F401  (registers)
