"""What people agree to: the blocks of a study, the digest of what was shown, who may agree, and until when."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from analysis.study.ethics import Ethics, EthicsTexts
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, StudyRefused
from humanexp.core.models import AuditEvent
from humanexp.participation.models import Participant, Session
from humanexp.recruiters.campaigns import HOUSE_VERSION
from humanexp.recruiters.models import Assignment, Campaign, RecruitedPerson
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.approvals import approval_of, renew_approval, withdraw_approval
from humanexp.recruiting.extension import extend, prolong
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.models import AgreedText
from humanexp.studies.models import Study
from tests.clocks import HandClock
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db
MARKET = "http://localhost:8001"
TEXTS = {name: f"Our <b>{name}</b> & more." for name in EthicsTexts.model_fields}
GERMAN = {name: f"Unser {name}." for name in TEXTS}
TODAY = clock.now().date()


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """No midnight comes between the beginning of the run and the test."""
    monkeypatch.setattr(clock, "system_clock", HandClock(datetime.combine(TODAY, time(12), tzinfo=UTC)))


def link(slug: str = "blocks", **ethics: Any) -> Campaign:
    study = make_study(slug, ethics=Ethics.from_dict(ethics))
    return publish(study=study, terms=LaunchTerms(to="link", assignments=4))


def hit(study: Study) -> Campaign:
    return publish(study=study, terms=LaunchTerms(to="marketplace", assignments=6, reward_cents=120))


def worker(campaign: Campaign, name: str = "AWORKER1") -> Visitor:
    return Visitor(campaign, worker_id=name, assignment_id=f"OF{name}", submit_to=MARKET)


def shown_by(page: str) -> dict[str, Any]:
    """What the page's script sends back of what was shown."""
    digest = re.search(r'"consentDigest": "(\w*)"', page)
    minutes = re.search(r'"minutes": (\d+)', page)
    assert digest and minutes
    return {"consentDigest": digest[1], "minutes": int(minutes[1])}


def nothing_is_written() -> bool:
    return not any(model.objects.exists() for model in (Session, Participant, RecruitedPerson, Assignment, AgreedText))


class TestBlocks:
    def test_every_block_of_the_study_is_shown_escaped_under_its_heading(self) -> None:
        campaign = link(**TEXTS)
        page = Visitor(campaign).get().text
        for name in TEXTS:
            assert f"Our &lt;b&gt;{name}&lt;/b&gt; &amp; more." in page, name
        headings = re.findall(r"<h3>(.*?)</h3>", page)
        assert headings == [
            "What the study is for", "What happens, and how long it takes", "Taking part is voluntary", "Pay", "Risks",
            "Your data", "Your rights", "Who is responsible", "Questions",
        ]  # fmt: skip

    def test_without_blocks_it_says_what_follows_from_the_study(self) -> None:
        page = Visitor(link()).get().text
        assert re.findall(r"<h3>(.*?)</h3>", page) == [
            "What happens, and how long it takes", "Taking part is voluntary", "Risks", "Your data", "Questions",
        ]  # fmt: skip
        assert "epilepsy" in page and "lab@example.org before, during or after the study" in page
        assert "You must be 18 or older" in page

    def test_a_translation_is_shown_to_its_readers_and_marked_as_their_language(self) -> None:
        campaign = link(**TEXTS, translations={"de": GERMAN})
        german = Visitor(campaign).get(language="de").text
        assert all(text in german for text in GERMAN.values()) and "Our" not in german
        assert '<span lang="de">Unser storage.</span>' in german
        # without one, the blocks are read out in the language that they are in
        other = link("other", purpose="To see.")
        assert '<div lang="en"><p>To see.</p></div>' in Visitor(other).get(language="de").text

    def test_a_studys_own_text_takes_the_place_of_the_sentences_of_the_house(self) -> None:
        study = make_study("own", consent="Our own words.", ethics=Ethics(purpose="To see.", storage="Here."))
        campaign = publish(study=study, terms=LaunchTerms(to="link", assignments=1))
        page = Visitor(campaign).get().text
        assert "Our own words." in page and "To see." in page and "Here." in page
        assert "There are no trick questions" not in page and "We store your answers" not in page
        assert "you choose what happens to your answers" in " ".join(page.split())


