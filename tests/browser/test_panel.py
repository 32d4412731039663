"""A participant's way through the practice panel in a real browser, on two sites, and the newcomer's controls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.panel.receiver import Receiver
from tests.panel.server import CODE, PanelServer

pytestmark = pytest.mark.browser


@pytest.fixture
def panel(tmp_path: Path) -> Iterator[PanelServer]:
    server = PanelServer(tmp_path).start()
    yield server
    server.stop()


def test_a_newcomer_rehearses_a_study(panel: PanelServer, page: Any) -> None:
    lab = panel.lab()
    home = f"{panel.url}/submissions/complete?cc={CODE}"
    with Receiver(page=f'<a href="{home}">Finish</a>') as site:
        study = lab.study(
            name="Name the picture, in Chromium", external_study_url=f"{site.url}/take/?SESSION_ID={{{{%SESSION_ID%}}}}"
        )
        page.goto(f"{panel.url}/people/")
        page.get_by_role("button", name="Play a new person").click()
        page.get_by_role("link", name="Name the picture, in Chromium").click()
        page.get_by_role("button", name="Take part").click()
        with page.expect_popup() as opened:
            page.get_by_role("button", name="Open study").click()
        submission = re.search(r"/submissions/(\w+)/", page.url)[1]
        expect(opened.value).to_have_url(re.compile(rf"\?SESSION_ID={submission}$"))
        opened.value.get_by_role("link", name="Finish").click()
        opened.value.get_by_text("awaiting review").wait_for()
        expect(opened.value.locator("body")).to_contain_text("no real money, no real people")
    assert lab.get(f"studies/{study}/submissions/counts/")["AWAITING REVIEW"] == 1
    page.goto(f"{panel.url}/control/")
    page.get_by_role("button", name="22 days on").click()
    page.get_by_text("Done.").wait_for()
    assert lab.submission(submission)["status"] == "APPROVED"
    assert page.complaints == []
