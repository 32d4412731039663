"""Keys lead to `studies` and `participation`, whose tables are the same: nothing is sent to the database."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("recruitment", "0017_indexes_of_standing"),
        ("participation", "0001_moved_from_experiments"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="assignment",
                    name="session",
                    field=models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="assignment",
                        to="participation.session",
                    ),
                ),
                migrations.AlterField(
                    model_name="campaign",
                    name="qualifies",
                    field=models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="qualified_by",
                        to="studies.studyfamily",
                    ),
                ),
                migrations.AlterField(
                    model_name="campaign",
                    name="study",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="campaigns", to="studies.study"
                    ),
                ),
                migrations.AlterField(
                    model_name="exclusion",
                    name="family",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="exclusions", to="studies.studyfamily"
                    ),
                ),
                migrations.AlterField(
                    model_name="qualificationtype",
                    name="family",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="studies.studyfamily"
                    ),
                ),
                migrations.AlterField(
                    model_name="recruitedperson",
                    name="family",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="studies.studyfamily"
                    ),
                ),
                migrations.AlterField(
                    model_name="recruitedperson",
                    name="participant",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recruited_as",
                        to="participation.participant",
                    ),
                ),
                migrations.AlterField(
                    model_name="resumeconfirmation",
                    name="session",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="participation.session"
                    ),
                ),
                migrations.AlterField(
                    model_name="reviewpolicy",
                    name="study",
                    field=models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="review_policy", to="studies.study"
                    ),
                ),
                migrations.AlterField(
                    model_name="studybudget",
                    name="study",
                    field=models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="budget", to="studies.study"
                    ),
                ),
            ]
        )
    ]
