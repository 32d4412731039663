"""What of an address says whose page it is."""

from __future__ import annotations

from urllib.parse import urlsplit


def origin(url: str) -> str:
    """Scheme, host and port; empty for anything that is no plain web address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.password:
        return ""
    host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if port in (None, default) else f":{port}")
