from __future__ import annotations

from django.apps import AppConfig


class StimuliConfig(AppConfig):
    name = "humanexp.stimuli"
    default_auto_field = "django.db.models.BigAutoField"
