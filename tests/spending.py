"""In tests anybody spends what they like through any account, as if treasurers had said so.

Those that ask who may spend take `closed_accounts`: accounts as an installation begins with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from humanexp.recruiters.models import RecruiterAccount

_FREE: dict[str, Any] = {"month_cap_cents": None, "is_open": True}
#: Of a database whose tables a command has made.
FREE_ALL = "UPDATE recruitment_senderlease SET month_cap_cents = NULL, is_open = TRUE"


def _default(name: str, value: Any) -> Any:
    """Set what a new account begins with; returns what it was."""
    field: Any = RecruiterAccount._meta.get_field(name)
    before, field.default = field.default, value
    field.__dict__.pop("_get_default", None)
    return before


_CLOSED = {name: _default(name, value) for name, value in _FREE.items()}


@pytest.fixture
def closed_accounts(db: None) -> Iterator[None]:
    for name, value in _CLOSED.items():
        _default(name, value)
    RecruiterAccount.objects.update(**_CLOSED)
    yield
    for name, value in _FREE.items():
        _default(name, value)
