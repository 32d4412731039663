from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0003_retraining"),
    ]

    operations = [
        migrations.AddField(
            model_name="retraining",
            name="people_of",
            field=models.CharField(blank=True, max_length=80),
        ),
    ]
