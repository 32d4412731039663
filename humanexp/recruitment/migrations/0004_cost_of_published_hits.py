from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def fill_in(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """HITs published so far: their places, and the cost at the fees they were quoted with (20 %, from ten places 40 %)."""
    writes = apps.get_model("recruitment", "HitWrite").objects.filter(kind="create", places=0)
    for write in writes.select_related("hit__campaign"):
        places, reward = write.hit.max_assignments, write.hit.campaign.reward_cents
        fee = 0 if write.environment == "link" else max(1, (reward * (40 if places >= 10 else 20) + 50) // 100)
        write.places, write.cost_cents = places, places * (reward + fee)
        write.save(update_fields=["places", "cost_cents"])


class Migration(migrations.Migration):
    dependencies = [("recruitment", "0003_qualifications_budgets_messages")]

    operations = [migrations.RunPython(fill_in, migrations.RunPython.noop)]
