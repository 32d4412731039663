import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("recruitment", "0012_indexes_of_the_tally"),
    ]

    operations = [
        migrations.AddField(
            model_name="payment",
            name="campaign",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="payments",
                to="recruitment.campaign",
            ),
        ),
    ]
