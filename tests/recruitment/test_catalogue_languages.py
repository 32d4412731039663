"""A study in a language of a catalogue: from the entry page to the answers, and what is remembered of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from analysis.study.link import Link
from analysis.study.toml import to_toml
from humanexp.console.preflight.check import Launch
from humanexp.console.preflight.terms import language
from humanexp.core.languages import catalogues
from humanexp.participation.models import Session
from humanexp.recruiters.campaigns import HOUSE_VERSION
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.models import AgreedText
from humanexp.results.tables import sessions_of
from humanexp.studies.models import Study
from humanexp.studies.selectors import configuration_of
from tests.factories import draft_study
from tests.made_up import NAME, TAG, made_up_catalogue, said
from tests.recruitment.studies import Visitor, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("made_up_language", "open_gates")]


@pytest.fixture
def campaign() -> Campaign:
    return publish(study=make_study("brought"), terms=LaunchTerms(to="link", assignments=4, reward_cents=0))


def page_of(campaign: Campaign, query: str = "") -> str:
    return str(Client().get(f"/take/{campaign.entry}/{query}").text)


def code() -> str:
    return catalogues()[TAG].code


def test_the_switch_offers_it_and_the_page_speaks_it(campaign: Campaign) -> None:
    assert f'hreflang="{TAG}">{NAME}</a>' in page_of(campaign)
    page = page_of(campaign, f"?language={TAG}")
    assert f'<html lang="{TAG}" dir="rtl" data-texts="{code()}">' in page
    assert said("Taking part is voluntary") in page and "Taking part is voluntary" not in page
    assert said("Start the study") in page and f"{HOUSE_VERSION}.{TAG}" in page
    assert 'hreflang="en">English</a>' in page and f'"language": "{TAG}"' in page
    shown = re.sub(r"<script.*?</script>|<[^>]+>|\{\w+\}|https?://\S+", " ", page, flags=re.S)
    own = {campaign.study.title, campaign.contact, "English", "Deutsch", f"{HOUSE_VERSION}.{TAG}"}
    assert set(re.findall(r"[A-Za-z]{4,}", shown)) <= set(re.findall(r"[A-Za-z]{4,}", " ".join(own)))


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        (Link(preset="class", alternative="Read."), "You get the credit for taking part to the end"),
        (Link(preset="plain", reward=150, currency="GBP"), "pay you"),
        (Link(preset="plain", pay="none"), "Taking part is not paid."),
    ],
    ids=["credit", "money", "nothing"],
)
def test_people_whom_a_site_has_sent_read_about_pay_in_it(link: Link, sentence: str) -> None:
    campaign = publish(study=make_study("brought"), terms=LaunchTerms(to="link", assignments=4, link=link))
    page = Client().get(f"/take/{campaign.entry}/consent/?language={TAG}").text
    assert said(sentence) in page and sentence not in page


def test_the_window_of_the_study_and_the_consent_to_keep_speak_it(campaign: Campaign) -> None:
    for address in ("run/", "consent/"):
        reply = Client().get(f"/take/{campaign.entry}/{address}?language={TAG}")
        assert f'<html lang="{TAG}" dir="rtl"' in reply.text and reply["Content-Language"] == TAG
    assert said("Before you start") in Client().get(f"/take/{campaign.entry}/run/?language={TAG}").text


def test_a_study_can_begin_in_it(campaign: Campaign) -> None:
    campaign.study.configuration["language"] = TAG
    campaign.study.save()
    assert f'<html lang="{TAG}" dir="rtl"' in page_of(campaign)
    assert '<html lang="en">' in page_of(campaign, "?language=en")


def test_what_was_agreed_to_is_remembered_and_exported(campaign: Campaign) -> None:
    opened = Visitor(campaign).open(language=TAG)
    assert opened.status_code == 201
    session = Session.objects.get()
    assert (session.consent_version, session.language) == (f"{HOUSE_VERSION}.{TAG}", TAG)
    assert session.catalogue == made_up_catalogue().digest, "its words are known, whatever the folder has later"
    agreed = AgreedText.objects.get(digest=session.consent_digest)
    assert agreed.language == TAG and said("Taking part is voluntary") in agreed.html
    table = sessions_of(campaign.study)
    assert table is not None and list(table["language"]) == [TAG]
    assert Session.objects.get().study.frozen_at is not None


def test_calls_of_the_page_are_answered_in_it(campaign: Campaign) -> None:
    token = Visitor(campaign).open(language=TAG).json()["token"]
    headers = {"Accept-Language": code(), "Authorization": f"Bearer {token}"}
    choices = Client().get("/api/v1/run/session/", headers=headers).json()["choices"]["categorisation"]
    assert choices[0] == {**choices[0], "name": "knife", "label": said("Knife")}
    refused = Client().get("/api/v1/run/session/", headers={**headers, "Authorization": "Bearer x"})
    assert refused.json()["detail"].startswith(said("This link or token"))
    for other in (f"{TAG.lower()}-x-other", "qaa-x-folder", "x" * 40):
        reply = Client().get("/api/v1/run/session/", headers={**headers, "Accept-Language": other})
        assert reply.json()["choices"]["categorisation"][0]["label"] == "Knife"


@pytest.mark.usefixtures("stimulus_set")
def test_a_study_file_names_it(tmp_path: Path, settings: Any) -> None:
    values = configuration_of(draft_study(spec=4)).to_dict() | {"slug": "filed", "family": "filed", "language": TAG}
    file = tmp_path / "study.toml"
    file.write_text(to_toml(values), encoding="utf-8")
    call_command("create_study", str(file))
    made = Study.objects.get(slug="filed")
    line = language(Launch(study=made, to="link"))
    assert NAME in line.text and f"begin in {NAME}" in line.text
    made.delete()
    settings.LOCALE_FOLDER = ""
    with pytest.raises(CommandError, match=f"language must be one of en, de, not '{TAG}'"):
        call_command("create_study", str(file))
