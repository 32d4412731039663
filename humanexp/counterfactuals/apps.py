from __future__ import annotations

from django.apps import AppConfig


class CounterfactualsConfig(AppConfig):
    name = "humanexp.counterfactuals"
    default_auto_field = "django.db.models.BigAutoField"
