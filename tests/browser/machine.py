"""Fixtures of a browser and of the sites that it visits: Chromium against Django's live server, and the marketplace.

Without Chromium these tests are skipped, except in CI.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import studies
from tests.browser.looks import PATIENCE_MS
from tests.chromium import CHROMIUM, require_chromium
from tests.evidence import watched
from tests.marketplace.server import MarketplaceServer, RequesterKeys, running

#: Collects what the content policy refused, from before the first script of every page.
_LISTEN = """
window.__refused = [];
document.addEventListener("securitypolicyviolation", (event) => {
  const { violatedDirective, blockedURI, sample, sourceFile, lineNumber } = event;
  window.__refused.push(`${violatedDirective}: ${blockedURI} ${sample} (${sourceFile}:${lineNumber})`);
});
"""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    require_chromium()
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)

    # playwright's event loop runs in this thread; the ORM is used beside it, never inside it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield watched(browser)
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page in a context of its own; `page.complaints` lists errors of scripts and the console."""
    context = chromium.new_context(viewport={"width": 1280, "height": 860})
    context.add_init_script(_LISTEN)
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda message: page.complaints.append(message.text) if message.type == "error" else None)
    yield page
    context.close()


@pytest.fixture(scope="session")
def drawings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of labelled pictures, as a researcher has it."""
    folder = tmp_path_factory.mktemp("drawings") / "pictures"
    studies.write_pictures(folder, per_category=3)
    return folder


@pytest.fixture
def own_media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"


@pytest.fixture(scope="session")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarketplaceServer]:
    with running(tmp_path_factory.mktemp("marketplace")) as server:
        yield server


@pytest.fixture(scope="session")
def requester(market: MarketplaceServer) -> RequesterKeys:
    return market.create_requester("Vision Lab", "100000.00")


@pytest.fixture
def platform(live_server: Any, market: MarketplaceServer, requester: RequesterKeys, settings: Any) -> str:
    """The platform's address, with the marketplace as its recruiter."""
    settings.PUBLIC_URL = live_server.url.replace("localhost", "127.0.0.1")
    settings.MARKETPLACE_URL = market.url
    settings.RECRUITER_ORIGINS = [market.url]
    settings.MARKETPLACE_ACCESS_KEY_ID = requester.access_key_id
    settings.MARKETPLACE_SECRET_ACCESS_KEY = requester.secret_access_key
    return str(settings.PUBLIC_URL)
