from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("recruitment", "0021_recruiters_by_capability")]

    operations = [
        migrations.AlterField(model_name="agreedtext", name="language", field=models.CharField(max_length=35)),
    ]
