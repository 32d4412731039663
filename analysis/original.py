"""The picture that stimuli are made from, as the rows of tables, plans and shards know it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Original:
    """A labelled picture file: ``key`` is its name in every table, ``sha256`` the digest of its bytes."""

    key: str
    category: str
    path: str
    sha256: str
