from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from humanexp.table_making import OtherTables, check_tables


class Command(migrate.Command):
    """Django's, which leaves a database of another version as it is."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            check_tables(connections[options["database"]])
        except OtherTables as refusal:
            raise CommandError(str(refusal)) from refusal
        super().handle(*args, **options)
