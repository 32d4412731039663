"""A person takes part, from the list of work to the submitted form, and everything that reaches the browser is read.

Until the answer to a trial is stored, nothing may tell what its picture shows, what was done to it, or what it is for.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from analysis.corruptions import CORRUPTIONS
from analysis.labels.files import default_labels
from tests.journeys.browser import Browser, Reply
from tests.journeys.site import Site
from tests.journeys.worker_ids import the_worker_id_stands_in_one_table_until_the_person_is_deleted

LEASE = {"X-Lease": "a-tab-of-its-own"}
ROLES = ("gold", "sentinel", "negative", "consistency", "clean", "qualification", "role", "original", "stimuli")
PLATFORM_PATHS = re.compile(
    r"/take/[\w-]+/(open/|run/)?|/static/.+|/api/v1/run/(handoff|lease|session|status|responses|complete)/"
    r"|/api/v1/run/trials/\d+-\d+/pictures/"
)
#: Of each reply its own, and random or the clock's; lengths are looked at by themselves.
_LENGTHS_AND_DATE = ("Content-Length", "Picture-Lengths", "Date", "X-Request-ID")
_TRIALS = """
    SELECT t.position, t.role, t.correct_response, t.mask_seed, i.category, i.key AS original, i.file AS original_file,
           i.sha256 AS original_sha256, s.key AS stimulus, s.file, s.sha256, s.corruption, s.parameter, s.visual_change,
           s.seed
    FROM experiments_trial t
    JOIN stimuli_stimulus s ON s.id = t.stimulus_id
    JOIN stimuli_sourceimage i ON i.id = s.source_image_id
    ORDER BY t.position
"""


@dataclass(frozen=True)
class Visit:
    """What was sent to one person, and the truth that was kept back."""

    browser: Browser
    trials: dict[int, Any]
    session: dict[str, Any]
    token: str
    platform: str

    @property
    def replies(self) -> list[Reply]:
        return self.browser.received

    @property
    def ours(self) -> list[Reply]:
        return [reply for reply in self.replies if reply.url.startswith(self.platform)]

    @property
    def calls(self) -> list[Reply]:
        return [reply for reply in self.ours if reply.kind.endswith("json")]

    @property
    def pictures(self) -> list[Reply]:
        return [reply for reply in self.ours if reply.is_picture]


@pytest.fixture
def loud(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that the processes can log."""
    monkeypatch.setenv("ACCESS_LOG_LEVEL", "INFO")
    monkeypatch.setenv("LOG_LEVEL", "INFO")


@pytest.fixture
def visit(loud: None, site: Site) -> Visit:
    site.must("publish", "glance", "--to", "marketplace", "--assignments", "2", "--skip-preflight")
    platform, marketplace, browser = site.addresses.web, site.addresses.marketplace, Browser()

    # On the marketplace: look around, sign up, preview, accept.
    browser.page(f"{marketplace}/signup/")
    browser.post(f"{marketplace}/signup/", data={**_form(browser), "username": "ada", "password": "a long pass phrase"})
    listing = browser.page(f"{marketplace}/")
    group = re.findall(r'href="(/groups/\w+/)"', listing.body.decode())[0]
    preview = browser.page(f"{marketplace}{group}")
    browser.page(_frame(preview))
    work = browser.post(f"{marketplace}{group}accept/", data=_form(browser))
    entry_url = _frame(work)

    # The frame: consent, open; then the study's window.
    entry = browser.page(entry_url)
    page = json.loads(re.findall(r'<script id="take-page"[^>]*>(.*?)</script>', entry.body.decode(), re.S)[0])
    person = {name: page[name] for name in ("assignmentId", "hitId", "workerId", "turkSubmitTo")}
    opened = json.loads(browser.post(f"{platform}{page['openUrl']}", json={**person, "consent": True}).body)
    browser.page(f"{platform}{opened['run_url']}")
    api = f"{platform}/api/v1/run/"
    token = json.loads(browser.post(f"{api}handoff/", json={"code": opened["handoff"]}).body)["token"]
    headers = {"Authorization": f"Bearer {token}", **LEASE}
    browser.post(f"{api}lease/", json={"lease": LEASE["X-Lease"]}, headers=headers)
    session = json.loads(browser.get(f"{api}session/", headers=headers).body)
    for choice in session["choices"]["categorisation"]:
        browser.get(f"{platform}{choice['icon']}")

    # Every round: all its pictures first, then answers; the frame asks how far it is.
    for block in session["blocks"]:
        positions = range(block["first"], block["last"] + 1)
        for first in range(positions.start, positions.stop, 4):
            last = min(first + 4, positions.stop) - 1
            browser.get(f"{api}trials/{first}-{last}/pictures/", headers=headers)
        for position in positions:
            time.sleep(0.06)  # as long as its pictures are shown
            answer = {"position": position, "response": "dog", "rt_ms": 640.0, "clicks": [], "timing": {}}
            stored = browser.post(f"{api}responses/", json={**answer, "simulated": False}, headers=headers)
            assert stored.status == 201, stored.text
            browser.answered.add(position)
        browser.get(f"{platform}{opened['status_url']}", headers={"Authorization": headers["Authorization"]})
    done = json.loads(browser.post(f"{api}complete/", json={"environment": {}}, headers=headers).body)
    form = {"assignmentId": page["assignmentId"], "receipt": done["receipt"]}
    assert browser.post(page["submitAddress"], data=form).status == 200

    trials = {row["position"]: row for row in site.platform(_TRIALS)}
    return Visit(browser=browser, trials=trials, session=session, token=token, platform=platform)


