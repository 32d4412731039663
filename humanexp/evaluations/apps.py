from __future__ import annotations

from django.apps import AppConfig


class EvaluationsConfig(AppConfig):
    name = "humanexp.evaluations"
    default_auto_field = "django.db.models.BigAutoField"
