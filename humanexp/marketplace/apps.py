from __future__ import annotations

import importlib
import pkgutil

from django.apps import AppConfig


class MarketplaceConfig(AppConfig):
    name = "humanexp.marketplace"
    label = "marketplace"

    def ready(self) -> None:
        """Every module under `operations` registers its operations: a new one needs no other line."""
        from humanexp.marketplace.api import operations

        for module in pkgutil.iter_modules(operations.__path__):
            importlib.import_module(f"{operations.__name__}.{module.name}")
