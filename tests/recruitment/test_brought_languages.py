"""A study in a language that it brings: from the entry page to the answers, and what is remembered of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from analysis.study.link import Link
from analysis.study.toml import to_toml
from humanexp.core.languages import brought_language
from humanexp.core.models import StoredBundle, User
from humanexp.participation.models import Session
from humanexp.recruiters.facts import HOUSE_VERSION
from humanexp.recruiters.models.campaigns import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.models import AgreedText
from humanexp.results.tables import sessions_of
from humanexp.studies.models import Study
from humanexp.studies.selectors import configuration_of
from humanexp.studies.services import studies
from humanexp.studies.services.languages import bring_language
from tests.factories import draft_study
from tests.made_up import NAME, TAG, bundle_file, made_up_bundle, said
from tests.recruitment.studies import Visitor, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("open_gates")]


@pytest.fixture
def campaign() -> Campaign:
    study = make_study("brought")
    study = bring_language(study=study, bundle=made_up_bundle())
    return publish(study=study, terms=LaunchTerms(to="link", assignments=4, reward_cents=0))


def page_of(campaign: Campaign, query: str = "") -> str:
    return str(Client().get(f"/take/{campaign.entry}/{query}").text)


def code() -> str:
    found = brought_language(made_up_bundle().digest)
    assert found is not None
    return found.code


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
    study = bring_language(study=make_study("brought"), bundle=made_up_bundle())
    campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=4, link=link))
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
    other = publish(study=make_study("other"), terms=LaunchTerms(to="link", assignments=4, reward_cents=0))
    assert '<html lang="en">' in page_of(other, f"?language={TAG}"), "a language of one study is none of another's"


def test_what_was_agreed_to_is_remembered_and_exported(campaign: Campaign) -> None:
    opened = Visitor(campaign).open(language=TAG)
    assert opened.status_code == 201
    session = Session.objects.get()
    assert (session.consent_version, session.language) == (f"{HOUSE_VERSION}.{TAG}", TAG)
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
    for other in (f"{TAG.lower()}-x-00000000-00000000", "qaa-x-12345678-1234567", "x" * 40):
        reply = Client().get("/api/v1/run/session/", headers={**headers, "Accept-Language": other})
        assert reply.json()["choices"]["categorisation"][0]["label"] == "Knife"


@pytest.mark.usefixtures("stimulus_set")
class TestStudyFile:
    def write(self, folder: Path, **changes: Any) -> Path:
        values = configuration_of(draft_study(spec=4)).to_dict()
        values |= {"slug": "filed", "family": "filed", "languages": {TAG: "texts/made-up.toml"}, **changes}
        path = folder / "study.toml"
        path.write_text(to_toml(values), encoding="utf-8")
        return path

    def test_a_bundle_beside_the_study_file_is_frozen_by_its_digest(self, tmp_path: Path) -> None:
        (tmp_path / "texts").mkdir()
        (tmp_path / "texts" / "made-up.toml").write_text(bundle_file(), encoding="utf-8")
        call_command("create_study", str(self.write(tmp_path, language=TAG)))
        made = Study.objects.get(slug="filed")
        assert made.configuration["languages"] == {TAG: made_up_bundle().digest}
        assert StoredBundle.objects.get().bundle == made_up_bundle().to_dict()

    def test_a_fault_is_refused_before_anything_is_written(self, tmp_path: Path) -> None:
        file = self.write(tmp_path)
        for texts, sentence in (
            (None, "No such file"),
            (bundle_file(changes={"Continue": None}), "made-up.toml has no text for the key 'Continue'."),
            (bundle_file(tag="fa"), f"languages.{TAG} names a bundle for 'fa'"),
        ):
            (tmp_path / "texts").mkdir(exist_ok=True)
            if texts:
                (tmp_path / "texts" / "made-up.toml").write_text(texts, encoding="utf-8")
            with pytest.raises(CommandError, match=re.escape(sentence)):
                call_command("create_study", str(file))
        assert not Study.objects.filter(slug="filed").exists() and not StoredBundle.objects.exists()

    def test_a_digest_that_is_not_here_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match=f"There is no text bundle '{'0' * 64}' for '{TAG}' here"):
            call_command("create_study", str(self.write(tmp_path, languages={TAG: "0" * 64})))


@pytest.mark.usefixtures("stimulus_set")
class TestConsole:
    @pytest.fixture
    def study(self) -> Study:
        study = draft_study(spec=4)
        study.memberships.create(user=User.objects.create_user("anna", password="a-long-password"), role="owner")
        return study

    @pytest.fixture
    def anna(self, study: Study, client: Client) -> Client:
        client.force_login(User.objects.get(username="anna"))
        return client

    def upload(self, anna: Client, study: Study, text: str) -> Any:
        from django.core.files.uploadedfile import SimpleUploadedFile

        file = SimpleUploadedFile("made-up.toml", text.encode())
        return anna.post(f"/studies/{study.slug}/design/languages/", {"file": file})

    def test_upload_and_removal(self, anna: Client, study: Study) -> None:
        address = f"/studies/{study.slug}/design/languages/"
        assert b'"Continue" = ""' in anna.get(f"{address}template.toml").content
        before = study.digest
        assert self.upload(anna, study, bundle_file()).status_code == 302
        study.refresh_from_db()
        assert study.configuration["languages"] == {TAG: made_up_bundle().digest} and study.digest != before
        assert NAME in anna.get(address).text
        assert f'"{TAG}"' in anna.get(f"/studies/{study.slug}/pages/").text, "the gallery offers it"
        assert anna.post(address, {"remove": TAG}).status_code == 302
        study.refresh_from_db()
        assert "languages" not in study.configuration and study.digest == before

    def test_a_refused_file_changes_nothing(self, anna: Client, study: Study) -> None:
        reply = self.upload(anna, study, bundle_file(changes={"Continue": "<b>"}))
        assert reply.status_code == 422 and "made-up.toml: the text of &#x27;Continue&#x27; holds" in reply.text
        assert not StoredBundle.objects.exists()

    def test_a_frozen_study_gets_a_new_version(self, anna: Client, study: Study) -> None:
        studies.start_collecting(study=study)
        assert self.upload(anna, study, bundle_file()).status_code == 302
        study.refresh_from_db()
        assert "languages" not in study.configuration and study.family.studies.count() == 2
