"""The marketplace as a process: python -m humanexp.sites.marketplace.serve --host 127.0.0.1 --port 8001."""

from __future__ import annotations

import stat
from pathlib import Path
from urllib.parse import urlsplit

from humanexp.addresses import is_loopback
from humanexp.sites.serving import Site

#: Values that stand in examples and tutorials.
_KNOWN_SECRETS = (
    "secret",
    "changeme",
    "change-me",
    "insecure",
    "django-insecure",
    "example",
    "password",
    "test",
    "dev",
)
_LEAST_LENGTH, _LEAST_VARIETY = 32, 10
SIGN_UP_MODES = ("open", "invite", "closed")


def problems_here(host: str) -> list[str]:
    """As this machine's settings are."""
    from django.conf import settings

    from humanexp.sites.settings import key_file

    if settings.MARKETPLACE_SIGN_UP not in SIGN_UP_MODES:
        return [f"MARKETPLACE_SIGN_UP is one of {', '.join(SIGN_UP_MODES)}."]
    against = problems(
        host=host,
        public_url=settings.SITE_URL,
        secret_key=str(settings.SECRET_KEY),
        allowed_hosts=settings.ALLOWED_HOSTS,
        test_controls=settings.MARKETPLACE_TEST_CONTROLS,
        key_file=key_file("marketplace"),
    )
    return [f"Listening on {host} would open this marketplace to the world, but:", *against] if against else []


def problems(
    *, host: str, public_url: str, secret_key: str, allowed_hosts: list[str], test_controls: bool, key_file: Path | None
) -> list[str]:
    """What speaks against listening on `host`; nothing does when only this machine can reach it."""
    if is_loopback(host):
        return []
    weak = len(secret_key) < _LEAST_LENGTH or len(set(secret_key)) < _LEAST_VARIETY
    is_open = key_file is not None and key_file.exists() and key_file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    address = urlsplit(public_url)
    in_the_clear = bool(address.hostname) and address.scheme != "https" and not is_loopback(address.hostname or "")
    against = {
        "MARKETPLACE_TEST_CONTROLS is set: strangers could move the clock and break calls.": test_controls,
        "MARKETPLACE_SECRET_KEY can be guessed: leave it unset (one is made), or set 32 random characters or more.": (
            weak or secret_key.lower().startswith(_KNOWN_SECRETS)
        ),
        f"{key_file} can be read by others on this machine: chmod 600.": is_open,
        "MARKETPLACE_ALLOWED_HOSTS holds *: name the hosts.": "*" in allowed_hosts,
        "MARKETPLACE_URL is not set: say under which address people reach this site.": not address.hostname,
        "MARKETPLACE_URL is not https: passwords and sessions would cross the network in the clear.": in_the_clear,
    }
    return [sentence for sentence, holds in against.items() if holds]


MARKETPLACE = Site(name="marketplace", port=8001, problems=problems_here, beside=("notifications", "tell_events"))

if __name__ == "__main__":
    raise SystemExit(MARKETPLACE.main())
