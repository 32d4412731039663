from typing import Any

from django.db import migrations, models


def from_the_command_line(apps: Any, schema_editor: Any) -> None:
    """Until now, searches that no account had asked for were those."""
    apps.get_model("counterfactuals", "SearchRun").objects.filter(created_by=None).update(may_run_code=True)


class Migration(migrations.Migration):
    dependencies = [
        ("counterfactuals", "0003_labs"),
    ]

    operations = [
        migrations.AddField(
            model_name="searchrun",
            name="may_run_code",
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(from_the_command_line, migrations.RunPython.noop),
    ]
