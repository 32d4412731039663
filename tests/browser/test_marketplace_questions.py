"""What the marketplace shows itself, in a real browser: a requester's page and form in the frame, and a test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.looks import fits, refused
from tests.marketplace.documents import SCHEMAS, file_question, free_text_question, question_form, selection_question
from tests.marketplace.server import MarketplaceServer, RequesterKeys

pytestmark = pytest.mark.browser

_WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
#: Written for the real service: its script, its address, and a script of the page's own that tries to reach ours.
_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>t</title>
<script src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script></head>
<body><form name="mturk_form" method="post" id="mturk_form" action="https://www.mturk.com/mturk/externalSubmit">
<input type="hidden" value="" name="assignmentId" id="assignmentId"><label>Remark <input name="remark"></label>
<input type="hidden" name="reached" value="nothing"><input type="submit" value="Submit"></form>
<script>turkSetAssignmentID();
try { document.forms[0].elements.reached.value = parent.document.title; } catch (refused) {}
try { document.forms[0].elements.reached.value = document.cookie || "no cookie"; } catch (refused) {}
</script></body></html>"""


@pytest.fixture(scope="module")
def mturk(market: MarketplaceServer, requester: RequesterKeys) -> Any:
    return market.client(requester)


def offer(mturk: Any, title: str, question: str) -> dict[str, Any]:
    values = {"Description": "d", "Reward": "0.40", "AssignmentDurationInSeconds": 600, "LifetimeInSeconds": 3600}
    made: dict[str, Any] = mturk.create_hit(Title=title, Question=question, MaxAssignments=3, **values)["HIT"]
    return made


def log_in(page: Any, market: MarketplaceServer, name: str) -> None:
    market.worker(username=name, password="a long pass phrase")
    page.goto(f"{market.url}/login/")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill("a long pass phrase")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Work", exact=True).wait_for()


def complaints(page: Any) -> list[str]:
    """But for what the test asks for: a refusal's status, and the sandboxed page's own failed reach."""
    return [one for one in page.complaints if not re.search(r"422|sandboxed|Blocked a frame", one)]


def answer_of(mturk: Any, hit: dict[str, Any]) -> str:
    (row,) = mturk.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    return str(row["Answer"])


def test_a_page_written_for_the_real_service_works_and_reaches_nothing(
    page: Any, market: MarketplaceServer, mturk: Any
) -> None:
    question = (
        f'<HTMLQuestion xmlns="{SCHEMAS}/2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[{_PAGE}]]></HTMLContent>'
        "<FrameHeight>450</FrameHeight></HTMLQuestion>"
    )
    hit = offer(mturk, "A page sent along", question)
    log_in(page, market, "ada")
    page.goto(f"{market.url}/hits/{hit['HITId']}/")
    frame = page.frame_locator("[data-work-frame]")
    expect(frame.get_by_role("button"), "a preview cannot be submitted").to_be_disabled()
    page.get_by_role("button", name="Accept").click()
    frame.get_by_label("Remark").fill("fine")
    frame.get_by_role("button", name="Submit").click()
    page.get_by_role("heading", name="Your work has been submitted").wait_for()
    answer = answer_of(mturk, hit)
    assert "<QuestionIdentifier>remark</QuestionIdentifier><FreeText>fine</FreeText>" in answer
    assert "<QuestionIdentifier>reached</QuestionIdentifier><FreeText>nothing</FreeText>" in answer
    assert complaints(page) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_form_is_filled_in_refused_and_sent(
    page: Any, market: MarketplaceServer, mturk: Any, tmp_path: Path, width: int
) -> None:
    form = question_form(
        selection_question("animal", "cat", "dog", required=True),
        free_text_question("why", '<Constraints><Length minLength="3"/></Constraints>'),
        file_question("photo"),
    )
    hit = offer(mturk, f"A form {width}", form)
    page.set_viewport_size({"width": width, "height": 844})
    log_in(page, market, f"grace-{width}")
    page.goto(f"{market.url}/hits/{hit['HITId']}/")
    page.get_by_role("button", name="Accept").click()
    frame = page.frame_locator("[data-work-frame]")
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"\x89PNG")
    frame.get_by_label("What about why?").fill("x")
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_text("Not sent yet.").wait_for()
    expect(frame.get_by_label("What about why?")).to_have_value("x")
    frame.get_by_label("cat").check()
    frame.get_by_label("What about why?").fill("whiskers")
    frame.get_by_label("What about photo?").set_input_files(str(picture))
    assert Axe().run(page, options=_WCAG).response["violations"] == []
    frame.get_by_role("button", name="Submit").click()
    page.get_by_role("heading", name="Your work has been submitted").wait_for()
    answer = answer_of(mturk, hit)
    assert "<SelectionIdentifier>cat</SelectionIdentifier>" in answer
    assert "UploadedFileKey" in answer
    assert complaints(page) == []
    assert refused(page) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_qualification_is_earned_by_a_test(page: Any, market: MarketplaceServer, mturk: Any, width: int) -> None:
    name = f"Plates {width}"
    test = question_form(selection_question("plate", "12", "8", required=True))
    mturk.create_qualification_type(
        Name=name, Description="d", QualificationTypeStatus="Active", Test=test, TestDurationInSeconds=300
    )
    page.set_viewport_size({"width": width, "height": 844})
    log_in(page, market, f"mary-{width}")
    page.get_by_role("link", name="Qualifications").click()
    assert Axe().run(page, options=_WCAG).response["violations"] == []
    page.locator("article", has_text=name).get_by_role("button", name="Take the test").click()
    page.get_by_label("12").check()
    assert Axe().run(page, options=_WCAG).response["violations"] == []
    page.get_by_role("button", name="Submit the test").click()
    page.locator("article", has_text=name).get_by_text("Asked for", exact=True).wait_for()
    (request,) = [
        one for one in mturk.list_qualification_requests(MaxResults=100)["QualificationRequests"] if one.get("Answer")
    ][-1:]
    mturk.accept_qualification_request(QualificationRequestId=request["QualificationRequestId"], IntegerValue=88)
    page.reload()
    row = page.locator("tr", has_text=name)
    expect(row).to_contain_text("88", use_inner_text=True)
    fits(page, f"marketplace-qualification-{width}")
    assert complaints(page) == []
