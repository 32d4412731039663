from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps as global_apps
from django.db.models.signals import post_migrate, pre_migrate


class CoreConfig(AppConfig):
    name = "humanexp.core"

    def ready(self) -> None:
        from humanexp.core import accounts, checks  # noqa: F401  (register)
        from humanexp.table_making import record_tables

        pre_migrate.connect(record_tables, sender=self)
        post_migrate.connect(_make_default_lab, sender=self)


def _make_default_lab(*, apps: Any = global_apps, using: str, **_kwargs: Any) -> None:
    """Every account and every set of pictures belongs to one, also in a database that was emptied."""
    from humanexp.core.models import DEFAULT_LAB

    try:
        lab = apps.get_model("core", "Lab")
    except LookupError:  # the tables of this app were not made, or taken back
        return
    lab.objects.using(using).get_or_create(name=DEFAULT_LAB)
