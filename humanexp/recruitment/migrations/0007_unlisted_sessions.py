from __future__ import annotations

from typing import Any

from django.db import migrations

LISTED = ["submitted", "approved", "rejected"]


def mark_unlisted(apps: Any, schema_editor: Any) -> None:
    """Sessions whose person the recruiter has not named, and nobody has vouched for by a compensation."""
    assignment = apps.get_model("recruitment", "Assignment")
    unlisted = assignment.objects.exclude(environment="link").exclude(state__in=LISTED).filter(compensation=None)
    sessions = unlisted.filter(session__isnull=False).values("session")
    apps.get_model("experiments", "Session").objects.filter(pk__in=sessions).update(is_verified=False)


class Migration(migrations.Migration):
    dependencies = [("recruitment", "0006_ways_back_into_sessions"), ("experiments", "0012_confirmed_slots")]

    # Backwards, experiments takes the column away.
    operations = [migrations.RunPython(mark_unlisted, migrations.RunPython.noop)]
