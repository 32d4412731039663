from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def carry_over(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Lines of campaigns, assignments, payments and studies get the name of their study; the rest have none."""
    old, new = apps.get_model("recruitment", "AuditEvent"), apps.get_model("core", "AuditEvent")
    for line in old.objects.order_by("pk"):
        moved = new.objects.create(
            by_id=line.by_id,
            action=line.action,
            subject=line.subject,
            study=_study_of(apps, line.subject),
            facts=line.facts,
        )
        new._base_manager.filter(pk=moved.pk).update(at=line.at)


def _study_of(apps: Apps, subject: str) -> str:
    kind, _, key = subject.partition(":")
    path = {
        "study": ("experiments", "Study", "slug"),
        "campaign": ("recruitment", "Campaign", "study__slug"),
        "assignment": ("recruitment", "Assignment", "campaign__study__slug"),
        "payment": ("recruitment", "Payment", "assignment__campaign__study__slug"),
        "rejection": ("recruitment", "Rejection", "assignment__campaign__study__slug"),
        "hitwrite": ("recruitment", "HitWrite", "hit__campaign__study__slug"),
    }.get(kind)
    if path is None or not key.isdigit():
        return ""
    app, model, field = path
    found = apps.get_model(app, model)._base_manager.filter(pk=int(key)).values_list(field, flat=True).first()
    return found or ""


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0002_audit_events"),
        ("recruitment", "0001_initial"),
    ]

    operations = [
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.DeleteModel(name="AuditEvent"),
    ]
