from __future__ import annotations

from django.db import migrations, models

STATES = [
    ("open", "under way"),
    ("completed", "all trials answered"),
    ("submitted", "submitted"),
    ("withdrawn", "withdrawn"),
]


class Migration(migrations.Migration):
    dependencies = [("experiments", "0015_damaged_pictures")]

    operations = [
        migrations.AddField("session", "withdrawn_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("session", "withdrawn_from", models.CharField(blank=True, choices=STATES, max_length=12)),
        migrations.AddField("session", "erase_after", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("session", "erased_at", models.DateTimeField(blank=True, null=True)),
    ]
