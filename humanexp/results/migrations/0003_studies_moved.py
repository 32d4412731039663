"""Keys lead to `studies` and `participation`, whose tables are the same: nothing is sent to the database."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0002_selection_plan_report"),
        ("participation", "0001_moved_from_experiments"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="analysisplan",
                    name="study",
                    field=models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="analysis_plan", to="studies.study"
                    ),
                ),
                migrations.AlterField(
                    model_name="analysisrun",
                    name="study",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="analysis_runs", to="studies.study"
                    ),
                ),
                migrations.AlterField(
                    model_name="trialimport",
                    name="study",
                    field=models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trial_import", to="studies.study"
                    ),
                ),
            ]
        )
    ]
