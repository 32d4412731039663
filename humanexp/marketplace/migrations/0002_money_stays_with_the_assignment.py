from __future__ import annotations

from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def copy_from_hits(apps, schema_editor):
    """Until now an assignment cost what its HIT says."""
    HIT = apps.get_model("marketplace", "HIT")
    own = HIT.objects.filter(pk=OuterRef("hit"))
    apps.get_model("marketplace", "Assignment").objects.update(
        reward_cents=Subquery(own.values("hit_type__reward_cents")), fee_cents=Subquery(own.values("fee_cents"))
    )


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0001_first_tables")]

    operations = [
        migrations.AddField("assignment", "reward_cents", models.BigIntegerField(null=True)),
        migrations.AddField("assignment", "fee_cents", models.BigIntegerField(null=True)),
        migrations.RunPython(copy_from_hits, migrations.RunPython.noop),
        migrations.AlterField("assignment", "reward_cents", models.BigIntegerField()),
        migrations.AlterField("assignment", "fee_cents", models.BigIntegerField()),
    ]
