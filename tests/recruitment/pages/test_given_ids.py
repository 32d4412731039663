"""The id by which a link named somebody: shown to those who may see single submissions, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Role, Study
from tests.recruitment.studies import Visitor

GIVEN = "5f3c2a9d8e7b6c5d4e3f2a1b"


@pytest.fixture
def link(study: Study) -> Campaign:
    return publish(study=study, terms=LaunchTerms(to="link", assignments=4))


def code_of(visitor: Visitor) -> str:
    assert visitor.open().status_code == 201
    return str(visitor.answer_all()["completion_code"])


def pages_of(visitor: Visitor, code: str, client: Client) -> list[str]:
    """The page of the assignment, and that on which the code is looked up."""
    study = visitor.campaign.study
    row = Assignment.objects.get(session=visitor.session)
    replies = (
        client.get(f"/studies/{study.slug}/assignments/{row.pk}/"),
        client.post(f"/studies/{study.slug}/monitor/codes/", {"codes": code}),
    )
    assert [reply.status_code for reply in replies] == [200, 200]
    return [reply.content.decode() for reply in replies]


def test_who_may_see_single_submissions_reads_the_id_beside_the_code(
    link: Campaign, member: Callable[[str], Client]
) -> None:
    visitor = Visitor(link, worker_id=GIVEN)
    code = code_of(visitor)
    for page in pages_of(visitor, code, member(Role.PAYER)):
        assert GIVEN in page and "Id in the link" in page
    viewer = member(Role.VIEWER)
    for path in ("", "monitor/", "recruit/", "sessions/", "review/"):
        assert GIVEN not in viewer.get(f"/studies/{link.study.slug}/{path}").content.decode(), path


def test_of_somebody_without_one_no_made_up_id_is_shown(link: Campaign, console: Client) -> None:
    visitor = Visitor(link)
    code = code_of(visitor)
    made_up = Assignment.objects.get(session=visitor.session).person.worker_id  # type: ignore[union-attr]
    for page in pages_of(visitor, code, console):
        assert made_up not in page and "none was given" in page


def test_the_launch_says_what_an_id_in_the_link_does(link: Campaign, console: Client) -> None:
    page = console.get(f"/studies/{link.study.slug}/monitor/").content.decode()
    page += console.get(f"/studies/{link.study.slug}/recruit/").content.decode()
    assert "no one can take part twice, and the id appears next to the completion code" in page
    assert "A panel's own id" not in page
