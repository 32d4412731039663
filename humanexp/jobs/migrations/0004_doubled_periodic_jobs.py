from django.db import migrations
from django.db.models import Min


def keep_the_oldest(apps, schema_editor):
    """Of repeating jobs that two runners scheduled at one moment, one is kept."""
    jobs = apps.get_model("jobs", "Job").objects.filter(subject="periodic", state__in=["queued", "running"])
    oldest = jobs.order_by().values("kind").annotate(first=Min("pk")).values_list("first", flat=True)
    jobs.exclude(pk__in=list(oldest)).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0003_runners"),
    ]

    operations = [
        migrations.RunPython(keep_the_oldest, migrations.RunPython.noop),
    ]