def test_nothing_that_reaches_a_participant_tells_before_the_answer_is_stored(
    visit: Visit, site: Site, tmp_path: Path
) -> None:
    for check in (
        names_of_pictures_reach_nobody,
        categories_are_told_as_choices_and_as_feedback_alone,
        corruption_and_strength_are_told_nowhere,
        no_reply_tells_a_role,
        addresses_and_headers_tell_nothing,
        pictures_are_nothing_but_pixels,
    ):
        check(visit)
    the_recruiter_learns_the_entry_and_the_receipt_alone(visit, site)
    what_is_not_due_is_not_given(visit, site)
    the_worker_id_stands_in_one_table_until_the_person_is_deleted(site, "glance", tmp_path / "exported")


def names_of_pictures_reach_nobody(visit: Visit) -> None:
    """Of no trial, answered or not."""
    for reply in visit.replies:
        text = reply.text
        for trial in visit.trials.values():
            assert not [name for name in _names(trial) if name in text], reply.url


def categories_are_told_as_choices_and_as_feedback_alone(visit: Visit) -> None:
    assert {block["kind"] for block in visit.session["blocks"] if block["feedback"]} == {"practice"}
    told = 0
    for reply in visit.calls:
        said = json.loads(reply.body)
        if reply.path.endswith("/session/"):
            listed = [choice["name"] for choice in said.pop("choices")["categorisation"]]
            assert sorted(listed) == sorted(default_labels().ids)
        feedback = said.pop("feedback", None)
        assert not _words(json.dumps(said) + str(reply.headers)) & set(default_labels().ids), reply.url
        if feedback is not None:
            told += 1
            trial = visit.trials[reply.asked["position"]]
            assert trial["role"] == "practice"
            assert feedback == {"correct": trial["correct_response"] == "dog", "category": trial["correct_response"]}
    practised = {trial["original"] for trial in visit.trials.values() if trial["role"] == "practice"}
    assert told == len(practised) > 0
    assert not practised & {trial["original"] for trial in visit.trials.values() if trial["role"] != "practice"}

    # Pages that were sent before the session existed cannot tell of it. The study's page comes later, and is the same
    # for everybody: a second browser, with no session, gets it letter by letter.
    opened = next(number for number, reply in enumerate(visit.replies) if reply.path.endswith("/open/"))
    pages = [reply for reply in visit.replies[opened:] if reply.kind == "text/html"]
    study_pages = [page for page in pages if page.path.endswith("/run/")]
    assert {page.body for page in study_pages} == {Browser().get(study_pages[0].url).body}
    for page in pages:
        assert page in study_pages or not _words(page.body.decode()) & set(default_labels().ids), page.url


def corruption_and_strength_are_told_nowhere(visit: Visit) -> None:
    names = {spelling for name in CORRUPTIONS for spelling in (name, name.replace("_", " "), name.replace("_", "-"))}
    names |= {"visual_change", "visualchange", "delta_v", "corruption_version"}
    numbers = set()
    for trial in visit.trials.values():
        numbers |= {f"{trial[name]:.6f}"[:-1] for name in ("visual_change", "parameter") if 0 < trial[name] < 1}
        numbers |= {str(trial["seed"]), str(trial["mask_seed"])} if trial["seed"] > 10**6 else {str(trial["mask_seed"])}
    assert len(numbers) > len(visit.trials)
    for reply in visit.replies:
        text = _said(reply.text).lower()
        assert not [name for name in names if name in text], reply.url
        assert not [number for number in numbers if number in text], reply.url


def no_reply_tells_a_role(visit: Visit) -> None:
    assert len({trial["role"] for trial in visit.trials.values()}) >= 6, "the session holds roles to be told"
    for reply in [*visit.calls, *visit.pictures]:
        words = _words(reply.text)
        assert not words & set(ROLES), reply.url
    for block in visit.session["blocks"]:
        assert set(block) == {"index", "kind", "task", "first", "last", "feedback"}
        roles = {visit.trials[position]["role"] for position in range(block["first"], block["last"] + 1)}
        assert ("practice" in roles) == (block["kind"] == "practice")
    # Replies to answers differ in position, cursor and (in practice) feedback; nothing else.
    stored = [reply for reply in visit.calls if reply.path.endswith("/responses/")]
    for reply in stored:
        assert set(json.loads(reply.body)) - {"feedback"} == {"position", "cursor"}


