"""A worker's way through the marketplace in a real browser: the frame's page lies on another site, as in production."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.looks import fits, refused
from tests.marketplace.server import MarketplaceServer, external_question, running

pytestmark = pytest.mark.browser

_PAGE = """<!doctype html><meta charset="utf-8"><title>task</title>
<style>body{{font:1rem/1.5 system-ui,sans-serif;padding:1rem;max-width:40rem;margin:auto}}</style>
<h1>{heading}</h1><p>Sixteen kinds of things appear for a moment. Say what you saw.</p>
<p data-fullscreen></p><p><button type="button" data-popup>Open a window</button></p>
<form method="post" action="{action}"><input type="hidden" name="assignmentId" value="{assignment}">
<label>Receipt <input name="receipt" value="signed"></label> <button>Submit</button></form>
<script>
document.querySelector("[data-fullscreen]").textContent = "full screen: " + document.fullscreenEnabled;
document.querySelector("[data-popup]").onclick = () => window.open("/window", "run", "width=400,height=300");
</script>"""


class _RequestersSite(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        assignment = query.get("assignmentId", "")
        heading = "Preview" if assignment == "ASSIGNMENT_ID_NOT_AVAILABLE" else f"Hello {query.get('workerId')}"
        action = f"{query.get('turkSubmitTo', '').rstrip('/')}/mturk/externalSubmit"
        body = _PAGE.format(heading=heading, action=html.escape(action), assignment=html.escape(assignment)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def requesters_site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _RequestersSite)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture(scope="module")
def marketplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MarketplaceServer]:
    with running(tmp_path_factory.mktemp("marketplace"), test_controls=False) as server:
        yield server


@pytest.fixture(scope="module")
def mturk(marketplace: MarketplaceServer) -> Any:
    return marketplace.client(marketplace.create_requester("Vision Lab, University of Somewhere", "100.00"))


@pytest.fixture(scope="module")
def hit(mturk: Any, requesters_site: str) -> dict[str, Any]:
    values = {
        "Title": "Name what you see: 16 kinds of pictures, shown for a moment",
        "Description": "You look at short flashes of pictures and say which of sixteen things was there. A keyboard "
        "or a mouse, a quiet place, about 12 minutes. You can stop at any time.",
        "Keywords": "pictures, vision, short",
        "Reward": "1.20",
        "AssignmentDurationInSeconds": 2700,
        "AutoApprovalDelayInSeconds": 259_200,
        "LifetimeInSeconds": 86_400 * 7,
        "MaxAssignments": 9,
        "Question": external_question(f"{requesters_site}/take/noise/?list=a", 0),
    }
    asked = [{"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThan", "IntegerValues": [100]}]
    mturk.create_hit(
        **values
        | {
            "Title": "Is this really a chair?",
            "Description": "Two questions about each of 40 pictures.",
            "Reward": "0.45",
            "QualificationRequirements": asked,
        }
    )
    made: dict[str, Any] = mturk.create_hit(**values)["HIT"]
    return made


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.gate), 390])
def test_sign_up_accept_work_submit(
    page: Any, marketplace: MarketplaceServer, mturk: Any, hit: dict[str, Any], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(marketplace.url)
    fits(page, f"marketplace-visitor-{width}")
    page.locator("main").get_by_role("link", name="Sign up").click()
    page.get_by_label("User name").fill(f"ada-{width}")
    page.get_by_label("Password").fill("short")
    page.get_by_role("button", name="Sign up").click()
    page.get_by_text("This password is too short").wait_for()
    page.get_by_label("Password").fill("a long pass phrase")
    fits(page, f"marketplace-signup-{width}")
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("heading", name="Work", exact=True).wait_for()
    fits(page, f"marketplace-list-{width}")

    page.get_by_role("link", name=hit["Title"]).click()
    page.frame_locator("[data-work-frame]").get_by_role("heading", name="Preview").wait_for()
    fits(page, f"marketplace-preview-{width}")
    page.get_by_role("button", name="Accept").click()
    frame = page.frame_locator("[data-work-frame]")
    worker_id = page.locator("meta[name=marketplace-worker-id]").get_attribute("content")
    frame.get_by_role("heading", name=f"Hello {worker_id}").wait_for()
    expect(frame.locator("[data-fullscreen]")).to_have_text("full screen: true", use_inner_text=True)
    with page.expect_popup() as popup:
        frame.get_by_role("button", name="Open a window").click()
    expect(popup.value).to_have_url(re.compile("/window$"))
    popup.value.close()
    fits(page, f"marketplace-work-{width}")
    assignment_id = page.locator("meta[name=marketplace-assignment-id]").get_attribute("content")

    frame.get_by_role("button", name="Submit").click()
    page.get_by_role("heading", name="Your work has been submitted").wait_for()
    state = page.locator("meta[name=marketplace-assignment-state]")
    expect(state).to_have_attribute("content", "Submitted")
    expect(page.locator("iframe"), "the page around the frame has moved on by itself").to_have_count(0)
    fits(page, f"marketplace-submitted-{width}")
    assignment = mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert "<QuestionIdentifier>receipt</QuestionIdentifier><FreeText>signed</FreeText>" in assignment["Answer"]

    mturk.approve_assignment(AssignmentId=assignment_id, RequesterFeedback="Thank you.")
    mturk.send_bonus(
        WorkerId=worker_id, AssignmentId=assignment_id, BonusAmount="0.30", Reason="Clean answers throughout."
    )
    mturk.notify_workers(Subject="A second part", MessageText="It opens tomorrow at 9:00.", WorkerIds=[worker_id])
    page.get_by_role("link", name="Earnings").first.click()
    page.get_by_role("heading", name="You have earned $1.50").wait_for()
    fits(page, f"marketplace-earnings-{width}")
    page.get_by_role("link", name="Messages").click()
    page.get_by_text("It opens tomorrow at 9:00.").wait_for()
    fits(page, f"marketplace-messages-{width}")
    # The status of the short password is no complaint of ours.
    assert [complaint for complaint in page.complaints if "422" not in complaint] == refused(page) == []


def test_return_and_forms_work_with_real_origins(
    page: Any, marketplace: MarketplaceServer, hit: dict[str, Any]
) -> None:
    """Browsers send Origin with a form; a referrer policy that turns it into null would lock everybody out."""
    page.goto(f"{marketplace.url}/signup/")
    page.get_by_label("User name").fill("grace")
    page.get_by_label("Password").fill("a long pass phrase")
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("button", name="Accept").first.click()
    page.get_by_role("button", name="Return").click()
    page.get_by_role("heading", name="You have returned this task").wait_for()
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("link", name="Log in").first.wait_for()


def test_every_control_is_reached_by_keyboard_and_named(
    page: Any, marketplace: MarketplaceServer, hit: dict[str, Any]
) -> None:
    page.goto(f"{marketplace.url}/signup/")
    names = []
    for _ in range(12):
        page.keyboard.press("Tab")
        names.append(page.evaluate("(document.activeElement.labels?.[0] ?? document.activeElement).innerText.trim()"))
    assert names[0] == "Skip to the content"
    start = names.index("User name")
    assert names[start : start + 5] == ["User name", "Password", "Country code", "I am 18 or older", "Sign up"]


#: WCAG 2.1: relative luminance of the text against the nearest painted ground.
_CONTRASTS = """() => {
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const linear = (v) => v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => [r, g, b].map(linear)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if ((c[3] ?? 1) > 0) return c; } return [255, 255, 255]; };
  return [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() &&
      [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())).map((e) => {
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    return [(a + .05) / (b + .05), e.tagName + "." + e.className + ": " + e.innerText.slice(0, 40)];
  }).filter(([ratio]) => ratio < 4.5);
}"""


@pytest.mark.parametrize("path", ["/", "/signup/", "/login/", "/nowhere/"])
def test_text_has_enough_contrast(page: Any, marketplace: MarketplaceServer, hit: dict[str, Any], path: str) -> None:
    page.goto(f"{marketplace.url}{path}")
    assert page.evaluate(_CONTRASTS) == []
