"""24 ways through a study in Chromium, by pairwise cover of person, task, recruiter, width and language.

Each ends where it should: every answer is stored, the work is submitted, and no page on the way is a dead end.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from analysis.study.design import DiscriminationDesign
from humanexp.ledger.sender import send
from humanexp.participation.models import Response, Session, SessionState
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.browser import studies
from tests.browser.looks import PHONE
from tests.browser.participant import agrees
from tests.journeys.pairwise import all_pairs, covering, pairs_of
from tests.journeys.walking import KINDS, PATIENCE_MS, Confused, looks_at
from tests.made_up import TAG

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("made_up_language", "own_media", "unhurried", "open_gates"),
]

FACTORS = {
    "person": tuple(KINDS),
    "task": ("categorisation", "discrimination", "abx", "validation"),
    "way": ("link", "marketplace"),
    "width": ("narrow", "wide"),
    "language": ("en", "de", TAG),
}
ROWS = covering(FACTORS, 24)
#: Of each task and of each kind of person one, in `make verify`.
FAST = 4
WIDE = {"viewport": {"width": 1280, "height": 860}}
#: What pictures of an exact time and their choices take at least.
SMALLEST = {"viewport": {"width": 640, "height": 560}}
ABX = studies.pairs_design(discrimination=DiscriminationDesign(form="abx", trials=2, sentinels=2, practice=2))
DESIGNS = {**{name: make() for name, make in studies.DESIGNS.items()}, "abx": ABX}
_numbers = itertools.count(1)


def test_every_pair_of_values_is_on_a_way() -> None:
    assert all_pairs(FACTORS) == set().union(*map(pairs_of, ROWS))
    assert len(ROWS) == 24 and {row["task"] for row in ROWS[:FAST]} == set(FACTORS["task"])


def journeys() -> list[Any]:
    return [
        pytest.param(row, id="-".join(row.values()), marks=[pytest.mark.slow] if number >= FAST else [])
        for number, row in enumerate(ROWS)
    ]


@pytest.fixture
def campaign(request: pytest.FixtureRequest, drawings: Path) -> Campaign:
    row = request.getfixturevalue("row")
    is_hit = row["way"] == "marketplace"
    study = studies.make_study(
        drawings,
        design=DESIGNS[row["task"]],
        language=row["language"] if is_hit else "en",
    )
    # Questions at the end, as a new study has them.
    Study.objects.filter(pk=study.pk).update(configuration={**study.configuration, "ending": {}})
    study.refresh_from_db()
    terms = LaunchTerms(
        to=row["way"],
        assignments=1,
        reward_cents=120 * is_hit,
        contact="lab@example.org",
        title=f"Look {next(_numbers)}",
    )
    made = publish(study=study, terms=terms)
    send(environment="marketplace") if is_hit else None
    return made


@pytest.mark.timeout(300)
@pytest.mark.parametrize("row", journeys())
def test_a_way_through_the_study(
    row: dict[str, str],
    chromium: Any,
    platform: str,
    market: Any,
    campaign: Campaign,
) -> None:
    narrow = PHONE if row["task"] == "validation" else SMALLEST
    context = chromium.new_context(**(narrow if row["width"] == "narrow" else WIDE))
    if row["person"] == "absent":
        context.clock.install()
    outer, complaints = context.new_page(), []
    for event in ("pageerror", "console"):
        context.on("weberror" if event == "pageerror" else event, lambda said: complaints.append(_complaint(said)))
    entry = accepts(outer, market, campaign) if row["way"] == "marketplace" else opens(outer, platform, campaign, row)
    window = begins(outer, entry, row)
    person = KINDS[row["person"]](window, task=row["task"])
    person.goes_all_the_way()
    session = Session.objects.get()
    assert person.came[-1] == "done" and "closing" in person.came
    assert session.cursor == session.total == Response.objects.filter(session=session).count()
    assert session.language == row["language"] == session.environment["page_language"]
    assert row["person"] != "absent" or row["task"] == "validation" or "absent" in person.came
    assert not isinstance(person, Confused) or person.has_stayed
    if row["way"] == "marketplace":
        # Finish has submitted the work: nothing is left to press.
        outer.bring_to_front()
        outer.get_by_role("heading", name="Your work has been submitted").wait_for(timeout=PATIENCE_MS)
        assert sync(study=campaign.study).submitted == 1
    else:
        session.refresh_from_db()
        assert session.state == SessionState.SUBMITTED
        outer.go_back()
        outer.wait_for_selector("[data-panel=done]:not([hidden])", timeout=PATIENCE_MS)
        looks_at(outer, "entry-done")
    assert [said for said in complaints if said] == []
    context.close()


def _complaint(said: Any) -> str:
    """An error of a script or of the console; what is only told is none."""
    if getattr(said, "type", "error") != "error":
        return ""
    return str(getattr(said, "text", None) or said.error)


def opens(outer: Any, platform: str, campaign: Campaign, row: dict[str, str]) -> Any:
    """By link, in the language that the switch or the link itself names."""
    outer.goto(f"{platform}/take/{campaign.entry}/?language={row['language']}")
    return outer


def accepts(outer: Any, market: Any, campaign: Campaign) -> Any:
    """A worker finds the work in the list and accepts it; the frame in which the study is."""
    outer.goto(f"{market.url}/signup/")
    outer.get_by_label("User name").fill(f"ada-{next(_numbers)}-{campaign.entry[:6].lower()}")
    outer.get_by_label("Password").fill("a long pass phrase")
    outer.get_by_role("button", name="Sign up").click()
    outer.get_by_role("link", name=campaign.title).click()
    outer.get_by_role("button", name="Accept").click()
    outer.wait_for_load_state("networkidle")
    frame = outer.locator("[data-work-frame]").element_handle().content_frame()
    frame.wait_for_selector("[data-panel=start]:not([hidden])", timeout=PATIENCE_MS)
    return frame


def begins(outer: Any, entry: Any, row: dict[str, str]) -> Any:
    """Reads, agrees and starts; the confused try it without, and say that they are too young."""
    entry.wait_for_selector("[data-panel=start]:not([hidden])", timeout=PATIENCE_MS)
    if entry is outer:
        looks_at(outer, "entry")
    if row["person"] == "confused":
        entry.click("[data-action=start]")
        entry.wait_for_selector('[data-value="consent-error"]:not([hidden])')
        entry.click("[data-action=younger]")
        entry.wait_for_selector('[data-panel="too-young"]:not([hidden])')
        entry.click('[data-panel="too-young"] [data-action=back]')
        assert not Session.objects.exists()
    return agrees(outer, entry, by_keyboard=row["person"] == "keyboard")
