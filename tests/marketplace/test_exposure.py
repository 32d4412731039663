"""What may be reached from other machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from humanexp.sites.marketplace.serve import problems
from tests.marketplace.server import MarketplaceServer

GOOD: dict[str, Any] = {
    "host": "0.0.0.0",  # noqa: S104
    "public_url": "https://work.example.org",
    "secret_key": "kTz0pN4yQv7RbW2mXs9LdF6hGj1CaEuK",
    "allowed_hosts": ["work.example.org"],
    "test_controls": False,
    "key_file": None,
}


def test_a_site_that_is_set_up_may_be_open() -> None:
    assert problems(**GOOD) == []


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"test_controls": True}, "MARKETPLACE_TEST_CONTROLS"),
        ({"secret_key": "short"}, "MARKETPLACE_SECRET_KEY"),
        ({"secret_key": "a" * 64}, "MARKETPLACE_SECRET_KEY"),
        ({"secret_key": "changeme-0123456789-0123456789-abcdefgh"}, "MARKETPLACE_SECRET_KEY"),
        ({"allowed_hosts": ["*"]}, "MARKETPLACE_ALLOWED_HOSTS"),
        ({"public_url": ""}, "MARKETPLACE_URL"),
        ({"public_url": "http://work.example.org"}, "https"),
    ],
)
def test_what_speaks_against_it_is_named(wrong: dict[str, Any], named: str) -> None:
    (found,) = problems(**{**GOOD, **wrong})
    assert named in found
    assert problems(**{**GOOD, **wrong, "host": "127.0.0.1"}) == []


def test_a_key_file_that_others_can_read(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("x")
    key.chmod(0o644)
    assert "chmod 600" in problems(**{**GOOD, "key_file": key})[0]
    key.chmod(0o600)
    assert problems(**{**GOOD, "key_file": key}) == []


def test_behind_a_published_port_of_this_machine() -> None:
    """A container listens on every address; people still come by localhost."""
    assert problems(**{**GOOD, "public_url": "http://localhost:8001"}) == []


@pytest.mark.process
def test_the_process_does_not_start(tmp_path: Path) -> None:
    server = MarketplaceServer(tmp_path, test_controls=True, MARKETPLACE_SECRET_KEY="secret")
    with pytest.raises(RuntimeError, match="open this marketplace to the world") as caught:
        server.start(host="0.0.0.0")  # noqa: S104
    for name in ("MARKETPLACE_TEST_CONTROLS", "MARKETPLACE_SECRET_KEY", "MARKETPLACE_URL"):
        assert name in str(caught.value)
