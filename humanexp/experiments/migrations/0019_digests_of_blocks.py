"""Every session gets the digest of its blocks. Its working time is measured by a job."""

import hashlib
import json
from collections import defaultdict

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    sessions = apps.get_model("experiments", "Session").objects
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for pk, blocks in sessions.order_by().values_list("pk", "blocks").iterator():
        alike[hashlib.sha256(json.dumps(blocks, sort_keys=True).encode()).hexdigest()[:16]].append(pk)
    for digest, pks in alike.items():
        for first in range(0, len(pks), 5_000):
            sessions.filter(pk__in=pks[first : first + 5_000]).update(blocks_digest=digest)


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0018_working_time_and_blocks"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
