"""Every payment gets the campaign of its assignment."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    assignments = apps.get_model("recruitment", "Assignment").objects.filter(pk=OuterRef("assignment_id"))
    payments = apps.get_model("recruitment", "Payment").objects.filter(campaign=None)
    payments.update(campaign_id=Subquery(assignments.values("campaign_id")[:1]))


class Migration(migrations.Migration):
    dependencies = [
        ("recruitment", "0013_campaign_of_payments"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
