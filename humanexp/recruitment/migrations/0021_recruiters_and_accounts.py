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
    dependencies = [("recruitment", "0020_links_to_sites")]

    operations = [
        # the table keeps its name
        migrations.AlterModelTable(name="senderlease", table="recruitment_senderlease"),
        migrations.RenameModel(old_name="SenderLease", new_name="RecruiterAccount"),
        migrations.AddField("recruiteraccount", "kind", models.CharField(blank=True, default="", max_length=20)),
        migrations.AddField("recruiteraccount", "name", models.CharField(blank=True, default="", max_length=80)),
        migrations.AddField("recruiteraccount", "currency", models.CharField(default="USD", max_length=3)),
        migrations.AddField("recruiteraccount", "workspace", models.CharField(blank=True, default="", max_length=64)),
        migrations.AddField("hit", "compared_at", models.DateTimeField(blank=True, null=True)),
        migrations.RemoveConstraint("campaign", "campaign_link_pays_nobody"),
        *[
            migrations.AlterField(name, "environment", models.CharField(max_length=12))
            for name in (
                "assignment", "campaign", "difference", "hit", "hitwrite", "message", "payment", "qualificationtype",
                "qualificationwrite", "recruitedperson", "rejection",
            )
        ],
        migrations.AlterField("recruiteraccount", "environment", models.CharField(max_length=12, unique=True)),
        migrations.RunPython(name_kinds, migrations.RunPython.noop),
    ]  # fmt: skip