class TestDigest:
    def test_a_session_keeps_the_digest_of_what_was_shown_and_the_words_are_kept_once(self) -> None:
        campaign = link(**TEXTS)
        for visitor in (Visitor(campaign), Visitor(campaign)):
            page = visitor.get().text
            assert visitor.open(**shown_by(page)).status_code == 201
            assert visitor.session.consent_digest == shown_by(page)["consentDigest"]
        agreed = AgreedText.objects.get()
        assert agreed.digest == hashlib.sha256(agreed.html.encode()).hexdigest() == visitor.session.consent_digest
        assert agreed.html in page and (agreed.version, agreed.language) == (HOUSE_VERSION, "en")

    def test_each_language_has_its_own(self) -> None:
        campaign = link()
        for language in ("en", "de"):
            visitor = Visitor(campaign)
            shown = shown_by(visitor.get(language=language).text)
            assert visitor.open(language=language, **shown).status_code == 201
        assert {text.language for text in AgreedText.objects.all()} == {"en", "de"}

    def test_a_text_that_has_changed_since_the_page_was_opened_is_not_agreed_to(self) -> None:
        campaign = link()
        visitor = Visitor(campaign)
        shown = shown_by(visitor.get().text)
        Campaign.objects.filter(pk=campaign.pk).update(contact="others@example.org")
        refused = visitor.open(**shown)
        assert refused.status_code == 409 and "has changed since you opened this page" in refused.json()["detail"]
        assert nothing_is_written()
        assert visitor.open(**shown_by(visitor.get().text)).status_code == 201

    def test_the_minutes_that_the_page_has_stated_are_those_agreed_to(self) -> None:
        """What others needed meanwhile changes the page of the next reader, not what this one has read."""
        campaign = link()
        visitor = Visitor(campaign)
        shown = shown_by(visitor.get().text)
        Campaign.objects.filter(pk=campaign.pk).update(estimated_minutes=shown["minutes"] + 7)
        assert visitor.open(**shown).status_code == 201
        assert visitor.session.consent_digest == shown["consentDigest"]


class TestKeeping:
    def test_the_text_alone_is_the_very_text_to_print_or_to_save(self) -> None:
        campaign = link(**TEXTS)
        digest = shown_by(Visitor(campaign).get().text)["consentDigest"]
        address = f"/take/{campaign.entry}/consent/"
        alone, file = Client().get(address), Client().get(address, {"download": ""})
        for page in (alone, file):
            assert digest in page.text and TEXTS["purpose"].replace("&", "&amp;").replace("<", "&lt;")[:8] in page.text
            assert not page.cookies and "Content-Security-Policy" in page
        assert "Content-Disposition" not in alone
        assert file["Content-Disposition"] == 'attachment; filename="blocks-consent.html"'
        assert not re.search(r"<script|<link|src=|<form|<input", file.text), "it needs nothing else, and asks nothing"
        assert nothing_is_written()


class TestAge:
    def test_the_age_of_the_study_is_on_its_page(self) -> None:
        assert "I have read this, I am 16 or older, and I agree" in Visitor(link(minimum_age=16)).get().text

    def test_a_younger_person_is_refused_and_nothing_is_stored(self) -> None:
        visitor = Visitor(link())
        refused = visitor.open(isMinor=True, guardianAgrees=True)
        assert refused.status_code == 409 and "too young" in refused.json()["detail"]
        assert nothing_is_written()
        assert 'data-panel="too-young"' in visitor.get().text and "data-guardian" not in visitor.get().text

    def test_with_a_guardian_who_agrees_they_take_part_and_the_session_says_so(self) -> None:
        campaign = link(guardian_consent=True)
        visitor, adult = Visitor(campaign), Visitor(campaign)
        assert "data-guardian" in visitor.get().text and "data-assent" in visitor.get().text
        assert "only if a parent or guardian agrees and you" in visitor.get().text
        assert visitor.open(isMinor=True).status_code == 422
        assert nothing_is_written()
        assert visitor.open(isMinor=True, guardianAgrees=True).status_code == 201
        assert visitor.session.guardian_agreed
        assert adult.open().status_code == 201 and not adult.session.guardian_agreed


