from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0021_index_of_answers"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="session",
            name="session_opened",
        ),
        migrations.RemoveIndex(
            model_name="session",
            name="session_completed",
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["study", "opened_at", "state", "is_verified"], name="session_opened"),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["study", "completed_at", "state", "is_verified"], name="session_completed"),
        ),
    ]
