"""Rows that were planned keep the marker that they may have been sent with; the account's pause for the books ends.

Where there was such a pause, bonuses wait until the next comparison has opened its differences.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations
from django.db.models import CharField, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone


def forwards(apps: Any, schema_editor: Any) -> None:
    by_key = Concat(Value("[p"), Cast("pk", CharField()), Value("]"), output_field=CharField())
    apps.get_model("recruitment", "Payment").objects.update(marker=by_key)
    paused = apps.get_model("recruitment", "SenderLease").objects.filter(pause="ledger")
    paused.update(pause="", pause_detail="", to_compare_since=timezone.now())


class Migration(migrations.Migration):
    dependencies = [("recruitment", "0009_differences_and_counted_sends")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
