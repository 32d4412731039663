"""Whoever recruits by one kind of recruiter reads its words on every page, and none of another kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from analysis.study.link import Link
from humanexp.recruiters.models import Assignment, Campaign, Evidence, RecruiterAccount
from humanexp.recruiters.people import person_for
from humanexp.recruiters.registry import currency_of
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiting.alert_words import WORDS
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from humanexp.studies.waiting import Words

pytestmark = pytest.mark.django_db

OF_HITS = re.compile(r"\bHITs?\b|\bMasters\b|\bkeywords?\b|\breceipt\b|\bworkers?\b|\brequesters?\b", re.IGNORECASE)
OF_PROLIFIC = re.compile(r"Prolific id|participant group|Fluent in one of", re.IGNORECASE)
_CODES: dict[str, dict[str, Any]] = {"connect": {"site_code": "DONE1"}, "sona": {"alternative": "Read a paper."}}
#: To whom, and by which preset of a link.
THERE = (("panel", ""), ("prolific", ""), ("link", "prolific"), ("link", "connect"), ("link", "sona"), ("link", ""))


class Numbers(dict[str, int]):
    """Whatever a sentence asks for."""

    def __missing__(self, key: str) -> int:
        return 2


class Visible(HTMLParser):
    """The text that somebody sees who has chosen this recruiter in the form."""

    _VOID = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})

    def __init__(self, to: str) -> None:
        super().__init__()
        self._to, self._hidden = to, 0
        self._open: list[tuple[str, bool]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._VOID:
            return
        given = dict(attrs)
        only = given.get("data-only")
        is_gone = tag in ("script", "style", "template") or "hidden" in given
        is_hidden = is_gone or (only is not None and self._to not in only.split())
        self._open.append((tag, is_hidden))
        self._hidden += is_hidden

    def handle_endtag(self, tag: str) -> None:
        while self._open:
            name, was_hidden = self._open.pop()
            self._hidden -= was_hidden
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text.append(data)


def seen(console: Client, address: str, to: str) -> str:
    answer = console.get(address)
    assert answer.status_code == 200, address
    parser = Visible(to)
    parser.feed(answer.text)
    return " ".join(" ".join(parser.text).split())


@pytest.fixture(autouse=True)
def nobody_answers(settings: Any) -> None:
    settings.PANEL_TOKEN = settings.PROLIFIC_TOKEN = ""
    settings.PUBLIC_URL = "https://lab.example.org"


def campaign_at(study: Study, to: str, preset: str) -> Campaign:
    named = {"currency": currency_of(to), "balance_at": timezone.now()}  # it has answered before
    RecruiterAccount.objects.update_or_create(environment=to, defaults=named)
    paid: dict[str, Any] = {"reward_cents": 150, "estimated_minutes": 5, "cap_cents": 2_000}
    linked = (
        {"link": Link(preset=preset, reward=None if preset == "sona" else 150, **_CODES.get(preset, {}))}
        if preset
        else {}
    )
    terms = LaunchTerms(to=to, assignments=3, contact="lab@example.org", **(linked if to == "link" else paid))
    quoted = 600 if to == "prolific" else None
    return publish(study=study, terms=terms, confirm_total_cents=quoted)


def submission_at(campaign: Campaign, evidence: str) -> Assignment:
    now, number = timezone.now(), Assignment.objects.count()
    return Assignment.objects.create(
        campaign=campaign,
        hit=campaign.hits.first(),
        environment=campaign.environment,
        assignment_id=f"66aa00bb11cc22dd33ee44{number:02x}",
        person=person_for(
            environment=campaign.environment,
            worker_id=f"5F0C0FFEE0DDBA11DEADBE{number:02X}",
            family=campaign.study.family,
        ),
        state=AssignmentState.SUBMITTED,
        evidence=evidence,
        submitted_at=now,
        auto_approves_at=now + timedelta(days=3),
    )


def pages_of(study: Study, campaign: Campaign, rows: list[Assignment]) -> Iterator[str]:
    base = f"/studies/{study.slug}"
    yield f"{base}/recruit/?to={campaign.environment}"
    yield f"{base}/recruit/price/?to={campaign.environment}&assignments=3&reward=1.50&estimated_minutes=5&hits=small"
    yield from (
        f"{base}/monitor/",
        f"{base}/monitor/settle/",
        f"{base}/monitor/money/",
        f"{base}/recruit/exclusions/",
        f"{base}/recruit/notify/",
    )
    yield f"{base}/preflight/?to={campaign.environment}"
    if campaign.capabilities.vouches:
        yield f"{base}/recruit/{campaign.pk}/extend/"
    yield from (f"{base}/assignments/{row.pk}/" for row in rows)


@pytest.mark.parametrize(("to", "preset"), THERE)
def test_nobody_else_reads_of_hits(study: Study, console: Client, to: str, preset: str) -> None:
    campaign = campaign_at(study, to, preset)
    rows = [submission_at(campaign, evidence) for evidence in Evidence]
    for address in pages_of(study, campaign, rows):
        text = seen(console, address, to)
        found = OF_HITS.search(text)
        assert found is None, (address, text[max(0, found.start() - 80) : found.end() + 80])


def test_whoever_recruits_on_a_marketplace_reads_of_hits_and_workers(study: Study, console: Client) -> None:
    campaign = campaign_at(study, "marketplace", "")
    rows = [submission_at(campaign, evidence) for evidence in Evidence]
    texts = {address: seen(console, address, "marketplace") for address in pages_of(study, campaign, rows)}
    assert not [address for address, text in texts.items() if OF_PROLIFIC.search(text)]
    assert "In HITs of 9" in texts[f"/studies/{study.slug}/recruit/?to=marketplace"]
    assert "Worker id" in texts[f"/studies/{study.slug}/assignments/{rows[0].pk}/"]


@pytest.mark.parametrize("name", sorted(WORDS))
def test_no_alert_that_all_can_meet_speaks_of_hits(name: str) -> None:
    words: Words = WORDS[name]
    texts = ((one,) if isinstance(one, str) else one for one in (words.text, words.resolution, words.notice))
    for sentence in (words.button, *(form for forms in texts for form in forms)):
        told = str(sentence % Numbers())
        assert bool(told) is bool(sentence) and not OF_HITS.search(told), told
