"""Volunteers in a browser: from the public page to their own curve, the card, and back with the mark."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from humanexp.participation.models import EarlierCurves, Response, Session, Trial
from humanexp.participation.own_curves import Earlier, EarlierLine
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study
from tests.browser import studies
from tests.browser.axe import violations
from tests.browser.looks import PHONE, fits
from tests.browser.participant import agrees
from tests.browser.person import Person
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]
GRID = tuple(number / 20 for number in range(21))


@pytest.fixture
def campaign(study: Study, settings: Any, live_server: Any) -> Campaign:
    settings.PUBLIC_URL = live_server.url
    made = publish(study=study, terms=LaunchTerms(to="volunteer", assignments=2, contact="lab@example.org"))
    lines = (
        EarlierLine(name="humans", kind="people", visual_change=GRID, rate=tuple(0.96 - 0.7 * v**3 for v in GRID)),
        EarlierLine(
            name="timm:resnet50.a1_in1k", kind="network", visual_change=GRID, rate=tuple(0.9 - 0.8 * v for v in GRID)
        ),
        EarlierLine(
            name="open_clip:ViT-B-32", kind="network", visual_change=GRID, rate=tuple(0.93 - 0.8 * v**2 for v in GRID)
        ),
    )
    content = Earlier(title="Noise and blur, 2025", lines=lines).to_json()
    frozen = EarlierCurves.objects.create(digest="d", content=content, frozen_at=timezone.now())
    made.compared_with = frozen
    made.save()
    return made


def answers(session: Session, *, up_to: float) -> None:
    """As if the session had been long, and all of it answered: right where pictures are changed less than that."""
    one = session.trials.filter(role="main").first()
    assert one is not None
    pictures = list(Stimulus.objects.exclude(corruption="none").filter(stimulus_set=session.study.stimulus_set)) * 2
    alike = {"session": session, "block": one.block, "role": "main", "task": one.task}
    rows = [
        Trial(**alike, position=1000 + number, mask_seed=number, stimulus=stimulus)
        for number, stimulus in enumerate(pictures)
    ]
    for trial in Trial.objects.bulk_create(rows):
        is_right = trial.stimulus.visual_change < up_to or trial.position % 7 == 0
        Response.objects.create(
            session=session,
            trial=trial,
            position=trial.position,
            response="dog",
            correct=is_right,
            received_at=timezone.now(),
        )
    Session.objects.filter(pk=session.pk).update(cursor=session.total)


def test_from_the_public_page_to_a_shared_card(page: Any, live_server: Any, campaign: Campaign, chromium: Any) -> None:
    page.goto(f"{live_server.url}/volunteer/")
    assert violations(page) == []
    fits(page, "volunteer-list-1280")
    page.get_by_role("link", name="More about this study").click()
    page.get_by_role("heading", name="What you do").wait_for()
    assert violations(page) == []
    fits(page, "volunteer-study-1280")
    page.get_by_role("link", name="Read the information and decide").click()
    page.get_by_role("heading", name="A mark in your browser").wait_for()
    fits(page, "volunteer-consent-1280")
    agrees(page, page)
    person = Person(page, live_server.url)
    person.sees("checks")
    session = Session.objects.get()
    answers(session, up_to=0.55)
    page.reload()
    person.sees("done")
    with page.expect_popup() as popup:
        page.get_by_role("link", name="See how often you were right").click()
    result = popup.value
    result.get_by_role("heading", name="Your result").wait_for()
    assert violations(result) == []
    fits(result, "volunteer-result-1280")
    result.get_by_role("button", name="Make a card").click()
    result.get_by_role("button", name="Take the card back").wait_for()
    assert violations(result) == []
    fits(result, "volunteer-card-made-1280")
    result.set_viewport_size({"width": 390, "height": 844})
    fits(result, "volunteer-result-390")
    shared = result.locator(".shared-card__address")
    expect(shared, "addresses are read from left to right in every language").to_have_attribute("dir", "ltr")
    address = shared.get_attribute("href")
    context = chromium.new_context(**PHONE)
    friend = context.new_page()
    friend.goto(f"{live_server.url}{address}")
    friend.get_by_role("heading", name="How well do people recognise").wait_for()
    assert violations(friend) == []
    fits(friend, "volunteer-card-390")
    friend.goto(f"{live_server.url}{address.replace('language=en', 'language=de')}")
    friend.get_by_role("link", name="Selbst mitmachen").wait_for()
    fits(friend, "volunteer-card-de-390")
    result.get_by_role("button", name="Take the card back").click()
    result.get_by_role("button", name="Make a card").wait_for()
    friend.reload()
    friend.get_by_role("heading", name="Hier ist keine Karte").wait_for()
    context.close()
    # The browser that took part is known again, also in the same family's next study; nothing else was left in it.
    assert page.context.cookies() == []
    again = page.context.new_page()
    again.goto(f"{live_server.url}/take/{campaign.entry}/")
    agrees(again, again)
    Person(again, live_server.url).sees("closed")
    fits(again, "volunteer-again-1280")
    assert Session.objects.count() == 1
    assert page.complaints == []


@pytest.mark.gate
def test_a_guesser_reads_an_honest_text(page: Any, live_server: Any, campaign: Campaign) -> None:
    page.goto(f"{live_server.url}/take/{campaign.entry}/?language=de")
    agrees(page, page)
    person = Person(page, live_server.url)
    person.sees("checks")
    session = Session.objects.get()
    answers(session, up_to=0.0)
    Response.objects.filter(session=session, position__gt=1003).update(correct=False)
    page.reload()
    person.sees("done")
    with page.expect_popup() as result:
        page.locator("[data-own-result] a").click()
    result.value.get_by_text("Raten").wait_for()
    fits(result.value, "volunteer-guesser-de-1280")


def test_a_phone_reads_that_a_timed_study_needs_a_computer(chromium: Any, live_server: Any, campaign: Campaign) -> None:
    context = chromium.new_context(**PHONE)
    page = context.new_page()
    page.goto(f"{live_server.url}/volunteer/")
    page.get_by_text("only on a desktop or laptop computer").wait_for()
    assert violations(page) == []
    fits(page, "volunteer-list-390")
    page.get_by_role("link", name="More about this study").click()
    page.get_by_text("which phones and tablets cannot do exactly").wait_for()
    fits(page, "volunteer-study-390")
    page.get_by_role("link", name="Read the information and decide").click()
    page.get_by_role("heading", name="This study needs a computer").wait_for()
    assert not Session.objects.exists()
    context.close()


def test_a_validation_study_is_taken_on_a_phone(
    chromium: Any, live_server: Any, transactional_db: None, drawings: Any, settings: Any
) -> None:
    settings.PUBLIC_URL = live_server.url
    study = studies.make_study(drawings, design=studies.JUDGEMENTS)
    publish(study=study, terms=LaunchTerms(to="volunteer", assignments=2, contact="lab@example.org"))
    context = chromium.new_context(**PHONE)
    page = context.new_page()
    page.goto(f"{live_server.url}/volunteer/?language=de")
    page.get_by_text("an einem Computer oder Handy").wait_for()
    fits(page, "volunteer-validation-de-390")
    page.get_by_role("link", name="Mehr über diese Studie").click()
    page.get_by_role("link", name="Informationen lesen und entscheiden").click()
    page.get_by_role("heading", name="Eine Markierung in Ihrem Browser").wait_for()
    fits(page, "volunteer-consent-de-390")
    agrees(page, page)
    Person(page, live_server.url).sees("checks")
    assert Session.objects.get().study == study
    context.close()


def test_nothing_is_open(page: Any, live_server: Any, transactional_db: None) -> None:
    page.goto(f"{live_server.url}/volunteer/")
    page.get_by_role("heading", name="No study is open at the moment").wait_for()
    assert violations(page) == []
    fits(page, "volunteer-empty-1280")
    page.get_by_role("link", name="Deutsch").click()
    page.get_by_role("heading", name="Zurzeit ist keine Studie offen").wait_for()


def test_a_researcher_opens_a_study_to_volunteers(page: Any, live_server: Any, study: Study) -> None:
    researcher = sign_in(page, live_server.url)
    study.memberships.create(user=researcher, role="owner")
    page.goto(f"{live_server.url}/studies/{study.slug}/recruit/")
    form = page.locator("#launch")
    form.get_by_role("radio", name="volunteers").check()
    page.get_by_text("volunteers are not paid").wait_for()
    form.locator("#id_compared_with").wait_for()
    expect(form.locator("[name=link_preset]").first).to_be_hidden()
    form.locator("#id_assignments").fill("2")
    form.get_by_text("What people read").click()
    form.locator("#id_contact").fill("lab@example.org")
    assert violations(page) == []
    fits(page, "volunteer-launch-1280")
    page.get_by_role("button", name="Open the study to volunteers").click()
    page.get_by_text("It is also listed with all open studies").wait_for()
    fits(page, "volunteer-launched-1280")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, "volunteer-launched-390")
    campaign = Campaign.objects.get()
    page.goto(f"{live_server.url}/volunteer/{campaign.entry}/")
    page.get_by_role("heading", name=study.title).wait_for()
