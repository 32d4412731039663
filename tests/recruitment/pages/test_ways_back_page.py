"""A researcher finds somebody who cannot get back in, and lets them in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from analysis.study.link import Link
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.models import WayBack
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor

pytestmark = pytest.mark.django_db


@pytest.fixture
def lost(study: Study) -> Visitor:
    """Somebody in the middle of a session, with a panel's id."""
    someone = Visitor(publish(study=study, terms=LaunchTerms(to="link", assignments=3)), worker_id="panel-7")
    assert someone.open().status_code == 201
    return someone


def test_a_person_is_found_by_id_or_code_without_the_id_in_an_address(
    lost: Visitor, console: Client, study: Study
) -> None:
    session = lost.session
    page = f"/studies/{study.slug}/let-in/"
    assert f'href="{page}"' in console.get(f"/studies/{study.slug}/recruit/").content.decode()
    for said in ("panel-7", session.participant.code, session.code.lower(), f" {session.code} "):
        reply = console.post(page, {"who": said})
        assert reply.status_code == 302
        assert reply.url == f"/studies/{study.slug}/assignments/{session.assignment.pk}/"
    missing = console.post(page, {"who": "panel-9"})
    assert missing.status_code == 422 and b"No one in this study" in missing.content
    assert console.post(page, {"who": ""}).status_code == 422


@pytest.mark.parametrize("preset", ["prolific", "plain"])
def test_what_a_page_lets_people_quote_finds_them(study: Study, console: Client, preset: str) -> None:
    """The id of the submission where a site gives one, and else the id at the end of the link."""
    terms = LaunchTerms(to="link", assignments=3, link=Link(preset=preset))
    person, submission = "5f00000000000000000000aa", "66aa00bb11cc22dd33ee44ff"
    visitor = Visitor(publish(study=study, terms=terms), worker_id=person, assignment_id=submission)
    assert visitor.open().status_code == 201
    for said in (person, submission) if preset == "prolific" else (person,):
        assert console.post(f"/studies/{study.slug}/let-in/", {"who": said}).status_code == 302, said


def test_release_link_and_taking_back(lost: Visitor, console: Client, study: Study) -> None:
    row = lost.session.assignment
    page = f"/studies/{study.slug}/assignments/{row.pk}/"
    assert "Let this person back in" in console.get(page).content.decode()
    for act, shown in (("release", "Released until"), ("link", "Personal link, good until")):
        assert console.post(f"{page}let-in/", {"act": act}).status_code == 302
        assert shown in console.get(page).content.decode()
    assert f"/take/{row.campaign.entry}/personal/#" in console.get(page).content.decode()
    for way in WayBack.objects.all():
        console.post(f"{page}let-in/", {"act": "revoke", "way": way.pk})
    text = console.get(page).content.decode()
    assert "Released until" not in text and "/personal/#" not in text
    assert console.post(f"{page}let-in/", {"act": "revoke", "way": "9" * 30}).status_code == 404


def test_a_second_link_replaces_the_first(lost: Visitor, console: Client, study: Study) -> None:
    page = f"/studies/{study.slug}/assignments/{lost.session.assignment.pk}/let-in/"
    for _ in range(2):
        console.post(page, {"act": "link"})
    first, second = WayBack.objects.order_by("pk")
    assert first.revoked_at is not None and second.revoked_at is None


def test_a_finished_session_is_not_offered_one(lost: Visitor, console: Client, study: Study) -> None:
    lost.answer_all()
    row = lost.session.assignment
    page = f"/studies/{study.slug}/assignments/{row.pk}/"
    assert "Let this person back in" not in console.get(page).content.decode()
    console.post(f"{page}let-in/", {"act": "release"})
    assert not WayBack.objects.exists()


def test_a_class_on_shared_computers_is_launched_so(study: Study) -> None:
    for shared in (False, True):
        campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=3, shared_computers=shared))
        page = Visitor(campaign).get().content.decode()
        assert ('name="shared" data-shared checked' in page) == shared


def test_who_may_not_decide_about_sessions_may_not_let_anybody_in(
    lost: Visitor, member: Callable[[str], Client], study: Study
) -> None:
    page = f"/studies/{study.slug}/assignments/{lost.session.assignment.pk}/"
    payer = member("payer")
    assert "Let this person back in" not in payer.get(page).content.decode()
    assert payer.post(f"{page}let-in/", {"act": "release"}).status_code == 403
    assert payer.get(f"/studies/{study.slug}/let-in/").status_code == 403
    reviewer = member("reviewer")
    assert "Let this person back in" in reviewer.get(page).content.decode()
