"""What a participant may read, fetched for every way of taking part: each sentence fits the study's facts."""

from __future__ import annotations

import html
import itertools
import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from humanexp.core.errors import InvalidRequest
from humanexp.ledger.terms import suggested_terms
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.people import exclude_people
from humanexp.recruiting.extension import stop
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db

MARKET = "http://localhost:8001"
CONTACT = "ask@lab.example"
DESIGNS: dict[str, dict[str, Any]] = {
    "categorisation": {"main_trials": 2},
    "discrimination": {"main_trials": 0, "discrimination": {"form": "same-different"}},
    "abx": {"main_trials": 0, "discrimination": {"form": "abx"}},
    "both": {"main_trials": 2, "discrimination": {"form": "same-different"}},
    "validation": {"main_trials": 0, "validation": {"shown": "all"}},
}
WAYS = ("link", "paid", "unpaid")
COMBINATIONS = [
    *itertools.product(WAYS, DESIGNS, ("en", "de"), (CONTACT,)),
    *itertools.product(WAYS, ["categorisation"], ("en", "de"), ("",)),
]
PAY = {"en": r"\bpaid\b|\bpays?\b|\$", "de": r"[Bb]ezahl|Dollar"}
NOT_PAID = {"en": r"\bnot paid\b|is not paid", "de": r"ohne Bezahlung|nicht bezahlt"}
WRITE = {"en": r"[Ww]rite to", "de": r"[Ss]chreiben Sie"}
FLEETING = {"en": r"fraction of a second|for a moment", "de": r"Bruchteil einer Sekunde|nur einen Augenblick"}
COMPUTER = {"en": r"needs? a computer", "de": r"(Computer mit|braucht einen) (Maus|Computer)"}


@pytest.fixture(autouse=True)
def market(settings: Any) -> None:
    settings.MARKETPLACE_URL = MARKET
    settings.RECRUITER_ORIGINS = [MARKET]


def study_of(task: str, language: str) -> Study:
    """A planned study that says it asks this, in this language."""
    study = make_study(f"pages-{task}-{language}")
    study.configuration |= {"design": study.configuration["design"] | DESIGNS[task], "language": language}
    study.configuration.pop("debrief", None)
    study.save()
    return study


def campaign_of(way: str, task: str, language: str, contact: str) -> Campaign:
    launched = {
        "link": {"to": "link"},
        "paid": {"to": "marketplace", "reward_cents": 120},
        "unpaid": {"to": "marketplace", "unpaid": True},
    }[way]
    campaign = publish(study=study_of(task, language), terms=LaunchTerms(assignments=3, contact=CONTACT, **launched))
    if not contact:  # a launch of an earlier release
        Campaign.objects.filter(pk=campaign.pk).update(contact="")
    return campaign


def fetched(campaign: Campaign, path: str = "", **query: str) -> str:
    """A page as its reader reads it, asked for by a browser that prefers the other language."""
    other = "de" if campaign.study.configuration["language"] == "en" else "en"
    reply = Client().get(f"/take/{campaign.entry}/{path}", query, headers={"Accept-Language": other})
    assert reply.status_code == 200
    return words(reply.content.decode())


def words(page: str) -> str:
    page = re.sub(r"<script.*?</script>", " ", page, flags=re.S)
    said = re.findall(r'data-one="([^"]*)"', page)
    return html.unescape(re.sub(r"\s+", " ", " ".join([re.sub(r"<[^>]+>", " ", page), *said])))


def pages_of(campaign: Campaign) -> dict[str, str]:
    ids = (
        {}
        if not campaign.capabilities.vouches
        else {"assignmentId": "A1", "workerId": "W1", "hitId": "H1", "turkSubmitTo": MARKET}
    )
    pages = {
        "entry": fetched(campaign, **ids),
        "consent": fetched(campaign, "consent/"),
        "run": fetched(campaign, "run/"),
    }
    if campaign.capabilities.vouches:
        pages |= {"preview": fetched(campaign), "inside": fetched(campaign, "inside/")}
    return pages


@pytest.mark.parametrize(("way", "task", "language", "contact"), COMBINATIONS)
def test_every_page_fits_its_study(way: str, task: str, language: str, contact: str) -> None:
    campaign = campaign_of(way, task, language, contact)
    pages = pages_of(campaign)
    for name, page in pages.items():
        assert ("Drücken Sie" in page or "Sie" in page.split()) is (language == "de"), (name, "language")
        of_pay = re.findall(PAY[language], re.sub(NOT_PAID[language], "", page))
        assert bool(of_pay) is (way == "paid"), (name, of_pay)
        if way == "link":
            assert not re.search(r"HIT|[Ww]orker|submit", page), name
        elif name != "consent":
            assert "HIT" in page, name
        assert (contact in page) if contact else not re.search(WRITE[language], page), (name, "contact")
    consent, run = pages["consent"], pages["run"]
    assert bool(re.search(FLEETING[language], consent)) is (task != "validation")
    stop = {"en": "are kept, and you can continue later", "de": "bleiben Ihre Antworten erhalten"}[language]
    assert stop in consent
    # a link keeps the id that it carries: nobody is told that a random code is all there is
    kept = {"en": "contains an id of yours, it is stored", "de": "eine Kennung von Ihnen enthält, wird sie getrennt"}
    assert (kept[language] in consent) is (way == "link") and not re.search(r"random|zufällig", consent)
    instructions = {"en": "You may stop at any time by closing the window", "de": "indem Sie das Fenster schließen"}
    assert instructions[language] not in run


