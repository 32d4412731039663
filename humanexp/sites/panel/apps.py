from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import pre_migrate

from humanexp.table_making import record_tables


class PanelConfig(AppConfig):
    name = "humanexp.sites.panel"
    label = "panel"

    def ready(self) -> None:
        pre_migrate.connect(record_tables, sender=self)
