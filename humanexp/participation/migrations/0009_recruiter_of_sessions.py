from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("participation", "0008_language_of_sessions")]

    operations = [
        migrations.AddField(
            model_name="session",
            name="recruiter",
            field=models.CharField(blank=True, default="", max_length=20),
        ),
    ]
