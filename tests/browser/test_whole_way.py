"""From a folder of pictures to curves of people and a network, by the console's pages; people's answers are written.

Jobs run in this process, so this is the short form of tests/journeys/test_first_study.py, where three processes and
somebody at a browser do it all.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from humanexp.core import clock
from humanexp.jobs import runner
from humanexp.participation.models import Response, Session
from humanexp.recruiters.models import Campaign
from humanexp.results.models import AnalysisRun
from humanexp.screening.services import judge_session
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import refused
from tests.browser.researcher import sign_in
from tests.browser.studies import open_session
from tests.journeys.newcomer import Hand, draw_pictures
from tests.results.collected import TIMING

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]


@pytest.mark.gate
def test_from_pictures_to_curves(page: Any, live_server: Any, settings: Any, tmp_path: Path) -> None:
    settings.PUBLIC_URL = live_server.url
    sign_in(page, live_server.url, is_staff=True)
    page.goto(live_server.url)
    ada = Hand(page, "whole-way")
    gives_pictures(ada, tmp_path)
    makes_stimuli(ada)
    study = makes_a_study(ada, live_server.url)
    for code in ("P-FIRST", "P-SECOND"):
        answers(study, code)
    brings_a_network(ada, live_server.url, tmp_path)
    page.goto(f"{live_server.url}/studies/{study.slug}/results/")
    ada.button("Run the analysis")
    ada.reads("Results are computed")
    page.goto("about:blank")  # the page loads itself anew once the run has ended, in the middle of a visit of ours
    runner.run_waiting()
    assert AnalysisRun.objects.get().study == study
    page.goto(f"{live_server.url}/studies/{study.slug}/results/")
    page.wait_for_selector("[data-drawn]")
    for observer in ("people", "elsewhere"):
        expect(page.locator(f"input[name=observer][value='{observer}']")).to_be_checked()
    expect(page.locator(".summary").first).to_contain_text(re.compile(r"\b2\b"), use_inner_text=True)
    assert violations(page) == []
    assert refused(page) == page.complaints == []


def gives_pictures(ada: Hand, tmp_path: Path) -> None:
    draw_pictures(tmp_path / "pictures", per_category=4, size_px=224)
    archive = shutil.make_archive(str(tmp_path / "drawings"), "zip", tmp_path / "pictures")
    ada.press(ada.page.locator("[data-next-step]").first, "import pictures")
    ada.field("name", "drawings")
    ada.page.locator('input[name="archive"]').set_input_files(archive)
    ada.button("Import the pictures")
    ada.page.get_by_role("heading", name="drawings").first.wait_for()
    runner.run_waiting()
    ada.page.reload()
    ada.reads("64 pictures of 16 categories")


def makes_stimuli(ada: Hand) -> None:
    ada.press(ada.page.locator('a[href*="source_set="]').first, "make stimuli of them")
    ada.press(ada.page.locator('input[name="corruptions"][value="gaussian_noise"]'), "gaussian noise")
    ada.field("count", "60")
    ada.button("Make the stimuli")
    ada.page.wait_for_url(re.compile("/stimuli/sets/"))
    runner.run_waiting()
    ada.page.reload()
    ada.page.get_by_text("complete", exact=True).first.wait_for()


def makes_a_study(ada: Hand, address: str) -> Study:
    ada.page.goto(f"{address}/studies/new/?start=rehearsal")
    ada.field("contact", "ada@example.org")
    ada.press(ada.page.locator("[data-create]"), "create")
    ada.page.locator("[data-next]").wait_for()
    study = Study.objects.get()
    ada.page.goto(f"{address}/studies/{study.slug}/recruit/?to=link")
    ada.button("Open the link")
    ada.reads("This study is recruiting.")
    assert Campaign.objects.get().study == study
    study.refresh_from_db()
    return study


def answers(study: Study, code: str) -> Session:
    """Somebody who names what is plain, and says dog where little is left of a picture."""
    session = open_session(study, code)
    trials = list(session.trials.select_related("stimulus"))
    for trial in trials:
        said = trial.correct_response if trial.stimulus.visual_change < 0.6 else "dog"
        Response.objects.create(
            session=session,
            trial=trial,
            position=trial.position,
            response=said,
            correct=said == trial.correct_response,
            rt_ms=700.0 + 9 * trial.position,
            timing=TIMING,
            timing_ok=True,
            received_at=clock.now(),
        )
    fetched = f"{(1 << len(trials)) - 1:x}"
    Session.objects.filter(pk=session.pk).update(
        state="completed", cursor=len(trials), completed_at=clock.now(), pictures_fetched=fetched
    )
    session.refresh_from_db()
    judge_session(session)
    return session


def brings_a_network(ada: Hand, address: str, tmp_path: Path) -> None:
    """What it has answered elsewhere, as a table."""
    table = tmp_path / "elsewhere.csv"
    lines = [
        f"{one.key},{one.source_image.category if one.visual_change < 0.4 else 'cat'},0.5"
        for one in Stimulus.objects.select_related("source_image")
    ]
    table.write_text("stimulus,response,confidence\n" + "\n".join(lines) + "\n", encoding="utf-8")
    ada.page.goto(f"{address}/classifiers/")
    ada.link("Upload predictions")
    ada.page.set_input_files("input[type=file]", str(table))
    ada.button("Look at it")
    ada.reads("What was understood")
    ada.button("Take these predictions")
    ada.page.get_by_role("heading", name="elsewhere").first.wait_for()
    runner.run_waiting()
    ada.page.reload()
    ada.reads("stimuli of drawings")
