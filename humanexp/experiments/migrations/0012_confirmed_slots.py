from __future__ import annotations

from typing import Any

from django.db import migrations
from django.db.models import F, Max, Q


def confirm(apps: Any, schema_editor: Any) -> None:
    """Whoever has answered anything keeps their slot, as before."""
    sessions = apps.get_model("experiments", "Session").objects.filter(confirmed_at=None)
    sessions.filter(Q(cursor__gt=0) | Q(state__in=["completed", "submitted"])).update(confirmed_at=F("opened_at"))


def part(apps: Any, schema_editor: Any) -> None:
    """Before, every session had a slot and a number of its own: those that shared one get one beyond the plan."""
    session = apps.get_model("experiments", "Session")
    for row in session.objects.filter(holds_slot=False).order_by("pk"):
        last = session.objects.filter(study=row.study_id).aggregate(last=Max("slot"))["last"]
        session.objects.filter(pk=row.pk).update(slot=max(last + 1, row.study.planned_sessions))
    for row in session.objects.filter(is_verified=False).exclude(state="withdrawn").order_by("pk"):
        mine = session.objects.filter(participant=row.participant_id).exclude(pk=row.pk)
        last = mine.aggregate(last=Max("number"))["last"] or 0
        session.objects.filter(pk=row.pk).update(number=last + 1)


class Migration(migrations.Migration):
    dependencies = [("experiments", "0011_places")]

    operations = [migrations.RunPython(confirm, part, elidable=False)]
