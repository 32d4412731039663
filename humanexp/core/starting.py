"""What web and job runner do first."""

from __future__ import annotations

from contextlib import suppress

from django.db import DatabaseError, connection

from humanexp.core import sealing, storage_mark
from humanexp.core.catalogues import catalogues
from humanexp.core.errors import InputRefused, SecretKeyRefused
from humanexp.migrating import OtherTables, check_tables

#: What `check` raises.
REFUSALS = (InputRefused, OtherTables, SecretKeyRefused)


def check() -> None:
    """Compare tables, keys and files with those of this version and this database, and read the catalogues.

    Raises
    ------
    InputRefused
        If a catalogue in LOCALE_FOLDER is at fault.
    OtherTables
        If another version made the database.
    SecretKeyRefused
        If SECRET_KEY is not the one that this database was filled under.
    """
    catalogues()
    with suppress(DatabaseError):  # it does not answer: that keeps nobody down, and is said next
        check_tables(connection)
    sealing.check_at_start()
    storage_mark.make()
