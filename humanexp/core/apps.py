from __future__ import annotations

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "humanexp.core"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from humanexp.core import checks  # noqa: F401  (registers)
