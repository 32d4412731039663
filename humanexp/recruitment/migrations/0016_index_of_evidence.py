from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0020_indexes_of_ended_sessions"),
        ("recruitment", "0015_sums_by_campaign"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                fields=["campaign", "state", "evidence", "cleared_at", "environment"], name="assignment_evidence"
            ),
        ),
    ]
