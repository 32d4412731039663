from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("participation", "0009_public_volunteers")]

    operations = [
        migrations.AddField(
            model_name="session",
            name="recruiter",
            field=models.CharField(blank=True, default="", max_length=20),
        ),
        migrations.AddField(
            model_name="session",
            name="seen_before",
            field=models.BooleanField(default=False),
        ),
    ]
