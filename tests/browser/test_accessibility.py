"""axe-core on every page of a participant and the main pages of the console: nothing serious, at two widths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from humanexp.console.models import Preflight
from humanexp.core.models import User
from humanexp.participation.models import ClosingAnswers, Session
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.models import AgreedText
from humanexp.studies.models import Study
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import fits, shot
from tests.browser.person import Judge, Person
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]

#: Screens that are only shown when something happens; here the page is told to show them.
SCREENS = (
    "loading phone browser unopened expired moved calibration distance greys full-screen paused absent slow small "
    "saving elsewhere offline damaged failed closing closed left done"
)
#: Steps of the entry page, likewise.
PANELS = "start preview device small too-young under-way inside done left refused"
#: What is shown only sometimes within them.
_REVEAL = "document.querySelectorAll('[data-value],[data-action]').forEach((part) => (part.hidden = false))"
#: As in the middle of practice: one answer wrong, the right one marked, one chosen.
_FEEDBACK = """() => {
  document.querySelector("[data-grid]").dataset.shown = "";
  const [right, wrong, chosen] = document.querySelectorAll("[data-choice]");
  right.dataset.mark = "right";
  wrong.dataset.mark = "wrong";
  if (chosen) chosen.dataset.mark = "chosen";
  document.querySelector('[data-screen="trial"] [data-verdict]').textContent = "It was: knife";
}"""
#: The page has taken its own marks away by then.
_NO_FEEDBACK = """() => {
  delete document.querySelector("[data-grid]").dataset.shown;
  for (const marked of document.querySelectorAll("[data-mark]")) delete marked.dataset.mark;
}"""


def test_the_pages_of_a_timed_study(page: Any, live_server: Any, study: Study) -> None:
    person = Person(page, live_server.url)
    session = studies.open_session(study)
    person.enters(session)
    person.sees("checks")
    assert violations(page) == []
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    for _ in range(4):
        assert violations(page) == []
        person.presses("next")
    person.sees("ready")
    assert violations(page) == []
    person.presses("start")
    person.sees_the_choices()
    assert violations(page) == []
    person.answers_round(session, lambda _: "dog")
    page.evaluate(_FEEDBACK)
    assert violations(page) == []
    page.evaluate(_NO_FEEDBACK)
    for _ in session.blocks[1:]:
        person.sees("ready")
        assert violations(page) == []
        person.presses("start")
        person.answers_round(session, lambda _: "dog")
    person.sees("done")
    assert violations(page) == []


def test_the_pages_of_pairs(page: Any, live_server: Any, drawings: Path) -> None:
    person = Person(page, live_server.url)
    study = studies.make_study(drawings, design=studies.pairs_design())
    study.configuration["calibrate_size"] = True
    study.save(update_fields=["configuration"])
    session = studies.open_session(study)
    person.enters(session)
    person.passes_the_checks()
    person.sees("calibration")
    page.focus("[data-card-width]")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    expect(page.locator("[data-card]")).to_have_js_property("offsetWidth", 330)
    assert violations(page) == []
    shot(page, "frames-calibration")
    person.presses("fitted")
    person.sees("instructions-discrimination")
    for _ in range(4):
        assert violations(page) == []
        person.presses("next")
    person.presses("start")
    person.sees_the_choices()
    assert violations(page) == []
    shot(page, "frames-pairs")


def test_leaving_on_a_phone(page: Any, live_server: Any, drawings: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    judge = Judge(page, live_server.url)
    judge.arrives_to_judge(
        studies.open_session(studies.make_study(drawings, design=studies.JUDGEMENTS)),
    )
    page.click("[data-leave]")
    page.wait_for_selector("dialog[open]")
    expect(page.locator("[data-leave-answer=stay]")).to_be_focused()
    assert violations(page) == []
    page.click("[data-leave-answer=stay]")
    for part in ("[data-part=saved]", "[data-part=count]"):
        text, way_out = page.locator(part).bounding_box(), page.locator("[data-leave]").bounding_box()
        assert text["x"] >= way_out["x"] + way_out["width"] or text["y"] + text["height"] <= way_out["y"], part


@pytest.mark.parametrize("width", [1280, 390])
def test_the_pages_of_a_validation(page: Any, live_server: Any, drawings: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    judge = Judge(page, live_server.url)
    judge.enters(studies.open_session(studies.make_study(drawings, design=studies.JUDGEMENTS)))
    judge.passes_the_checks()
    judge.sees("instructions-validation")
    for _ in range(3):
        assert violations(page) == []
        judge.presses("next")
    judge.presses("start")
    judge.sees_picture("Practice picture 1 of 2")
    assert violations(page) == []
    judge.judges("no-no")
    page.wait_for_selector('[data-verdict]:has-text("both")')
    assert violations(page) == []


@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "de")])
def test_the_pages_that_only_some_people_meet(
    page: Any, live_server: Any, study: Study, width: int, language: str
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
    page.goto(f"{live_server.url}/take/{campaign.entry}/run/?language={language}")
    Person(page, live_server.url).sees("unopened")
    page.evaluate(_REVEAL)
    page.evaluate(
        "document.querySelectorAll('[data-question], [data-deletion]').forEach((part) => (part.hidden = false))"
    )
    for name in SCREENS.split():
        page.evaluate(
            """(name) => { for (const part of document.querySelectorAll("[data-screen]"))
            part.hidden = part.dataset.screen !== name; document.body.dataset.state = name; }""",
            name,
        )
        assert violations(page) == [], name
        fits(page, f"rare-{name}-{width}")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_pages_on_what_people_agreed_to_and_said(page: Any, live_server: Any, study: Study, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    user = sign_in(page, live_server.url)
    study.memberships.create(user=user, role="owner")
    session = studies.open_session(study)
    said = {"went_wrong": "yes", "problem": "The screen froze twice, " * 9, "comment": "Thank you."}
    ClosingAnswers.objects.create(session=session, given_at=timezone.now(), **said)
    text = AgreedText.objects.create(
        digest="0" * 64,
        version="house-5",
        language="en",
        html="<h3>Pay</h3><p>None.</p>",
        first_agreed_at=timezone.now(),
    )
    Session.objects.filter(pk=session.pk).update(consent_digest=text.digest)
    for name in (f"agreed/{text.digest}", "review/comments"):
        page.goto(f"{live_server.url}/studies/{study.slug}/{name}/")
        page.get_by_role(
            "heading", name={"agreed": "What was agreed to"}.get(name[:6], "What participants said at the end")
        ).first.wait_for()
        assert violations(page) == [], name
        fits(page, f"rare-{name[:6]}-{width}")


@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "de")])
@pytest.mark.parametrize("to", ["link", "marketplace"])
def test_every_step_of_the_entry_page(
    page: Any, live_server: Any, study: Study, width: int, language: str, to: str
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    reward = {"reward_cents": 100} if to == "marketplace" else {}
    campaign = publish(study=study, terms=LaunchTerms(to=to, assignments=1, **reward))
    page.goto(f"{live_server.url}/take/{campaign.entry}/?language={language}")
    page.wait_for_function("[...document.querySelectorAll('[data-panel]')].some((panel) => !panel.hidden)")
    page.evaluate(_REVEAL)
    for name in PANELS.split():
        page.evaluate(
            """(name) => { for (const panel of document.querySelectorAll("[data-panel]"))
            panel.hidden = panel.dataset.panel !== name; }""",
            name,
        )
        assert violations(page) == [], name
        fits(page, f"entry-{name}-{to}-{language}-{width}")


#: The stop that has the focus, and whether one can see that it has.
_FOCUSED = """() => {
  const stop = document.activeElement;
  const ringed = (element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) || boxShadow !== "none";
  };
  const label = stop.closest("label");
  const seen = ringed(stop) || Boolean(label && ringed(label));
  return [stop === document.body ? "" : stop.outerHTML.slice(0, 80), seen];
}"""


def stops(page: Any, most: int = 12) -> dict[str, bool]:
    """Every stop of the Tab key, and whether the focus is seen there."""
    found: dict[str, bool] = {}
    for _ in range(most):
        page.keyboard.press("Tab")
        name, is_seen = page.evaluate(_FOCUSED)
        if name:
            found[name] = is_seen
    return found


@pytest.mark.gate
def test_the_focus_is_seen_wherever_it_goes_and_nothing_moves(page: Any, live_server: Any, study: Study) -> None:
    page.emulate_media(reduced_motion="reduce")
    link = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
    person = Person(page, live_server.url)
    walk = {}
    page.goto(f"{live_server.url}/take/{link.entry}/")
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    walk["entry"] = stops(page)
    person.enters(studies.open_session(study))
    person.sees("checks")
    walk["checks"] = stops(page)
    person.passes_the_checks()
    person.sees("instructions-categorisation")
    person.presses("next")
    walk["instructions"] = stops(page)
    for place, found in walk.items():
        assert len(found) >= 3, place
        assert [name for name, is_seen in found.items() if not is_seen] == [], place
    moving = page.eval_on_selector_all(
        "*",
        """all => all.filter((one) => {
        const { transitionDuration, animationName } = getComputedStyle(one);
        return animationName !== "none" || transitionDuration.split(",").some((time) => parseFloat(time) > 0.01);
        }).length""",
    )
    assert moving == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_way_in(page: Any, live_server: Any, study: Study, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    link = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
    work = publish(study=study, terms=LaunchTerms(to="marketplace", assignments=1, reward_cents=100))
    for path in (f"/take/{link.entry}/", f"/take/{work.entry}/", "/take/nothing/"):
        page.goto(live_server.url + path)
        assert violations(page) == [], path


@pytest.mark.parametrize("width", [1280, 390])
def test_the_console(page: Any, live_server: Any, study: Study, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{live_server.url}/login/")
    assert violations(page) == []
    sign_in(page, live_server.url, is_staff=True)
    own = study.memberships.create(user=User.objects.create_user("ben"), role="payer")
    now = timezone.now()
    line = {"key": "plan", "title": "Plan", "detail": "Cut.", "remedy": "Look.", "url": "/", "action": "Design"}
    Preflight.objects.create(
        study=study,
        to="link",
        began_at=now,
        ended_at=now,
        is_green=False,
        lines=[{**line, "tone": tone} for tone in ("good", "warn", "bad")],
    )
    rooms = ("", "design/", "preflight/?to=link", "recruit/", "monitor/", "review/", "results/", "members/")
    rooms += (f"members/{own.pk}/", "audit/", "design/power/")
    for path in ("/", "/studies/new/", "/classifiers/retrain/", *(f"/studies/{study.slug}/{room}" for room in rooms)):
        assert page.goto(live_server.url + path).status == 200, path
        assert violations(page) == [], path
