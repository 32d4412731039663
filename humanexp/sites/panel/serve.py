"""The panel as a process: python -m humanexp.sites.panel.serve --host 127.0.0.1 --port 8002."""

from __future__ import annotations

from humanexp.addresses import is_loopback
from humanexp.sites.serving import Site


def problems(host: str) -> list[str]:
    from django.conf import settings

    if is_loopback(host) or settings.PANEL_OPEN_TO_OTHERS:
        return []
    return [
        f"The panel has no passwords, so it does not listen on {host}. "
        "Set PANEL_OPEN_TO_OTHERS=1 if everyone in that network can be trusted with it."
    ]


PANEL = Site(name="panel", port=8002, problems=problems, beside=("progress", "deliver_events"))

if __name__ == "__main__":
    raise SystemExit(PANEL.main())
