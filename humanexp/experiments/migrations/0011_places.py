from __future__ import annotations

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("experiments", "0010_power_estimates")]

    operations = [
        migrations.AddField("session", "holds_slot", models.BooleanField(default=True)),
        migrations.AddField("session", "is_verified", models.BooleanField(default=True)),
        migrations.AddField("session", "confirmed_at", models.DateTimeField(blank=True, null=True)),
        migrations.RemoveConstraint("session", "session_slot_held_once"),
        migrations.RemoveConstraint("session", "session_number_once"),
        migrations.AddConstraint(
            "session",
            models.UniqueConstraint(
                condition=Q(("holds_slot", True), ~Q(("state", "withdrawn")))
                & (Q(("qualified", None)) | Q(("qualified", True))),
                fields=("study", "slot"),
                name="session_slot_held_once",
            ),
        ),
        migrations.AddConstraint(
            "session",
            models.UniqueConstraint(
                condition=Q(("is_verified", True), ~Q(("state", "withdrawn"))),
                fields=("participant", "number"),
                name="session_number_once",
            ),
        ),
    ]
