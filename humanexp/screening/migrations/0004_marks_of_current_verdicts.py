import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0017_index_of_standing"),
        ("screening", "0003_indexes_of_verdicts"),
    ]

    operations = [
        migrations.AddField(
            model_name="verdict",
            name="study",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="experiments.study",
            ),
        ),
        migrations.AddField(
            model_name="verdict",
            name="is_current",
            field=models.BooleanField(default=False),
        ),
    ]
