"""Keys lead to `studies` and `participation`, whose tables are the same: nothing is sent to the database."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("counterfactuals", "0004_may_run_code"),
        ("participation", "0001_moved_from_experiments"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="round",
                    name="study",
                    field=models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="counterfactual_round",
                        to="studies.study",
                    ),
                ),
            ]
        )
    ]
