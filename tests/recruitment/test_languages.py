"""The way in, in the reader's language: the page, what is agreed to and remembered, refusals and questions."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from humanexp.ledger.hit_calls import terms_of
from humanexp.participation.models import Session
from humanexp.recruiters.campaigns import HOUSE_VERSION
from humanexp.recruiters.memory import MemoryRecruiter
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db
MARKET = "http://localhost:8001"


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture
def campaign(study: Study, settings: Any) -> Campaign:
    settings.MARKETPLACE_URL = MARKET
    return publish(study=study, terms=LaunchTerms(to="marketplace", assignments=6, reward_cents=120))


def visitor(campaign: Campaign) -> Visitor:
    return Visitor(campaign, worker_id="AWORKER1", assignment_id="ASSIGNMENT1", submit_to=MARKET)


def page_of(campaign: Campaign, query: str = "", header: str = "") -> str:
    return str(Client().get(f"/take/{campaign.entry}/{query}", headers={"Accept-Language": header}).text)


@pytest.mark.parametrize("header", ["de-DE,de;q=0.9", "en", "fr", ""])
def test_the_entry_page_of_a_german_study_is_german_in_every_browser(campaign: Campaign, header: str) -> None:
    campaign.study.configuration["language"] = "de"
    campaign.study.save()
    page = page_of(campaign, header=header)
    assert '<html lang="de">' in page and "Bevor Sie sich entscheiden" in page
    assert "1,20 US-Dollar für alle, die abgeben" in page
    assert f"Text {HOUSE_VERSION}.de" in page and "Die Teilnahme ist freiwillig" in page
    assert "Taking part is voluntary" not in page


def test_the_switch_keeps_who_the_page_was_opened_for(campaign: Campaign) -> None:
    query = f"?assignmentId=A1&hitId=H1&workerId=AWORKER1&turkSubmitTo={MARKET}"
    page = page_of(campaign, query)
    assert '<html lang="en">' in page and "$1.20 for everyone who submits" in page
    link = "?assignmentId=A1&amp;hitId=H1&amp;workerId=AWORKER1&amp;turkSubmitTo=http%3A%2F%2Flocalhost%3A8001"
    assert f'<a href="{link}&amp;language=de" lang="de" hreflang="de">Deutsch</a>' in page
    chosen = page_of(campaign, f"{query}&language=de", header="en")
    assert '<html lang="de">' in chosen and f'<a href="{link}&amp;language=en"' in chosen
    assert '"language": "de"' in chosen and '"workerId": "AWORKER1"' in chosen


@pytest.mark.parametrize(
    ("language", "version"), [("de", f"{HOUSE_VERSION}.de"), ("en", HOUSE_VERSION), (None, HOUSE_VERSION)]
)
def test_a_session_remembers_in_which_language_it_was_agreed_to(
    campaign: Campaign, language: str | None, version: str
) -> None:
    given = {} if language is None else {"language": language}
    assert visitor(campaign).open(**given).status_code == 201
    assert Session.objects.get().consent_version == version


def test_a_language_that_there_is_not_is_refused(campaign: Campaign) -> None:
    assert visitor(campaign).open(language="xx").status_code == 422
    assert not Session.objects.exists()


@pytest.mark.parametrize(("language", "minutes"), [("de", "von etwa 7 Minuten"), ("en", "of about 7 minutes")])
def test_an_advertisement_says_the_minutes_in_the_studys_language(
    campaign: Campaign, language: str, minutes: str
) -> None:
    campaign.study.configuration["language"] = language
    campaign.study.save()
    campaign.title, campaign.description, campaign.estimated_minutes = "Kurz", "Bilder.", 7
    assert minutes in terms_of(campaign, MemoryRecruiter("memory")).description


def test_a_studys_own_text_is_shown_as_it_is_in_every_language(settings: Any) -> None:
    own = make_study("own", consent="Our own words.", consent_version="ethics-7")
    campaign = publish(study=own, terms=LaunchTerms(to="link", assignments=1))
    page = page_of(campaign, "?language=de")
    assert "Our own words." in page and "Text ethics-7" in page
    assert Visitor(campaign).open(language="de").status_code == 201
    assert Session.objects.get().consent_version == "ethics-7"


def test_the_text_alone_is_in_the_language_of_the_page_that_links_to_it(campaign: Campaign) -> None:
    address = f"/take/{campaign.entry}/consent/?language=de"
    assert address in page_of(campaign, "?language=de")
    text = Client().get(address).text
    assert "Wozu Sie zustimmen" in text and f"Text {HOUSE_VERSION}.de, so gezeigt am" in text


def test_refusals_are_said_in_the_readers_language(campaign: Campaign) -> None:
    fault = page_of(campaign, "?assignmentId=A1&workerId=AWORKER1&turkSubmitTo=https://evil.example&language=de")
    assert "die nicht die des Vermittlers ist" in fault
    unknown = Client().get("/take/nothing/?language=de")
    assert unknown.status_code == 404 and "gehört zu keiner Studie" in unknown.text
    refused = Client().post(
        f"/take/{campaign.entry}/open/",
        {"consent": False, "turkSubmitTo": MARKET},
        content_type="application/json",
        headers={"Accept-Language": "de"},
    )
    assert refused.json()["detail"] == "Ohne Ihre Zustimmung wird nichts gespeichert."


def test_answers_are_labelled_in_the_readers_language_under_the_same_names(campaign: Campaign) -> None:
    someone = visitor(campaign)
    someone.open(language="de")
    labels = {}
    for language in ("en", "de"):
        reply = Client().get(
            "/api/v1/run/session/",
            headers={"Authorization": f"Bearer {someone.token}", "Accept-Language": language},
        )
        choices = reply.json()["choices"]["categorisation"]
        labels[language] = {choice["name"]: choice["label"] for choice in choices}
    assert list(labels["de"]) == list(labels["en"]), "the order of the grid is the protocol's"
    assert (labels["en"]["knife"], labels["de"]["knife"]) == ("Knife", "Messer")
