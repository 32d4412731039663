from django.db import migrations, models
from django.db.models import F

#: What could be launched through when accounts became rows.
KINDS = ("link", "marketplace", "sandbox", "production")


def name_kinds(apps, schema_editor):
    """One account of every kind, as the settings have had them; those that were used keep their caps and pauses."""
    accounts = apps.get_model("recruitment", "RecruiterAccount").objects
    for kind in KINDS:
        accounts.get_or_create(environment=kind)
    accounts.filter(kind="").update(kind=F("environment"))


class Migration(migrations.Migration):
    dependencies = [("recruitment", "0023_deletion_codes")]

    operations = [
        # the table keeps its name
        migrations.AlterModelTable(name="senderlease", table="recruitment_senderlease"),
        migrations.RenameModel(old_name="SenderLease", new_name="RecruiterAccount"),
        migrations.AddField("recruiteraccount", "kind", models.CharField(blank=True, default="", max_length=20)),
        migrations.AddField("recruiteraccount", "name", models.CharField(blank=True, default="", max_length=80)),
        migrations.AddField("recruiteraccount", "currency", models.CharField(default="USD", max_length=3)),
        migrations.AddField("recruiteraccount", "workspace", models.CharField(blank=True, default="", max_length=64)),
        migrations.RunPython(name_kinds, migrations.RunPython.noop),
    ]
