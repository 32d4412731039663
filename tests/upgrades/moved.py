"""Takes a database back to just before or after the models of `experiments` moved: `-m tests.upgrades.moved after`.

Prints what the migrations of the move would send to the database, both ways, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from io import StringIO

import django

#: By app, the migration of the move and the one before it. `experiments` goes back first: it depends on the others.
MOVE = {
    "experiments": ("0023_moved", "0022"),
    "screening": ("0007_studies_moved", "0006"),
    "results": ("0003_studies_moved", "0002"),
    "recruitment": ("0018_studies_moved", "0017"),
    "counterfactuals": ("0005_studies_moved", "0004"),
    "console": ("0002_studies_moved", "0001"),
    "participation": ("0001_moved_from_experiments", "zero"),
    "studies": ("0001_moved_from_experiments", "zero"),
}
#: Apps that came after it, and point to what moved: their tables are not there at either moment.
LATER = ("notices",)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    sent = {}
    for app, (moved, _before) in MOVE.items():
        for backwards in (False, True):
            printed = StringIO()
            call_command("sqlmigrate", app, moved, backwards=backwards, stdout=printed, no_color=True)
            lines = [line for line in printed.getvalue().splitlines() if line and not line.startswith("--")]
            sent[f"{app} {'back' if backwards else 'on'}"] = [
                line for line in lines if line not in ("BEGIN;", "COMMIT;")
            ]
    # In one go: every call of `migrate` would make the state of all apps anew.
    executor = MigrationExecutor(connection)
    targets: list[tuple[str, str | None]] = [(app, None) for app in LATER]
    for app, (after, before) in MOVE.items():
        name = {"after": after, "before": before}[sys.argv[1]]
        found = None if name == "zero" else executor.loader.get_migration_by_prefix(app, name).name
        targets.append((app, found))
    executor.migrate(targets)
    json.dump(sent, sys.stdout)


if __name__ == "__main__":
    main()
