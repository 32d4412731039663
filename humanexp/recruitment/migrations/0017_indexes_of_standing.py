from django.db import migrations, models


def tell_the_planner(apps, schema_editor):
    """SQLite chooses among indexes by figures that it makes when asked: where old ones have some, new ones need them."""
    if schema_editor.connection.vendor == "sqlite":
        for table in ("experiments_session", "recruitment_assignment"):
            schema_editor.execute(f"ANALYZE {table}")


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0021_index_of_answers"),
        ("recruitment", "0016_index_of_evidence"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="assignment",
            name="recruitment_campaig_7e7811_idx",
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                fields=["campaign", "state", "hit", "environment", "assignment_id"], name="assignment_standing"
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("person", None), ("session", None), _connector="OR"),
                fields=["campaign", "state", "session", "person"],
                name="assignment_lacking",
            ),
        ),
        migrations.RunPython(tell_the_planner, migrations.RunPython.noop),
    ]
