from __future__ import annotations

import csv
import io
from typing import Any


def rows_of(reply: Any) -> list[dict[str, str]]:
    """Of a table that was downloaded, as a spreadsheet reads it."""
    return list(csv.DictReader(io.StringIO(reply.getvalue().decode("utf-8-sig"))))
