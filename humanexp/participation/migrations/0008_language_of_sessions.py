from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("participation", "0007_set_up")]

    operations = [
        migrations.AddField(
            model_name="session",
            name="language",
            field=models.CharField(blank=True, default="", max_length=35),
        ),
    ]
