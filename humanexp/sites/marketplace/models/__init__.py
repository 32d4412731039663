"""The marketplace's tables, which Django finds here. States are not stored: they follow from times (`states`)."""

from __future__ import annotations

import humanexp.sites.marketplace.models.people
import humanexp.sites.marketplace.models.work  # noqa: F401
