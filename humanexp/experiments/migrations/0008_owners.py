from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def makers_become_owners(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    membership = apps.get_model("experiments", "StudyMembership")
    for study in apps.get_model("experiments", "Study").objects.exclude(created_by=None):
        membership.objects.get_or_create(study=study, user_id=study.created_by_id, defaults={"role": "owner"})


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0007_members"),
    ]

    operations = [
        migrations.RunPython(makers_become_owners, migrations.RunPython.noop),
    ]
