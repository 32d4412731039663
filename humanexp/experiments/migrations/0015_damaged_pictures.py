from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0014_study_tallies"),
        ("stimuli", "0005_pixel_digest_and_import_report"),
    ]

    operations = [
        migrations.CreateModel(
            name="DamagedPicture",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_missing", models.BooleanField()),
                ("found_at", models.DateTimeField()),
                ("mended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="damaged_pictures",
                        to="experiments.session",
                    ),
                ),
                (
                    "stimulus",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stimuli.stimulus"
                    ),
                ),
                (
                    "trial",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="experiments.trial"
                    ),
                ),
            ],
            options={"ordering": ["pk"]},
        ),
    ]
