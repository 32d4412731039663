"""The science of HumanExp: pictures in, curves and comparisons out. Knows no web, no database, no clock."""

from __future__ import annotations

__version__ = "0.1.0"
