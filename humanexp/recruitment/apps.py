from __future__ import annotations

from django.apps import AppConfig


class RecruitmentConfig(AppConfig):
    name = "humanexp.recruitment"
    default_auto_field = "django.db.models.BigAutoField"
