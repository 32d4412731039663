"""`simulate --browser`: personas go through the real pages in Chromium, by link and in the marketplace's frame."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.chromium import require_chromium
from tests.journeys.site import Site, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _chromium() -> None:
    require_chromium()


def answers(site: Site) -> list[tuple[str, str]]:
    """(response, right answer) of every stored trial, with the engine's own record."""
    rows = site.platform(
        """SELECT r.response, t.correct_response FROM experiments_response r
        JOIN experiments_trial t ON t.id = r.trial_id WHERE r.is_scripted AND r.timing LIKE '%engine_version%'"""
    )
    return [(row["response"], row["correct_response"]) for row in rows]


@pytest.mark.timeout(300)
def test_by_link_a_persona_answers_what_it_sees(site: Site) -> None:
    site.must("publish", "flow", "--to", "link", "--assignments", "2")
    said = site.must("simulate", "flow", "--participants", "1", "--mix", "careful=1", "--browser")
    assert "1 scripted participants took part (careful 1)" in said
    session = site.platform("SELECT * FROM experiments_session")[0]
    assert session["state"] == "submitted" and session["is_scripted"] and session["cursor"] == session["total"]
    given = answers(site)
    assert len(given) == session["total"]
    assert sum(response == right for response, right in given) > len(given) / 2
    engine = "SELECT DISTINCT json_extract(timing, '$.engine_version') AS name FROM experiments_response"
    assert "simulated" not in [row["name"] for row in site.platform(engine)]


@pytest.mark.timeout(300)
def test_in_the_frame_of_the_marketplace_a_persona_submits_the_hit(site: Site) -> None:
    site.must("publish", "flow", "--to", "marketplace", "--assignments", "2")
    live = "SELECT 1 FROM recruitment_campaign WHERE state = 'live'"
    wait_for(lambda: site.platform(live), "the campaign is live")
    site.must("simulate", "flow", "--participants", "1", "--mix", "average=1", "--browser")
    work = site.marketplace("SELECT submitted_at FROM marketplace_assignment")
    assert [row["submitted_at"] is not None for row in work] == [True]
    assert site.platform("SELECT state FROM experiments_session")[0]["state"] in ("completed", "submitted")


def test_without_playwright_the_command_says_what_to_install(site: Site, tmp_path: Path) -> None:
    (tmp_path / "playwright").mkdir()
    (tmp_path / "playwright" / "__init__.py").write_text("raise ImportError('hidden')")
    site.must("publish", "flow", "--to", "link", "--assignments", "2")
    os.environ["PYTHONPATH"], before = str(tmp_path), os.environ.get("PYTHONPATH")
    try:
        status, said = site.manage("simulate", "flow", "--participants", "1", "--browser")
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    assert status != 0 and "playwright" in said and "humanexp[browser]" in said
    assert "Traceback" not in said
