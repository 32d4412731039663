from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stimuli", "0007_labs")]

    operations = [
        migrations.AddField(
            model_name="stimulusset",
            name="person_families",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="stimulusset",
            name="cue_conflicts",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="stimuli.sourceset",
            ),
        ),
    ]
