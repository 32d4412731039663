from __future__ import annotations

import pytest

from humanexp.core.models import User


@pytest.fixture
def anna(client, study):
    user = User.objects.create_user("anna")
    study.memberships.create(user=user, role="owner")
    return user


@pytest.fixture(autouse=True)
def without_guards(unhurried, open_gates):
    """Every test judges sessions that it answers at once."""
