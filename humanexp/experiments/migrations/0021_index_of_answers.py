from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0020_indexes_of_ended_sessions"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                condition=models.Q(("completed_at__isnull", False)),
                fields=["study", "is_verified", "state", "cursor", "completed_at"],
                name="session_answers",
            ),
        ),
    ]
