"""What participants see: every page of a study in the console, in each language, to be printed at three widths."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from analysis.study.ethics import Ethics
from humanexp.core.models import User
from humanexp.participation.models import Participant, Preview, Session
from humanexp.recruiters.models import Assignment, Campaign, RecruitedPerson
from humanexp.studies.models import Study
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import shot
from tests.made_up import NAME, TAG

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("made_up_language", "own_media"),
]
STORED = (Session, Preview, Participant, Campaign, Assignment, RecruitedPerson)


@pytest.fixture
def anna(study: Study, page: Any, live_server: Any) -> User:
    return sign_in(study, page, live_server)


def sign_in(study: Study, page: Any, live_server: Any) -> User:
    """As the study's owner."""
    made = User.objects.create_user("anna", password="a-long-password")
    study.memberships.create(user=made, role="owner")
    page.goto(f"{live_server.url}/login/")
    page.fill("[name=username]", "anna")
    page.fill("[name=password]", "a-long-password")
    page.click("button[type=submit]")
    page.wait_for_load_state()
    return made


def keys_of(page: Any) -> list[str]:
    """Of the pages that the gallery shows."""
    expect(page.locator(".gallery code").first).to_be_visible()
    keys: list[str] = page.locator(".gallery code").all_text_contents()
    return keys


def keep(printed: Path) -> None:
    """A copy to be looked at."""
    if folder := os.environ.get("SCREENSHOTS"):
        shutil.copy(printed, folder)


def test_every_page_in_each_language(page: Any, live_server: Any, study: Study, anna: User) -> None:
    before = {model: model.objects.count() for model in STORED}
    address = f"{live_server.url}/studies/{study.slug}/pages/"
    one = f"{live_server.url}/studies/{study.slug}/preview/run/"
    for language, started in (("en", "Before you start"), ("de", "Bevor Sie anfangen")):
        page.goto(f"{address}?language={language}&to=marketplace")
        keys = keys_of(page)
        assert {"entry-consent", "entry-start", "run-checks", "run-trial", "run-closing", "run-done"} <= set(keys)
        assert "run-instructions-categorisation-4" in keys and "run-leave" in keys
        assert not [key for key in keys if "abx" in key or "validation" in key], "pages of other tasks"
        expect(page.locator(".gallery iframe")).to_have_count(len(keys))
        frame = page.frame_locator('iframe[src*="run-checks"]').first
        frame.get_by_role("heading", name=started, include_hidden=True).wait_for(state="attached")
        expect(page.locator("#page-run-checks")).to_contain_text(started)
        assert violations(page) == []
        shot(page, f"gallery-{language}")
        for key in keys:
            page.goto(f"{one}?page={key}&language={language}&to=marketplace")
            page.wait_for_selector("body[inert]", state="attached") if key != "result-" else None
            if key == "run-leave":
                expect(page.locator("[data-leave-dialog]")).to_be_visible()
            if key in ("run-trial", "run-instructions-categorisation-3"):
                shown = page.locator(".stage__grid" if key == "run-trial" else "[data-choices]").first
                said, unsaid = ("Messer", "Knife") if language == "de" else ("Knife", "Messer")
                expect(shown).to_contain_text(said, use_inner_text=True)
                expect(shown).not_to_contain_text(unsaid, use_inner_text=True)
            if key != "run-trial":
                expect(page.locator("main"), key).to_have_text(re.compile(r"\S"), use_inner_text=True)
            body = page.locator("body")
            expect(body, f"{key} shows the name of what is filled in").not_to_contain_text("{", use_inner_text=True)
            shot(page, f"gallery-{language}-{key}")
    page.goto(f"{address}?size=768&to=marketplace")
    page.emulate_media(media="print")
    expect(page.locator("[data-action=print]")).to_be_hidden()
    expect(page.locator(".gallery iframe")).to_have_count(len(keys))
    assert {model: model.objects.count() for model in STORED} == before, "nothing is stored"
    assert page.complaints == []


