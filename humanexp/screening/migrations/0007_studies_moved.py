"""Keys lead to `studies` and `participation`, whose tables are the same: nothing is sent to the database."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("screening", "0006_one_verdict_is_current"),
        ("participation", "0001_moved_from_experiments"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="verdict",
                    name="session",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="verdicts", to="participation.session"
                    ),
                ),
                migrations.AlterField(
                    model_name="verdict",
                    name="study",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="studies.study",
                    ),
                ),
                migrations.AlterField(
                    model_name="withdrawngold",
                    name="study",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="withdrawn_golds", to="studies.study"
                    ),
                ),
            ]
        )
    ]
