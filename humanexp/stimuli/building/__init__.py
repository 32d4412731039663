"""From a described or published set to its files and rows."""

from __future__ import annotations
