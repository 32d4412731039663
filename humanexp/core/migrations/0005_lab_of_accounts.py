from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("core", "0004_labs")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="lab",
            field=models.ForeignKey(
                default="lab",
                on_delete=django.db.models.deletion.PROTECT,
                related_name="accounts",
                to="core.lab",
            ),
        ),
    ]
