"""Keys lead to `studies` and `participation`, whose tables are the same: nothing is sent to the database."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0001_preflights"),
        ("participation", "0001_moved_from_experiments"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="preflight",
                    name="study",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="preflights", to="studies.study"
                    ),
                ),
            ]
        )
    ]
