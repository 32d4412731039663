"""Addresses of callers and of this machine, read alike by the platform and by the marketplace."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.http import HttpRequest


def is_loopback(host: str) -> bool:
    """Of a host as it stands in a URL, in a socket's address or in a setting, without its port.

    `localhost` and the names under it are this machine's by RFC 6761. Short and numeric ways of writing 127.0.0.1 are
    not taken for it: not every program reads them alike.
    """
    name = host.strip("[]").lower().removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return _plain(address).is_loopback


def is_from_this_machine(request: HttpRequest) -> bool:
    """Neither from elsewhere nor through a proxy."""
    return "X-Forwarded-For" not in request.headers and is_loopback(request.META.get("REMOTE_ADDR", ""))


def caller_behind(address: str) -> str:
    """Whom an address stands for: a caller of IPv6 holds a whole network of 2^64 addresses, which count as one.

    A socket for both families tells an IPv4 caller in the clothes of IPv6, in which all of them share one network.
    """
    try:
        known = _plain(ip_address(address))
    except ValueError:
        return address
    return str(ip_network((known, 64), strict=False)) if isinstance(known, IPv6Address) else str(known)


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