def addresses_and_headers_tell_nothing(visit: Visit) -> None:
    for reply in visit.ours:
        assert PLATFORM_PATHS.fullmatch(reply.path), reply.path
        assert not urlsplit(reply.url).query or reply.path.startswith("/take/")
        if reply.is_static:
            continue
        names = {name.lower() for name in reply.headers}
        assert not names & {"etag", "last-modified", "content-disposition", "set-cookie", "server-timing", "link"}
        if not reply.path.startswith(("/take/", "/run/")) or reply.kind.endswith("json"):
            assert reply.headers["Cache-Control"] == "no-store"
    steady = {
        json.dumps({name: value for name, value in reply.headers.items() if name not in _LENGTHS_AND_DATE})
        for reply in visit.pictures
    }
    assert len(steady) == 1, "a header differs from picture to picture"


def pictures_are_nothing_but_pixels(visit: Visit) -> None:
    pictures = [picture for reply in visit.pictures for picture in reply.pictures]
    stimuli, masks = pictures[0::2], pictures[1::2]
    assert len(stimuli) == len(masks) == len(visit.trials)
    for kind in (stimuli, masks):
        headers = set()
        for picture in kind:
            chunks = list(_chunks(picture))
            names = [name for name, _content in chunks]
            assert names[0] == b"IHDR"
            assert set(names[1:-1]) == {b"IDAT"}
            assert names[-1] == b"IEND"
            headers.add(chunks[0][1])
        assert len(headers) == 1, "size, depth or colour type tells pictures apart"
    assert len(set(masks)) == len(masks), "a mask that comes back tells of a repetition"


def the_recruiter_learns_the_entry_and_the_receipt_alone(visit: Visit, site: Site) -> None:
    hit = site.marketplace("SELECT question, annotation, external_url FROM marketplace_hit")[0]
    assert re.fullmatch(rf"{visit.platform}/take/[\w-]+/", hit["external_url"])
    assert not _words(" ".join(hit)) & {*default_labels().ids, *ROLES, *CORRUPTIONS, "glance"}
    answer = site.marketplace("SELECT answer FROM marketplace_assignment")[0]["answer"]
    assert re.findall(r"<QuestionIdentifier>(.*?)</QuestionIdentifier>", answer) == ["receipt"]


def what_is_not_due_is_not_given(visit: Visit, site: Site) -> None:
    """Another person's session: pictures of a later round, of an answered trial, files by their names."""
    stranger = Browser()
    api, headers = f"{visit.platform}/api/v1/run/", {"Authorization": f"Bearer {visit.token}", **LEASE}
    for path in (f"{api}trials/0/stimulus/0/", f"{api}trials/0/mask/", f"{api}trials/0-1/pictures/"):
        assert stranger.get(path, headers=headers).status in (404, 409), "answered"
        assert stranger.get(path).status == 401
    trial = next(iter(visit.trials.values()))
    for place in ("", "/media", "/static", "/static/..%2fmedia", "/api/v1"):
        for file in (trial["file"], trial["original_file"]):
            assert stranger.get(f"{visit.platform}{place}/{file}").status in (400, 404)
    for page in ("", "design", "recruit", "monitor", "review", "results"):
        reply = stranger.get(f"{visit.platform}/studies/glance/{page}".rstrip("/") + "/", allow_redirects=False)
        assert reply.status in (302, 404)
        assert reply.status == 404 or "/login/" in reply.headers["Location"]
    for reply in stranger.received:
        assert not [name for name in _names(trial) if name in reply.body.decode()], reply.url


def _names(trial: Any) -> set[str]:
    """Everything that is a stable name of a picture."""
    digests = {trial["sha256"], trial["original_sha256"]}
    encoded = {base64.b64encode(bytes.fromhex(digest)).decode()[:30] for digest in digests}
    files = {part for file in (trial["file"], trial["original_file"]) for part in (file, file.rpartition("/")[2])}
    return {trial["stimulus"], trial["original"], *files, *digests, *(digest[:16] for digest in digests), *encoded}


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+(?:_[a-z]+)*", _said(text).lower()))


def _said(text: str) -> str:
    """Without tokens and codes: among so many random letters there is a cat now and then."""
    return re.sub(r"(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{12,}", " ", text)


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    place = 8
    while place < len(png):
        length = int.from_bytes(png[place : place + 4], "big")
        yield png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        place += 12 + length
    assert place == len(png), "bytes after the end"


def _form(browser: Browser) -> dict[str, str]:
    return {"csrfmiddlewaretoken": browser.http.cookies["marketplace_csrftoken"]}


def _frame(page: Reply) -> str:
    found = re.findall(r'<iframe[^>]*\ssrc="([^"]+)"', page.body.decode(), re.S)
    return str(found[0]).replace("&amp;", "&")