@pytest.mark.parametrize(("task", "language"), list(itertools.product(DESIGNS, ("en", "de"))))
def test_the_advertisement_says_what_is_asked_and_on_what(task: str, language: str) -> None:
    said = suggested_terms(study_of(task, language)).description
    assert bool(re.search(r"moment|Augenblick", said)) is (task != "validation")
    assert bool(re.search(r"phones|Telefonen", said)) is (task == "validation")
    assert bool(re.search(r"changed|verändert", said)) is (task in ("discrimination", "abx", "both"))
    assert ("Studie" in said) is (language == "de")


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_switch_still_wins_over_the_language_of_the_study(language: str) -> None:
    campaign = campaign_of("link", "categorisation", language, CONTACT)
    other = {"en": "de", "de": "en"}[language]
    for path in ("", "consent/", "run/"):
        page = Client().get(f"/take/{campaign.entry}/{path}", headers={"Accept-Language": "fr"})
        assert f'<html lang="{language}">' in page.text and page["Content-Language"] == language
        page = Client().get(f"/take/{campaign.entry}/{path}?language={other}", headers={"Accept-Language": language})
        assert f'<html lang="{other}">' in page.text and page["Content-Language"] == other


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_stopped_link_invites_nobody_and_lets_who_has_begun_go_on(language: str) -> None:
    campaign = campaign_of("link", "validation", language, CONTACT)
    begun = Visitor(campaign, worker_id="panel-1")
    assert begun.open().status_code == 201
    stop(study=campaign.study)
    campaign.refresh_from_db()
    page = Client().get(f"/take/{campaign.entry}/").text
    read = words(page)
    assert {"en": "This study has ended", "de": "Diese Studie ist zu Ende"}[language] in read
    for gone in ("I am 18 or older", "18 Jahre", "Start the study", "Studie beginnen", "Before you decide"):
        assert gone not in read, gone
    assert not re.search(r"\bHITs?\b", read), "the word, which a random code may contain"
    assert page.count('data-panel="consent"') == 0
    refused = Visitor(campaign, worker_id="panel-2").open()
    assert refused.status_code == 409
    assert not re.search(r"\bHITs?\b", refused.json()["detail"])
    assert begun.status()["state"] == "open"


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_link_refuses_without_a_word_of_a_hit(language: str) -> None:
    campaign = campaign_of("link", "categorisation", language, CONTACT)
    family = campaign.study.family
    exclude_people(family=family, worker_ids=["panel-1"], environment="link")
    assert Visitor(campaign, worker_id="panel-2").open().status_code == 201
    sister = make_study("sister", family=family.slug)
    sister.configuration |= {"language": language}
    sister.save()
    other = publish(study=sister, terms=LaunchTerms(to="link", assignments=3, contact=CONTACT))
    refused = {
        "excluded": Visitor(campaign, worker_id="panel-1"),
        "took part": Visitor(other, worker_id="panel-2"),
    }
    for why, visitor in refused.items():
        visitor.http = Client(headers={"Accept-Language": language})  # as the page sends it
        reply = visitor.open()
        detail = reply.json()["detail"]
        assert reply.status_code == 409, (why, detail)
        assert not re.search(r"HIT|[Ww]orker|submit|return|gibt|geben Sie", detail), (why, detail)
        assert bool(re.search("Studie", detail)) is (language == "de"), (why, detail)


def test_a_link_tells_its_code_to_those_alone_who_were_sent_with_an_id() -> None:
    campaign = campaign_of("link", "categorisation", "en", CONTACT)
    assert "completion code" not in fetched(campaign, "run/")
    assert "completion code" in fetched(campaign, "run/", code="")
    # The entry's last panel has the sentence hidden: whoever comes back to it had their id taken out of the address.
    for query, is_told in (({}, "false"), ({"p": "panel-7"}, "true")):
        page = Client().get(f"/take/{campaign.entry}/", query).text
        assert '<p data-value="code-line" hidden>' in page
        assert f'"showsCode": {is_told}' in page


@pytest.mark.parametrize("task", list(DESIGNS))
def test_the_last_page_says_what_the_study_is_about(task: str) -> None:
    run = Client().get(f"/take/{campaign_of('link', task, 'en', CONTACT).entry}/run/").text
    about = run[run.index('class="debrief"') : run.index('data-value="debrief"')]
    assert len(words(about).split()) > 20 and "hidden" not in about[:40]
    # A page of no study says nothing, not even the heading.
    bare = Client().get("/run/").text
    assert 'class="debrief" hidden' in bare


def test_people_are_invited_only_where_they_can_write_to_somebody(settings: Any) -> None:
    settings.CONTACT = ""
    study = make_study("nobody-to-ask")
    for to in ("link", "marketplace"):
        with pytest.raises(InvalidRequest, match="write to someone") as refused:
            publish(study=study, terms=LaunchTerms(to=to, assignments=1, contact="  "))
        assert list(refused.value.fields) == ["contact"]
    assert not Campaign.objects.exists()
    with pytest.raises(Exception, match="name a contact, here"):
        call_command("publish", study.slug, "--to", "link", stdout=StringIO())
    call_command("publish", study.slug, "--to", "link", "--contact", CONTACT, stdout=StringIO())
    assert Campaign.objects.get().contact == CONTACT
    scripted = make_study("for-scripts", population="scripted")
    assert publish(study=scripted, terms=LaunchTerms(to="link", assignments=1)).contact == ""
