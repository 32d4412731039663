from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("recruitment", "0020_links_to_sites")]

    operations = [
        migrations.AlterField(model_name="agreedtext", name="language", field=models.CharField(max_length=35)),
    ]
