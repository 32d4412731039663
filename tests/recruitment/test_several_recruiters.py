"""One study, several recruiters: who may be launched, who is asked, what is kept of where people came from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from analysis.errors import InvalidInput
from analysis.study.link import Link
from humanexp.core.errors import StudyRefused
from humanexp.participation.models import Participant, Session
from humanexp.recruiters.memory import Memory
from humanexp.recruiters.models import Assignment, Campaign, RecruitedPerson
from humanexp.recruiters.registry import registered
from humanexp.recruiters.tickets import Outcome
from humanexp.recruiting.accounts import open_account
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.results.tables import analysis_settings, sessions_of
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db(transaction=True)
PLACES = {"memory": 8, "sona": 4, "link": 4}
QUESTION = "Have you taken part in this study before, also through another site?"


@pytest.fixture
def memory() -> Iterator[Memory]:
    kind = Memory()
    with registered(kind):
        yield kind


@pytest.fixture
def study(transactional_db: None, memory: Memory) -> Study:
    return make_study("several", recruitment={"places": PLACES})


def launched(study: Study, to: str, preset: str = "") -> Campaign:
    code = "THEIRS" if preset == "connect" else ""
    link = Link(preset=preset, alternative="an essay", site_code=code) if preset else None
    reward = 50 if to.startswith("memory") else None
    terms = LaunchTerms(to=to, assignments=4, reward_cents=reward, link=link)
    return publish(study=study, terms=terms)


def comes(campaign: Campaign, person: str = "P1", submission: str = "S1") -> Visitor:
    return Visitor(campaign, worker_id=person, assignment_id=submission)


def test_people_are_launched_through_the_recruiters_of_the_plan_alone(study: Study) -> None:
    for to, preset in (("memory", ""), ("link", "sona"), ("link", "")):
        launched(study, to, preset)
    for to, preset, name in (("link", "connect", "connect"), ("marketplace", "", "marketplace")):
        with pytest.raises(StudyRefused, match=f"none with {name}: name it in recruitment.places"):
            launched(study, to, preset) if to == "link" else publish(
                study=study, terms=LaunchTerms(to=to, assignments=1, reward_cents=50)
            )
    assert study.campaigns.count() == 3


def test_sessions_know_the_kind_of_recruiter_and_never_the_account(study: Study) -> None:
    open_account(kind="memory", code="memory-2", name="Second grant", by=None)
    first, second, site, link = (
        launched(study, "memory"),
        launched(study, "memory-2"),
        launched(study, "link", "sona"),
        launched(study, "link"),
    )
    arrivals = (
        comes(first, "person-one", "S1"),
        comes(second, "person-two", "S2"),
        comes(site, "1234567890123", "S3"),
        comes(link, "", ""),
    )
    for visitor in arrivals:
        assert visitor.open(tookPart=False).status_code == 201
    assert [visitor.session.recruiter for visitor in arrivals] == ["memory", "memory", "sona", "link"]
    table = sessions_of(study)
    assert table is not None and table["recruiter"].tolist() == ["memory", "memory", "sona", "link"]
    told = table.to_csv()
    assert not any(
        secret in told for secret in ("memory-2", "Second grant", "1234567890123", "person-one", "person-two")
    )


def test_the_weights_of_the_analysis_are_those_of_the_planned_places(study: Study) -> None:
    assert analysis_settings(study)["recruiter_weights"] == pytest.approx({"memory": 0.5, "sona": 0.25, "link": 0.25})
    stated = make_study(
        "weighted", recruitment={"places": PLACES}, analysis={"recruiter_weights": dict.fromkeys(PLACES, 1.0)}
    )
    assert analysis_settings(stated)["recruiter_weights"] == pytest.approx(dict.fromkeys(PLACES, 1 / 3))
    assert analysis_settings(make_study("single", recruitment={"places": {"sona": 3}}))["recruiter_weights"] == {}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"recruitment": {"places": {"sona": 0}}}, "recruitment.places"),
        ({"recruitment": {"places": {"sona": 20, "link": 5}}}, "no more together than the 24 sessions"),
        ({"analysis": {"recruiter_weights": {"sona": 1.0}}}, "same recruiters as recruitment.places: which names none"),
        (
            {"recruitment": {"places": {"sona": 2, "link": 2}}, "analysis": {"recruiter_weights": {"sona": 1.0}}},
            "same recruiters as recruitment.places: link, sona",
        ),
        (
            {
                "recruitment": {"places": {"sona": 2}},
                "analysis": {"recruiter_weights": {"sona": 0.0}},
            },
            "recruiter_weights.sona must be a number above 0",
        ),
        (
            {"recruitment": {"places": {"sona": 2, "link": 2}}, "analysis": {"estimand": "answers"}},
            "analysis.estimand must be categories or people",
        ),
    ],
)
def test_what_cannot_be_pooled_is_refused_with_its_place(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        make_study("refused", **settings)


def test_nobody_begins_without_saying_whether_they_took_part_before(study: Study) -> None:
    visitor = comes(launched(study, "link", "sona"))
    page = visitor.get(survey_code="P1")
    assert QUESTION in page.text and page.text.count('name="took-part"') == 2
    reply = visitor.open()
    assert reply.status_code == 422 and "tookPart" in reply.text
    assert not any(model.objects.exists() for model in (Session, Participant, RecruitedPerson, Assignment))
    assert visitor.open(tookPart=False).status_code == 201


def test_who_took_part_through_another_site_is_sent_back_and_nothing_is_stored(study: Study) -> None:
    campaign = launched(study, "link", "sona")
    reply = comes(campaign).open(tookPart=True)
    assert reply.status_code == 409 and "already taken part" in reply.text
    assert reply.json()["way_out"]["outcome"] == Outcome.ALREADY_TOOK_PART
    assert not any(model.objects.exists() for model in (Session, Participant, RecruitedPerson, Assignment))
    assert Campaign.objects.get(pk=campaign.pk).turned_away == {Outcome.ALREADY_TOOK_PART: 1}


def test_who_goes_on_with_a_session_is_not_sent_back(study: Study) -> None:
    visitor = comes(launched(study, "link", "sona"))
    assert visitor.open(tookPart=False).status_code == 201
    secret, before = visitor.secret(), visitor.session
    assert visitor.open(tookPart=True, secret=secret).status_code == 201
    assert visitor.session == before and Session.objects.count() == 1


def test_a_browser_that_began_it_through_another_site_is_marked_in_the_tables(study: Study) -> None:
    campaign = launched(study, "link", "sona")
    assert comes(campaign, "1", "S1").open(tookPart=False, seenBefore=True).status_code == 201
    assert comes(campaign, "2", "S2").open(tookPart=False).status_code == 201
    table = sessions_of(study)
    assert table is not None and table["seen_before"].tolist() == [True, False]


def test_the_note_in_the_browser_is_one_for_all_recruiters_of_the_family_and_names_nothing(study: Study) -> None:
    pages = [comes(launched(study, to, preset)).get() for to, preset in (("link", "sona"), ("link", ""))]
    notes = [page.text.split('"note": "')[1].split('"')[0] for page in pages]
    assert notes[0] == notes[1] and notes[0].startswith("humanexp.begun.N-") and study.slug not in notes[0]


def test_with_one_recruiter_nobody_is_asked(transactional_db: None) -> None:
    campaign = launched(make_study(), "link", "sona")
    visitor = comes(campaign)
    page = visitor.get(survey_code="P1")
    assert QUESTION not in page.text and '"note": ""' in page.text
    assert visitor.open().status_code == 201


def test_an_id_takes_part_once_over_all_accounts_of_its_kind(study: Study) -> None:
    open_account(kind="memory", code="memory-2", name="Second grant", by=None)
    first, second = launched(study, "memory"), launched(study, "memory-2")
    assert comes(first, "P1", "S1").open(tookPart=False).status_code == 201
    Session.objects.update(is_verified=True)
    again = comes(second, "P1", "S2").open(tookPart=False)
    assert again.status_code == 409 and "already taken part" in again.text
    assert comes(second, "P2", "S3").open(tookPart=False).status_code == 201
    assert Participant.objects.count() == Session.objects.count() == 2
