"""Volunteers: a public page, no id, a mark in the browser, and what they are promised."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from analysis.study.ethics import Ethics
from humanexp.console.preflight.check import Launch
from humanexp.console.preflight.terms import own_result
from humanexp.core.errors import InvalidRequest, StudyRefused
from humanexp.core.problems import Severity
from humanexp.entry import identity
from humanexp.entry.identity import name_of
from humanexp.entry.pages import open_campaigns
from humanexp.participation.models import EarlierCurves, OwnCurve, Session
from humanexp.recruiters.models import Assignment, Campaign, RecruitedPerson
from humanexp.recruiters.registry import capabilities_of, recruiter_for
from humanexp.recruiting.approvals import withdraw_approval
from humanexp.recruiting.extension import stop
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study, StudyState
from tests.recruitment.studies import Visitor, make_study
from tests.recruitment.test_deletion_codes import code_of, deletes, finished

pytestmark = pytest.mark.django_db


def campaign_of(study: Study | None = None, **terms: Any) -> Campaign:
    made = study or make_study("volunteered")
    return publish(study=made, terms=LaunchTerms(to="volunteer", **{"assignments": 4, **terms}))


def sibling_of(study: Study) -> Study:
    """A second study of the same family."""
    other = make_study("volunteered-too")
    Study.objects.filter(pk=other.pk).update(family=study.family, version=2)
    return Study.objects.get(pk=other.pk)


def test_the_page_lists_what_is_open_and_nothing_else(client: Client) -> None:
    empty = client.get("/volunteer/")
    assert empty.status_code == 200 and "No study is open at the moment" in empty.text
    link = publish(study=make_study("linked"), terms=LaunchTerms(to="link", assignments=1))
    study = make_study("volunteered", max_sessions_per_worker=14)
    campaign = campaign_of(study, title="Look & say <b>", description="Look at pictures.")
    page = client.get("/volunteer/")
    assert "Look &amp; say &lt;b&gt;" in page.text and "<b>" not in page.text
    assert campaign.entry in page.text and link.entry not in page.text
    assert "only on a desktop or laptop computer" in page.text and "aged 18 or older" in page.text
    assert "how often you were right" in page.text
    assert "no-store" in page["Cache-Control"] and not page.cookies and "noindex" not in page.text
    assert "Zurzeit ist keine Studie offen" not in client.get("/volunteer/?language=de").text
    stop(study=campaign.study)
    assert campaign.entry not in client.get("/volunteer/").text
    assert "Zurzeit ist keine Studie offen" in client.get("/volunteer/?language=de").text


@pytest.mark.parametrize(("sessions", "is_promised"), [(13, False), (14, True)])
def test_a_curve_is_promised_where_its_pictures_are_asked_for(client: Client, sessions: int, is_promised: bool) -> None:
    """A session has three pictures."""
    campaign = campaign_of(make_study("volunteered", max_sessions_per_worker=sessions))
    assert ("how often you were right" in client.get("/volunteer/").text) == is_promised
    for address in (f"/volunteer/{campaign.entry}/", f"/take/{campaign.entry}/consent/"):
        reply = client.get(address)
        assert reply.status_code == 200 and ("no eye test" in reply.text.replace("not an", "no")) == is_promised
    line = own_result(Launch(study=campaign.study, to="volunteer"))
    assert line.severity == (Severity.GOOD if is_promised else Severity.WARN)


def test_a_study_without_places_or_approval_is_not_listed(client: Client) -> None:
    campaign = campaign_of(assignments=1)
    assert open_campaigns() == [campaign]
    visitor = Visitor(campaign)
    assert visitor.open().status_code == 201
    assert open_campaigns() == []
    other = campaign_of(make_study("approved"))
    assert open_campaigns() == [other]
    withdraw_approval(study=other.study, by=None)
    assert open_campaigns() == []
    page = client.get(f"/volunteer/{other.entry}/")
    assert page.status_code == 200 and "takes no new participants" in page.text
    assert f"/take/{other.entry}/?language" not in page.text, "no start"


def test_the_page_of_a_study_says_what_others_need_before_they_decide(client: Client) -> None:
    study = make_study("volunteered", max_sessions_per_worker=14)
    campaign = campaign_of(study, title="Look & say", contact="lab@example.org")
    page = client.get(f"/volunteer/{campaign.entry}/", {"language": "en", "x": '"><script>'})
    assert f"/take/{campaign.entry}/?language=en" in page.text and "lab@example.org" in page.text
    assert (
        "Open this page on" in page.text
        and "not an eye test" in page.text
        and "Please take part only once" in page.text
    )
    tags = dict(re.findall(r'<meta property="(og:\w+)" content="([^"]*)">', page.text))
    assert tags["og:title"] == "Look &amp; say" and tags["og:url"].endswith(f"/volunteer/{campaign.entry}/")
    assert "<script>" not in page.text
    for entry in ("nobody", publish(study=make_study("hidden"), terms=LaunchTerms(to="link")).entry):
        assert client.get(f"/volunteer/{entry}/").status_code == 404
    assert client.post("/volunteer/").status_code == 405


def test_an_id_in_the_address_names_nobody(client: Client) -> None:
    campaign = campaign_of()
    page = client.get(f"/take/{campaign.entry}/", {"p": "W1"})
    assert '"workerId": ""' in page.text
    visitor = Visitor(campaign, worker_id="W1", assignment_id="A1")
    assert visitor.open().status_code == 201
    assert RecruitedPerson.objects.get().given_id == "" and Assignment.objects.get().assignment_id != "A1"
    assert RecruitedPerson.objects.get().environment == "volunteer"


def test_the_mark_of_a_browser_keeps_it_from_taking_part_twice_in_a_family() -> None:
    campaign = campaign_of()
    first = Visitor(campaign)
    first.open()
    secret = first.secret()
    first.answer_all()
    again = Visitor(campaign)
    assert again.open(secret=secret).status_code == 201
    assert again.session == first.session, "the same browser gets back to what it did"
    other = campaign_of(sibling_of(campaign.study))
    assert name_of(other, "") == name_of(campaign, "") != campaign.entry
    refused = Visitor(other).open(secret=secret)
    assert refused.status_code == 409 and "already taken part" in refused.json()["detail"]
    assert Session.objects.count() == 1
    assert Visitor(other).open().status_code == 201, "without the mark nobody can tell"


def test_the_next_session_begins_on_the_same_page() -> None:
    campaign = campaign_of(make_study("twice", max_sessions_per_worker=2))
    first = Visitor(campaign)
    first.open()
    first.answer_all()
    second = Visitor(campaign)
    assert second.open(secret=first.secret()).status_code == 201
    assert second.open(secret=first.secret()).status_code == 201, "a repeated call begins nothing more"
    assert second.session != first.session and second.session.participant == first.session.participant
    second.answer_all()
    third = Visitor(campaign)
    third.open(secret=second.secret())
    assert third.session == second.session and Session.objects.count() == 2


def test_a_shared_computer_keeps_no_mark() -> None:
    campaign = campaign_of()
    visitor = Visitor(campaign)
    visitor.open(sharedComputer=True)
    assert Assignment.objects.get().resume_name == ""


def test_marks_of_other_families_tell_nothing() -> None:
    campaign, other = campaign_of(), campaign_of(make_study("another"))
    assert name_of(other, "") != name_of(campaign, "")
    visitor = Visitor(campaign)
    visitor.open()
    assert Visitor(other).open(secret=visitor.secret()).status_code == 201
    assert RecruitedPerson.objects.count() == 2


@pytest.mark.parametrize(("language", "words"), [("en", "A mark in your browser"), ("de", "Eine Markierung in Ihrem")])
@pytest.mark.parametrize("own", ["", "We do research. Do you agree?"])
def test_consent_names_the_mark_whatever_the_study_says_itself(
    client: Client, language: str, words: str, own: str
) -> None:
    campaign = campaign_of(make_study(f"own-{bool(own)}".lower(), consent=own))
    page = client.get(f"/take/{campaign.entry}/", {"language": language})
    assert words in page.text and ("If the link that you followed" not in page.text)
    link = publish(study=make_study("linked"), terms=LaunchTerms(to="link", assignments=1))
    assert words not in client.get(f"/take/{link.entry}/", {"language": language}).text


def test_the_minimum_age_is_the_studys(client: Client) -> None:
    campaign = campaign_of(make_study("sixteen", ethics=Ethics.from_dict({"minimum_age": 16})))
    assert "I am 16 or older" in client.get(f"/take/{campaign.entry}/").text
    assert "aged 16 or older" in client.get("/volunteer/").text


def test_what_is_promised_is_kept_with_the_session() -> None:
    campaign = campaign_of()
    assert Campaign.objects.get().compared_with is None
    visitor = Visitor(campaign)
    visitor.open()
    visitor.open()
    assert OwnCurve.objects.get().session == visitor.session
    link = publish(study=make_study("linked"), terms=LaunchTerms(to="link", assignments=1))
    Visitor(link).open()
    assert OwnCurve.objects.count() == 1, "only volunteers are promised one"


def test_curves_of_the_study_itself_or_of_one_under_way_are_refused() -> None:
    study = make_study("volunteered")
    other = make_study("under-way")
    for name in (study.slug, other.slug, "nobody"):
        with pytest.raises(InvalidRequest, match="cannot be shown"):
            campaign_of(study, compared_with=name)
    Study.objects.filter(pk=study.pk).update(state=StudyState.DRAFT)
    assert not Campaign.objects.exists() and not EarlierCurves.objects.exists(), "nothing is launched half"


def test_scripted_participants_are_no_volunteers() -> None:
    with pytest.raises(StudyRefused, match="for people"):
        campaign_of(make_study("scripted", population="scripted"))


def test_a_launch_goes_through_the_gates() -> None:
    assert not capabilities_of("volunteer").is_own_ground


def test_no_money() -> None:
    campaign = campaign_of()
    assert campaign.reward_cents == 0 and recruiter_for("volunteer").balance_cents() is None


def test_a_deletion_code_takes_the_answers_back(client: Client) -> None:
    identity.ATTEMPTS.clear()
    campaign = campaign_of()
    code = code_of(client, finished(client, campaign))
    assert code and deletes(client, campaign, code).status_code == 200
    assert Session.objects.get().state == "withdrawn"
