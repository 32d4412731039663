from __future__ import annotations

from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    name = "humanexp.experiments"
    default_auto_field = "django.db.models.BigAutoField"
