from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0003_tests_requests_events_and_people")]

    operations = [
        migrations.AddField("account", "is_clerk", models.BooleanField(default=False)),
        migrations.AddField("payout", "way", models.CharField(blank=True, max_length=60)),
    ]
