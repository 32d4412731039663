"""Every verdict gets the study of its session, and the latest one of each session the mark."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Exists, OuterRef, Subquery


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    verdicts = apps.get_model("screening", "Verdict").objects
    sessions = apps.get_model("experiments", "Session").objects.filter(pk=OuterRef("session_id"))
    verdicts.update(study_id=Subquery(sessions.values("study_id")[:1]))
    later = verdicts.filter(session=OuterRef("session"), pk__gt=OuterRef("pk"))
    latest = verdicts.filter(~Exists(later)).order_by().values_list("pk", flat=True)
    # by their keys: the sub-select would ask for rows of the table that the statement changes
    keys = list(latest)
    for first in range(0, len(keys), 5_000):
        verdicts.filter(pk__in=keys[first : first + 5_000]).update(is_current=True)


class Migration(migrations.Migration):
    dependencies = [
        ("screening", "0004_marks_of_current_verdicts"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
