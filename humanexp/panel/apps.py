from __future__ import annotations

from django.apps import AppConfig


class PanelConfig(AppConfig):
    name = "humanexp.panel"
    label = "panel"
