"""Which stimulus is the picture of which imported trials, and how often models gave no label."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0003_studies_moved")]

    operations = [
        migrations.AddField(
            model_name="trialimport",
            name="pictures_file",
            field=models.CharField(blank=True, default="", max_length=300),
        ),
        migrations.AddField(
            model_name="trialimport",
            name="kinds",
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
