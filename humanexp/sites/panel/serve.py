"""The panel as a process: python -m humanexp.sites.panel.serve --host 127.0.0.1 --port 8002."""

from __future__ import annotations

import argparse
import os
import sys

from humanexp import listening, parents
from humanexp.addresses import is_loopback


def serve(host: str, port: int) -> None:
    """Bring the database up to date and answer until told to stop. One line says when it is ready."""
    os.umask(0o077)  # the database contains tokens
    from django.conf import settings

    from humanexp.migrating import bring_up_to_date
    from humanexp.sites.panel.wsgi import application  # sets Django up, for the panel

    bring_up_to_date()
    from humanexp.sites.panel.services.deliveries import deliver_events

    listening.listen(
        application,
        name="panel",
        host=host,
        port=port,
        largest_body=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        beside=deliver_events,
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m humanexp.sites.panel.serve", description=__doc__)
    listening.add_arguments(parser, port=8002)
    chosen = parser.parse_args(arguments)
    parents.watch()
    from humanexp.sites.panel import settings

    if not is_loopback(chosen.host) and not settings.PANEL_OPEN_TO_OTHERS:
        sys.stderr.write(
            f"The panel has no passwords, so it does not listen on {chosen.host}. "
            "Set PANEL_OPEN_TO_OTHERS=1 if everyone in that network can be trusted with it.\n"
        )
        return 1
    try:
        serve(chosen.host, chosen.port)
    except OSError as err:
        sys.stderr.write(f"The panel cannot listen on {chosen.host}:{chosen.port}: {err.strerror or err}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
