from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0017_index_of_standing"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="active_s",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="session",
            name="blocks_digest",
            field=models.CharField(blank=True, default="", max_length=16),
        ),
    ]