class TestApproval:
    @pytest.mark.parametrize(("days", "is_open"), [(0, True), (-1, False)])
    def test_no_one_starts_after_its_last_day(self, days: int, is_open: bool) -> None:
        campaign = link(approved_until=(TODAY + timedelta(days=30)).isoformat())
        until = (TODAY + timedelta(days=days)).isoformat()
        campaign.study.configuration["ethics"]["approved_until"] = until
        campaign.study.save()
        visitor = Visitor(campaign)
        assert ("This study is paused" in visitor.get().text) is not is_open
        assert visitor.open().status_code == (201 if is_open else 409)
        assert nothing_is_written() is not is_open

    def test_when_it_is_withdrawn_people_under_way_finish_and_no_one_starts(self, settings: Any) -> None:
        settings.MARKETPLACE_URL = MARKET
        campaign = hit(make_study())
        under_way, late = worker(campaign), worker(campaign, "AWORKER2")
        assert under_way.open().status_code == 201
        secret = under_way.secret()
        withdraw_approval(study=campaign.study, by=None)
        refused = late.open()
        assert refused.status_code == 409 and "please return it; that does you no harm" in refused.json()["detail"]
        assert under_way.open(secret=secret).status_code == 201, "a reload"
        moved = Visitor(campaign, worker_id="AWORKER1", assignment_id="ANOTHER", submit_to=MARKET)
        assert moved.open(secret=secret, continueHere=True).status_code == 201, "another HIT"
        assert moved.answer_all()["receipt"]
        assert Session.objects.count() == 1
        page = late.get(assignmentId="A2", workerId="AWORKER2", turkSubmitTo=MARKET).text
        assert "This study is paused" in page and "I agree to take part" not in page and "lab@example.org" in page
        preview = late.get(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE").text
        assert "This study is paused" in preview and "This is a preview" not in preview
        german = late.get(assignmentId="A2", workerId="AWORKER2", turkSubmitTo=MARKET, language="de").text
        assert "Diese Studie pausiert" in german and "Das liegt nicht an Ihnen." in german

    def test_once_it_is_given_again_people_start(self) -> None:
        campaign = link()
        withdraw_approval(study=campaign.study, by=None)
        assert Visitor(campaign).open().status_code == 409
        with pytest.raises(InvalidRequest, match="is over"):
            renew_approval(study=campaign.study, until=TODAY - timedelta(days=1), by=None)
        renew_approval(study=campaign.study, until=TODAY, by=None)
        assert Visitor(campaign).open().status_code == 201
        actions = list(
            AuditEvent.objects.filter(action__contains="approval").order_by("pk").values_list("action", flat=True)
        )
        assert actions == ["withdraw-approval", "renew-approval"]

    def test_a_launch_and_more_places_are_refused_without_it(self) -> None:
        study = make_study("ended", ethics=Ethics(approved_until="2020-01-31"))
        with pytest.raises(StudyRefused, match="ended on 2020-01-31"):
            publish(study=study, terms=LaunchTerms(to="link", assignments=1))
        renew_approval(study=study, until=None, by=None)
        campaign = hit(study)
        withdraw_approval(study=study, by=None)
        with pytest.raises(StudyRefused, match="was withdrawn"):
            extend(campaign=campaign, places=1, by=None)

    def test_a_campaign_does_not_stay_open_longer_without_it(self) -> None:
        campaign = hit(make_study("ended", ethics=Ethics(approved_until=TODAY.isoformat())))
        withdraw_approval(study=campaign.study, by=None)
        with pytest.raises(StudyRefused, match="was withdrawn"):
            prolong(campaign=campaign, days=3, by=None)

    def test_another_consent_text_than_the_approved_one_blocks_launch_and_extension(self) -> None:
        study = make_study("other-text", ethics=Ethics(approved_consent="house-4"))
        with pytest.raises(StudyRefused, match=rf"approved_consent under \[ethics\].*{HOUSE_VERSION}"):
            publish(study=study, terms=LaunchTerms(to="link", assignments=1))
        renew_approval(study=study, until=None, by=None)
        assert approval_of(study).has_another_text, "a new last day approves no text"
        renew_approval(study=study, until=None, by=None, covers_shown_text=True)
        campaign = hit(study)
        study.configuration["consent"], study.configuration["consent_version"] = "Our own words.", "2"
        study.save()
        campaign.refresh_from_db()
        for act in (extend, prolong):
            with pytest.raises(StudyRefused, match="people would read 2"):
                act(campaign=campaign, by=None, **({"places": 1} if act is extend else {"days": 3}))

    def test_more_places_and_more_time_need_an_approval_by_name_once_strangers_can_come(self, settings: Any) -> None:
        campaign, named = link(), link("named", approval="Board of the lab, 2026-17")
        settings.PUBLIC_URL = "https://lab.example.org"
        for act in (extend, prolong):
            more = {"places": 1} if act is extend else {"days": 3}
            with pytest.raises(StudyRefused, match=r"State under approval in \[ethics\]"):
                act(campaign=campaign, by=None, **more)
        prolong(campaign=named, days=3, by=None)

    def test_scripted_participants_need_none(self) -> None:
        study = make_study("scripts", population="scripted", ethics=Ethics(approved_until="2020-01-31"))
        assert not publish(study=study, terms=LaunchTerms(to="link", assignments=1)).capabilities.vouches

    @pytest.mark.parametrize(
        ("until", "said"),
        [
            (TODAY + timedelta(days=31), []),
            (TODAY + timedelta(days=30), ["warn"]),
            (TODAY - timedelta(days=1), ["bad"]),
        ],
    )
    def test_the_researcher_is_told_before_and_after(self, until: date, said: list[str]) -> None:
        campaign = link(approved_until=(TODAY + timedelta(days=365)).isoformat())
        campaign.study.configuration["ethics"]["approved_until"] = until.isoformat()
        found = [one for one in attention(campaign.study) if one.kind == "approval"]
        assert [one.severity for one in found] == said
        assert all("no one new can start" in one.text for one in found)


def words_of(page: str) -> str:
    return " ".join(strip_tags(page).split())


class TestContact:
    def test_an_address_of_no_study_names_whom_to_ask(self, settings: Any) -> None:
        settings.CONTACT = "house@example.org"
        for page in ("/take/nothing/", "/run/"):
            assert "Questions or problems? Write to house@example.org." in words_of(Client().get(page).text)

    def test_it_is_one_press_away_during_a_trial(self) -> None:
        dialog = Client().get(f"/take/{link().entry}/run/").text.split("data-leave-dialog")[1].split("</dialog>")[0]
        assert "Write to lab@example.org." in words_of(dialog)

    @pytest.mark.parametrize("page", ["", "consent/", "run/", "personal/"])
    def test_every_page_of_a_campaign_names_it(self, page: str) -> None:
        campaign = link()
        assert "Write to lab@example.org" in words_of(Client().get(f"/take/{campaign.entry}/{page}").text)
