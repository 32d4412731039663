import django.db.models.functions.comparison
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0019_digests_of_blocks"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="session",
            name="session_standing",
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                fields=["study", "state", "is_verified", "qualified", "holds_slot", "blocks_digest"],
                name="session_standing",
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["study", "opened_at", "state"], name="session_opened"),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["study", "completed_at", "state"], name="session_completed"),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                condition=models.Q(("completed_at__isnull", False)),
                fields=["study", "id", "state", "is_verified", "cursor", "completed_at"],
                name="session_ended",
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                models.F("study"),
                models.OrderBy(
                    django.db.models.functions.comparison.Coalesce("last_seen_at", "opened_at"), descending=True
                ),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("completed_at__isnull", False)),
                name="session_ended_seen",
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                condition=models.Q(("completed_at__isnull", False)),
                fields=["study", "active_s", "state"],
                name="session_worked",
            ),
        ),
    ]
