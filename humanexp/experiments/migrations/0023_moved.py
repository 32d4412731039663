"""Everything is known to `studies` and `participation` by now: nothing is sent to the database."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0022_indexes_of_listed_sessions"),
        ("console", "0002_studies_moved"),
        ("counterfactuals", "0005_studies_moved"),
        ("recruitment", "0018_studies_moved"),
        ("results", "0003_studies_moved"),
        ("screening", "0007_studies_moved"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name="DamagedPicture"),
                migrations.DeleteModel(name="Response"),
                migrations.DeleteModel(name="RefusedCall"),
                migrations.DeleteModel(name="Preview"),
                migrations.DeleteModel(name="StudyTally"),
                migrations.DeleteModel(name="Trial"),
                migrations.DeleteModel(name="Session"),
                migrations.DeleteModel(name="Participant"),
                migrations.DeleteModel(name="PowerEstimate"),
                migrations.DeleteModel(name="StudyMembership"),
                migrations.DeleteModel(name="Study"),
                migrations.DeleteModel(name="Protocol"),
                migrations.DeleteModel(name="StudyFamily"),
            ]
        )
    ]
