"""Which browser it is, by what it says of itself: its family and system, never the whole line."""

from __future__ import annotations

#: What a browser says of itself, the more special first: most say "Chrome" and "Safari" as well.
FAMILIES = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
#: Systems, the more special first: Android says "Linux", and an iPhone "Mac OS X", as well.
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iOS"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def browser_of(agent: str) -> str:
    """E.g. "Firefox on Linux"; what is not known is "another browser"."""
    family = next((name for part, name in FAMILIES if part in agent), "another browser")
    system = next((name for part, name in SYSTEMS if part in agent), "")
    return f"{family} on {system}" if system else family
