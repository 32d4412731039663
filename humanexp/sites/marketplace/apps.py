from __future__ import annotations

import importlib
import pkgutil

from django.apps import AppConfig
from django.db.models.signals import pre_migrate

from humanexp.table_making import record_tables


class MarketplaceConfig(AppConfig):
    name = "humanexp.sites.marketplace"
    label = "marketplace"

    def ready(self) -> None:
        from humanexp.sites.marketplace.api import operations

        pre_migrate.connect(record_tables, sender=self)
        # Every module under `operations` registers its operations: a new one needs no other line.
        for module in pkgutil.iter_modules(operations.__path__):
            importlib.import_module(f"{operations.__name__}.{module.name}")
