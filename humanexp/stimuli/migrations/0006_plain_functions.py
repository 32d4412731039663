from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stimuli", "0005_pixel_digest_and_import_report")]

    operations = [
        migrations.AddField(
            model_name="stimulusset",
            name="plain_functions",
            field=models.JSONField(blank=True, default=list),
        ),
    ]
