"""Pages on which a study is made and read."""

from __future__ import annotations