def test_printed_at_one_width_every_page_is_whole(
    page: Any, live_server: Any, drawings: Any, tmp_path: Any, transactional_db: None
) -> None:
    study = studies.make_study(drawings, design=studies.short_design())
    sign_in(study, page, live_server)
    for width, language in ((390, "en"), (768, TAG), (1280, "de")):
        page.goto(f"{live_server.url}/studies/{study.slug}/pages/?size={width}&language={language}&to=link")
        page.wait_for_function(
            "[...document.querySelectorAll('.gallery iframe')].every(({ contentDocument: shown }) => "
            "shown?.readyState === 'complete' && shown.documentElement.scrollHeight > 100)",
            timeout=100_000,
        )
        inside = page.eval_on_selector_all(
            ".gallery iframe",
            "frames => frames.map(({ contentWindow: { innerWidth, innerHeight, document }, title }) => "
            "({ title, innerWidth, cut: document.documentElement.scrollHeight - innerHeight }))",
        )
        assert {abs(one["innerWidth"] - width) <= 1 for one in inside} == {True}
        assert [one["title"] for one in inside if one["cut"] > 2] == [], "nothing has to be scrolled"
        printed = tmp_path / f"gallery-{width}.pdf"
        page.pdf(path=str(printed), format="A4", print_background=True)
        keep(printed)
        expect(page.locator(".gallery").nth(20), "there are more than 20").to_be_attached()
    page.goto(f"{live_server.url}/studies/{study.slug}/preview/run/?page=run-checks&language=de&to=link")
    languages = page.locator("[data-languages] a")
    expect(languages).to_have_text(["English", NAME], use_inner_text=True)


def test_pages_with_numbers_and_codes_show_examples(page: Any, live_server: Any, drawings: Any, own_media: Any) -> None:
    design = studies.short_design(
        practice_trials=None, practice_slow=1, practice_round=2, practice_pass=1, practice_rounds=2
    )
    study = studies.make_study(drawings, design=design, ethics=Ethics(deletion_code=True))
    study.configuration["setup"] = {"distance": True}
    study.save(update_fields=["configuration"])
    sign_in(study, page, live_server)
    address = f"{live_server.url}/studies/{study.slug}/pages/"
    one = f"{live_server.url}/studies/{study.slug}/preview/run/"
    page.goto(f"{address}?to=link")
    expect(page.locator("code", has_text="run-instructions-again-categorisation")).to_have_count(1)
    shown = {
        "run-instructions-again-categorisation": "at least 1 right",
        "run-instructions-categorisation-2": "2 of 4",
        "run-ready": "Round 1 of 4",
        "run-checks": "steady at 60 Hz",
        "run-distance": "1 of 3",
        "run-done": "/take/E-",
        "run-deadline": "your time ends at 15:30",
        "run-time-short": "your time ends at 15:30",
        "run-time-over": "It ended at 15:30",
        "entry-under-way": "of 160 answered and saved",
        "entry-refused": "All places in this study are taken",
    }
    for key, text in shown.items():
        page.goto(f"{one}?page={key}&to=link")
        page.get_by_text(text).filter(visible=True).first.wait_for()
    page.goto(f"{one}?page=run-left&to=link")
    page.get_by_text("Your answers until now stay").wait_for()
    page.locator("[data-screen=left] output", has_text="D-").wait_for()
    page.goto(f"{one}?page=run-calibration&to=link")
    page.wait_for_selector("body[inert]", state="attached")
    assert page.locator("[data-card]").bounding_box()["width"] > 300
    assert page.complaints == []


def test_steps_of_the_set_up_are_shown_where_the_study_wants_them(
    page: Any, live_server: Any, study: Study, anna: User
) -> None:
    # Which pages there are is asked, not how they look within the gallery's frames.
    page.route("**/*", lambda route: route.abort() if route.request.frame.parent_frame else route.continue_())
    address = f"{live_server.url}/studies/{study.slug}/pages/"
    page.goto(address)
    steps = {"run-calibration", "run-distance", "run-greys"}
    assert steps.isdisjoint(keys_of(page))
    study.configuration["setup"] = {"distance": True, "light": True}
    study.save(update_fields=["configuration"])
    page.goto(address)
    assert steps & set(keys_of(page)) == {"run-calibration", "run-distance"}
    page.goto(f"{live_server.url}/studies/{study.slug}/preview/run/?page=run-checks")
    expect(page.locator("[data-name=light]")).to_be_visible()
    expect(page.locator("[data-name=glasses]")).to_be_hidden()
