"""People whom a site sends by a link: from the address with its ids back to the site, by one button."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from analysis.study.link import Link
from humanexp.participation.models import ClosingAnswers, Session
from humanexp.participation.openings import note_deadline
from humanexp.recruiters.models import Assignment, Campaign, RecruitedPerson
from humanexp.recruiters.tickets import Outcome
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.browser.axe import violations
from tests.browser.looks import PHONE, fits, refused, shot
from tests.browser.person import PATIENCE_MS, Person
from tests.browser.researcher import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_media")]
PID, SUBMISSION = "5f0c0ffee0ddba11deadbeef", "66aa00bb11cc22dd33ee44ff"
IDS = f"PROLIFIC_PID={PID}&STUDY_ID=77&SESSION_ID={SUBMISSION}"


@pytest.fixture
def campaign(study: Study) -> Campaign:
    Study.objects.filter(pk=study.pk).update(
        configuration={**study.configuration, "ending": {}, "debrief": "We compared people with computers."}
    )
    study.refresh_from_db()
    link = Link(preset="prolific", reward=150, currency="GBP")
    return publish(study=study, terms=LaunchTerms(to="link", assignments=1, contact="lab@example.org", link=link))


@pytest.fixture
def arrives(page: Any, live_server: Any, campaign: Campaign) -> Callable[..., Any]:
    """Somebody opens the study's address; the panel's own pages are at hand."""
    page.context.route(
        "https://app.prolific.com/**",
        lambda route: route.fulfill(body="<title>Panel</title><h1>Thank you</h1>", content_type="text/html"),
    )

    def open_it(query: str = IDS, at: Any = page) -> Any:
        at.goto(f"{live_server.url}/take/{campaign.entry}/?{query}")
        return at

    return open_it


def code_of(outcome: Outcome) -> str:
    return Campaign.objects.get().site.codes[outcome].code


def tells(page: Any, *outcomes: Outcome) -> None:
    """Codes of these outcomes, and no others, are anywhere in the page, shown or not."""
    codes = {code_of(outcome) for outcome in outcomes}
    for _ in range(PATIENCE_MS // 50):
        if _told(page) == codes:
            return
        page.wait_for_timeout(50)
    assert _told(page) == codes


def _told(page: Any) -> set[str]:
    content = page.content()
    return {code for code in map(code_of, Outcome) if code in content}


def starts(page: Any) -> None:
    page.locator("[data-consent]").check()
    page.get_by_role("button", name="Start the study").click()
    page.wait_for_url("**/run/**", timeout=PATIENCE_MS)


def is_at_the_end(page: Any, address: str) -> Person:
    person = Person(page, address)
    person.sees("checks")
    Session.objects.update(cursor=Session.objects.get().total)
    page.reload()
    person.sees("closing")
    return person


@pytest.mark.gate
def test_finish_leads_back_with_the_code_and_nothing_before_it(page: Any, live_server: Any, arrives: Any) -> None:
    arrives()
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    expect(page).not_to_have_url(re.compile(f"{PID}|{SUBMISSION}"))
    fits(page, "site-entry-1280")
    starts(page)
    is_at_the_end(page, live_server.url)
    tells(page)
    closing = page.locator("[data-screen=closing]")
    expect(closing).to_contain_text("We compared people with computers.", use_inner_text=True)
    assert violations(page) == []
    fits(page, "site-closing-1280")
    kept = page.evaluate("JSON.stringify([{...sessionStorage}, {...localStorage}])")
    assert PID not in kept and RecruitedPerson.objects.get().given_id == PID
    page.get_by_role("button", name="Finish").click()
    back = f"https://app.prolific.com/submissions/complete?cc={code_of(Outcome.FINISHED)}"
    expect(page).to_have_url(back)
    assert ClosingAnswers.objects.count() == 1
    assert Assignment.objects.get().assignment_id == SUBMISSION
    # Whoever presses Back finds the way out once more, on both pages.
    page.go_back()
    Person(page, live_server.url).sees("closed")
    tells(page, Outcome.FINISHED)
    fits(page, "site-closed-1280")
    page.go_back()
    page.wait_for_selector("[data-panel=done]:not([hidden])", timeout=PATIENCE_MS)
    tells(page, Outcome.FINISHED)
    expect(page.get_by_role("link", name="Go back to Prolific")).to_have_attribute("href", back)
    fits(page, "site-done-1280")
    assert len(page.context.pages) == 1
    assert refused(page) == page.complaints == []


def test_going_back_in_the_middle_loses_nothing(page: Any, live_server: Any, arrives: Any) -> None:
    arrives()
    starts(page)
    person = Person(page, live_server.url)
    person.sees("checks")
    page.go_back()
    page.get_by_role("heading", name="You have begun this study").wait_for()
    page.get_by_text("0 of 11 answered and saved.").wait_for()
    tells(page)
    assert violations(page) == []
    fits(page, "site-came-back-1280")
    page.set_viewport_size(PHONE["viewport"])
    fits(page, "site-came-back-390")
    page.set_viewport_size({"width": 1280, "height": 860})
    page.reload()
    page.get_by_role("button", name="Continue the study").click()
    page.wait_for_url("**/run/**", timeout=PATIENCE_MS)
    person.sees("checks")
    page.go_back()
    page.get_by_role("heading", name="You have begun this study").wait_for()
    page.go_forward()
    person.sees("checks")
    assert Session.objects.count() == 1
    assert page.complaints == []


def test_a_link_into_the_study_that_has_run_out_leads_to_the_first_page(
    page: Any, live_server: Any, arrives: Any
) -> None:
    arrives()
    starts(page)
    person = Person(page, live_server.url)
    person.sees("checks")
    page.evaluate("sessionStorage.removeItem('humanexp.run.token')")
    page.reload()
    person.sees("unopened")
    fits(page, "site-unopened-1280")
    page.locator("[data-screen=unopened]").get_by_role("link", name="Go to the first page").click()
    page.get_by_role("button", name="Continue the study").click()
    person.sees("checks")


def test_without_a_connection_finish_waits_and_leads_out_afterwards(page: Any, live_server: Any, arrives: Any) -> None:
    arrives()
    starts(page)
    is_at_the_end(page, live_server.url)
    page.route("**/api/v1/run/closing/", lambda route: route.abort())
    page.get_by_role("button", name="Finish").click()
    page.wait_for_selector("[data-closing-trouble]:not([hidden])", timeout=PATIENCE_MS)
    tells(page)
    expect(page).not_to_have_url(re.compile("prolific"))
    page.unroute_all(behavior="wait")
    page.get_by_role("button", name="Finish").click()
    page.wait_for_url("https://app.prolific.com/**", timeout=PATIENCE_MS)


def test_a_reload_before_the_decision_keeps_who_it_is(page: Any, arrives: Any) -> None:
    arrives()
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    page.reload()
    page.wait_for_selector("[data-panel=start]:not([hidden])")
    starts(page)
    page.wait_for_selector("[data-screen=checks]:not([hidden])", timeout=PATIENCE_MS)
    assert RecruitedPerson.objects.get().given_id == PID


def test_who_says_no_goes_back_and_nothing_is_kept(page: Any, arrives: Any) -> None:
    arrives()
    page.get_by_role("button", name="I do not want to take part").click()
    page.get_by_role("link", name="Go back to Prolific").wait_for()
    tells(page, Outcome.NO_CONSENT)
    assert violations(page) == []
    fits(page, "site-declined-1280")
    page.get_by_role("link", name="Go back to Prolific").click()
    page.wait_for_url("https://app.prolific.com/**")
    assert Campaign.objects.get().turned_away == {Outcome.NO_CONSENT: 1}
    assert not RecruitedPerson.objects.exists() and not Session.objects.exists()


def test_who_leaves_goes_back_with_another_code(page: Any, live_server: Any, arrives: Any) -> None:
    arrives()
    starts(page)
    person = Person(page, live_server.url)
    person.sees("checks")
    page.click("[data-leave]")
    page.click('[data-leave-answer="delete"]')
    person.sees("left")
    page.get_by_role("link", name="Go back to Prolific").wait_for()
    tells(page, Outcome.LEFT)
    left = page.locator("[data-screen=left]")
    expect(left).to_contain_text("You are not paid, because you stopped before the end.", use_inner_text=True)
    fits(page, "site-left-1280")
    page.go_back()
    page.wait_for_selector("[data-panel=left]:not([hidden])", timeout=PATIENCE_MS)
    tells(page, Outcome.LEFT)
    fits(page, "site-left-entry-1280")


PAID, LOOKED_AT = "You are paid in full, as promised.", "so a person looks at it before you are paid."


@pytest.mark.parametrize(
    ("answered", "minutes_left", "screen", "said"), [(7, 2, "time-short", PAID), (2, -1, "time-over", LOOKED_AT)]
)
def test_whose_time_ends_before_the_next_round_goes_back_like_who_finished(
    page: Any, live_server: Any, arrives: Any, answered: int, minutes_left: int, screen: str, said: str
) -> None:
    arrives()
    starts(page)
    person = Person(page, live_server.url)
    person.sees("checks")
    due_at = timezone.now() + timedelta(minutes=minutes_left)
    note_deadline(session=Session.objects.get(), due_at=due_at)
    Session.objects.update(cursor=answered)
    page.reload()
    person.sees(screen)
    unsaid = ({PAID, LOOKED_AT} - {said}).pop()

    def promises(place: Any) -> None:
        expect(place).to_contain_text(said, use_inner_text=True)
        expect(place).not_to_contain_text(unsaid, use_inner_text=True)

    promises(page.locator(f"[data-screen={screen}]"))
    fits(page, f"site-{screen}-1280")
    page.get_by_role("button", name="Finish here").click()
    page.wait_for_url(f"https://app.prolific.com/submissions/complete?cc={code_of(Outcome.FINISHED)}")
    page.go_back()
    person.sees("out-of-time")
    promises(page.locator("[data-screen=out-of-time]"))
    fits(page, f"site-{screen}-back-1280")
    page.go_back()
    page.wait_for_selector("[data-panel=done]:not([hidden])", timeout=PATIENCE_MS)
    tells(page, Outcome.FINISHED)
    promises(page.locator("[data-panel=done]"))
    fits(page, f"site-{screen}-entry-1280")


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("", "Open the study from where you found it"),
        ("PROLIFIC_PID={{%25PROLIFIC_PID%25}}&SESSION_ID={{%25SESSION_ID%25}}", "This address still has placeholders"),
    ],
)
def test_an_address_without_ids_says_what_to_do(page: Any, arrives: Any, query: str, heading: str) -> None:
    arrives(query)
    page.get_by_role("heading", name=heading).wait_for()
    expect(page.locator("[data-consent]")).to_be_hidden()
    tells(page)
    expect(page.locator("[data-quote]").first).to_be_hidden()
    assert violations(page) == []
    shot(page, f"site-{'unfilled' if query else 'unnamed'}-1280")


def test_a_full_study_sends_people_back(page: Any, live_server: Any, arrives: Any, campaign: Campaign) -> None:
    arrives()
    starts(page)
    Session.objects.update(state="submitted", completed_at="2026-01-01T00:00Z", confirmed_at="2026-01-01T00:00Z")
    Assignment.objects.update(state="submitted")
    other = page.context.browser.new_context().new_page()
    arrives(IDS.replace(PID, PID[::-1]).replace(SUBMISSION, SUBMISSION[::-1]), other)
    other.get_by_role("heading", name="All places are taken").wait_for()
    expect(other.get_by_role("button", name="Start the study")).to_have_count(0)
    other.get_by_role("button", name="I have not begun it").click()
    other.get_by_role("link", name="Go back to Prolific").wait_for()
    other.get_by_role("heading", name="All places are taken").wait_for()
    expect(other.get_by_role("heading", name="You do not take part")).to_be_hidden()
    tells(other, Outcome.FULL)
    fits(other, "site-full-1280")
    other.context.close()


def test_a_phone_is_sent_back_from_a_timed_study(chromium: Any, arrives: Any) -> None:
    context = chromium.new_context(**PHONE)
    page = arrives(at=context.new_page())
    page.get_by_role("heading", name="This study needs a computer").wait_for()
    tells(page)
    page.get_by_role("button", name="I cannot use a computer").click()
    page.get_by_role("link", name="Go back to Prolific").wait_for()
    tells(page, Outcome.WRONG_DEVICE)
    fits(page, "site-device-390")
    context.close()


def test_a_site_without_an_address_gets_its_code_typed(
    page: Any, live_server: Any, study: Study, drawings: Path
) -> None:
    link = Link(preset="connect", site_code="A1B2-c3")
    campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=1, link=link))
    page.goto(f"{live_server.url}/take/{campaign.entry}/?participantId=P1&assignmentId=A1&projectId=X1")
    starts(page)
    person = is_at_the_end(page, live_server.url)  # the study asks nothing: Finish is there all the same
    page.get_by_role("button", name="Finish").click()
    person.sees("done")
    page.wait_for_selector("[data-out-code]:not([hidden])")
    shown = page.locator("[data-screen=done] [data-out-text]")
    expect(shown).to_have_text("A1B2-c3", use_inner_text=True)
    expect(page.locator("[data-out-link]").filter(visible=True)).to_have_count(0)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("[data-screen=done]").get_by_role("button", name="Copy").click()
    page.locator("[data-screen=done]").get_by_role("button", name="Copied").wait_for()
    page.wait_for_function("async () => (await navigator.clipboard.readText()) === 'A1B2-c3'")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        fits(page, f"site-code-{width}")


def test_a_researcher_chooses_a_site_and_finds_what_to_paste(page: Any, live_server: Any, study: Study) -> None:
    researcher = sign_in(page, live_server.url)
    study.memberships.create(user=researcher, role="owner")
    page.goto(f"{live_server.url}/studies/{study.slug}/recruit/?to=link")
    form = page.locator("#launch")
    expect(form.locator("[data-with-site]")).to_be_hidden()
    form.locator("[name=link_preset][value=prolific]").check()
    expect(form.locator("#id_link_alternative")).to_be_hidden()
    expect(form.locator("#id_link_site_code")).to_be_hidden()
    form.locator("[name=link_preset][value=connect]").check()
    expect(form.locator("#id_link_site_code")).to_be_visible()
    expect(form.locator("#id_link_currency")).to_have_value("USD")
    expect(form.locator("#id_link_return_address")).to_be_visible()
    form.locator("[name=link_preset][value=sona]").check()
    expect(form.locator("#id_link_alternative")).to_be_visible()
    expect(form.locator("#id_link_reward")).to_be_hidden()
    form.locator("[name=link_preset][value=prolific]").check()
    form.locator("#id_link_reward").fill("1.50")
    expect(form.locator("#id_link_currency")).to_have_value("GBP")
    form.locator("#id_assignments").fill("1")
    form.get_by_text("What people read").click()
    form.locator("#id_contact").fill("lab@example.org")
    page.get_by_text("app.prolific.com").wait_for()
    assert violations(page) == []
    fits(page, "site-launch-1280")
    page.get_by_role("button", name="Open the link").click()
    page.get_by_role("link", name="What to paste there").wait_for()
    fits(page, "site-launched-1280")
    page.get_by_role("link", name="What to paste there").click()
    page.get_by_role("heading", name="What to paste: Prolific").wait_for()
    expect(page.get_by_role("button", name="Print")).to_be_visible()
    assert violations(page) == []
    fits(page, "site-sheet-1280")
    page.set_viewport_size(PHONE["viewport"])
    fits(page, "site-sheet-390")
    campaign = Campaign.objects.get()
    assert (campaign.site.reward, campaign.site.currency) == (150, "GBP")
    page.goto(f"{live_server.url}/studies/{study.slug}/recruit/{campaign.pk}/finished/")
    page.fill("#id_id", PID)
    page.get_by_role("button", name="Look up").click()
    page.get_by_text("No one with this id has begun here.").wait_for()
    fits(page, "site-finished-390")
    page.set_viewport_size({"width": 1280, "height": 860})
    assert violations(page) == []
    fits(page, "site-finished-1280")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download everyone (CSV)").click()
    assert download.value.suggested_filename == f"{study.slug}-finished.csv"
