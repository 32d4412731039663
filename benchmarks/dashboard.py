"""How fast do the rooms of results come from stored findings? A study of 14 corruptions and 11 populations.

    python -m benchmarks.dashboard [--repeats 9] [--no-browser]

The findings are made by formula in a database of this run's own (two properties, 308 curves).
Server time: the whole request as Django's test client sees it, template included, first (findings read from their
file) and then the median. Browser: headless Chromium on this machine, from the start of the navigation until the
curves stand on the page, script library and all; first visit (nothing in the cache) and median of later ones.
Wanted: every room within 100 ms, the first chart within 1 s.
"""

from __future__ import annotations

import os
import shutil
import statistics
import threading
from pathlib import Path
from typing import Any

from benchmarks._command import run
from benchmarks._pages import signed_in, site, timed, write

SERVER_MS, CHART_MS = 100, 1000
ROOMS = {
    "findings": "",
    "models": "models/",
    "corruptions": "corruptions/",
    "people": "people/",
    "methods": "methods/",
    "another figure (JSON)": "figures/accuracy--frost.json",
    "what is said beside it": "panels/accuracy--frost/",
}


@site("dashboard")
def main(*, repeats: int = 9, no_browser: bool = False) -> bool:
    from django.conf import settings

    from humanexp.core.models import User
    from humanexp.results import selectors
    from tests.results.large import make_large_study

    user = User.objects.create_user("benchmark")
    study = make_large_study(user)
    found = selectors.findings(selectors.latest_run(study))
    size = (Path(settings.MEDIA_ROOT) / selectors.latest_run(study).findings_file).stat().st_size
    write(
        f"{len(found.curves)} curves, {len(found.comparisons)} comparisons, "
        f"{len(found.similarity) + len(found.classifier_similarity)} pairs; findings {size / 1e6:.1f} MB"
    )
    client = signed_in(user)
    write(f"{'room':<26}{'first, ms':>10}{'its core, ms':>14}{'median, ms':>12}{'core, ms':>10}{'page, kB':>10}")
    slowest = 0.0
    for name, path in ROOMS.items():
        address = f"/studies/{study.slug}/results/{path}"
        took = timed(client, address, repeats=repeats, beforehand=selectors._read.cache_clear)
        slowest = max(slowest, took.ms)
        write(
            f"{name:<26}{took.first_ms:>10.0f}{took.first_core_ms:>14.0f}{took.ms:>12.0f}"
            f"{took.core_ms:>10.0f}{took.kilobytes:>10.0f}"
        )
    write(f"slowest room {slowest:.0f} ms, wanted {SERVER_MS} ms")
    charts = [] if no_browser else browse(f"/studies/{study.slug}/results/", client, repeats)
    if charts:
        write(
            f"first chart in Chromium: first visit {charts[0]:.0f} ms, "
            f"median of later visits {statistics.median(charts[1:]):.0f} ms; wanted {CHART_MS} ms"
        )
    return slowest <= SERVER_MS and (not charts or statistics.median(charts) <= CHART_MS)


def browse(path: str, client: Any, repeats: int) -> list[float]:
    """Milliseconds until the curves are drawn, one a visit; the first visit has nothing in its cache."""
    from django.conf import settings
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
    from django.core.wsgi import get_wsgi_application
    from playwright.sync_api import sync_playwright

    class Quiet(WSGIRequestHandler):
        def log_message(self, *args: Any) -> None:
            """Nothing."""

    server = ThreadedWSGIServer(("127.0.0.1", 0), Quiet)
    server.set_app(StaticFilesHandler(get_wsgi_application()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    name = settings.SESSION_COOKIE_NAME
    chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1280, "height": 860})
        context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": address}])
        page = context.new_page()
        # The clock of the page itself: when the attribute appears, whatever asks for it.
        page.add_init_script(
            """new MutationObserver((_, observer) => {
              if (!document.querySelector("[data-chart][data-drawn]")) return;
              observer.disconnect();
              window.__drawn = performance.now();
            }).observe(document, { subtree: true, childList: true, attributes: true });"""
        )
        for _ in range(repeats + 1):
            page.goto(address + path)
            page.wait_for_selector("[data-drawn]")
            found.append(float(page.evaluate("window.__drawn")))
        browser.close()
    server.shutdown()
    return found


if __name__ == "__main__":
    run(main)
