"""Studies: authoring, members, the design page, power."""

from __future__ import annotations
