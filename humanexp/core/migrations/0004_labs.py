from __future__ import annotations

from django.db import migrations, models


def make_default_lab(apps, schema_editor):
    apps.get_model("core", "Lab").objects.using(schema_editor.connection.alias).get_or_create(name="lab")


class Migration(migrations.Migration):
    dependencies = [("core", "0003_key_fingerprints")]

    operations = [
        migrations.CreateModel(
            name="Lab",
            fields=[("name", models.SlugField(max_length=40, primary_key=True, serialize=False))],
        ),
        migrations.RunPython(make_default_lab, migrations.RunPython.noop),
    ]
