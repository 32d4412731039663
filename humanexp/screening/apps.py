from __future__ import annotations

from django.apps import AppConfig


class ScreeningConfig(AppConfig):
    name = "humanexp.screening"
    default_auto_field = "django.db.models.BigAutoField"
