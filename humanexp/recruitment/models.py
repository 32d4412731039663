"""The tables of this app stand in the packages that own them; Django finds them here."""

from __future__ import annotations

import humanexp.entry.models  # noqa: F401
import humanexp.ledger.models  # noqa: F401
import humanexp.recruiters.models  # noqa: F401
import humanexp.recruiting.models  # noqa: F401
