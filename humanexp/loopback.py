"""Whether an address is this machine alone: asked by the platform and by the marketplace, before anything listens, is
shown without TLS, or obeys a caller."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address


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
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback
