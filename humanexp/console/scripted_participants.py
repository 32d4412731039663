"""Scripted participants for a study: how a command names them, where they enter, and what became of them."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from secrets import token_hex
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from django.conf import settings
from django.db import connection

from analysis.labels.conflicts import conflicts
from analysis.persons.sentinels import CUE_CONFLICT
from humanexp.core.errors import StudyRefused
from humanexp.ledger.payments import unaccepted_places
from humanexp.participation.sessions import session_for_token
from humanexp.recruiters.campaigns import campaigns_of
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.registry import kind_of
from humanexp.recruiters.states import CampaignState
from humanexp.simulation.browser import BrowserParticipant, chromium
from humanexp.simulation.observers import ObserverModel
from humanexp.simulation.participant import (
    MarketplaceWorker,
    OpenSession,
    Panellist,
    PatientConnection,
    ScriptedParticipant,
)
from humanexp.simulation.personas import PERSONAS, TruePicture, cast, personas
from humanexp.studies.models import Population, Study

#: Sessions that are answered at the same time.
SIDE_BY_SIDE = 6

Progress = Callable[[int, int], None]
Connect = Callable[[], PatientConnection]


@dataclass(frozen=True, kw_only=True)
class Cast:
    """Persona of every participant, by the name the platform gives by order of entry."""

    persona_of: Mapping[str, str]

    def counts(self) -> dict[str, int]:
        names = list(self.persona_of.values())
        return {name: names.count(name) for name in dict.fromkeys(sorted(names))}


def true_pictures(study: Study) -> dict[str, TruePicture]:
    """The stimulus manifest, by the sha256 of the bytes that a participant receives."""
    if study.stimulus_set is None:
        raise StudyRefused(f"The study {study.slug} has no stimuli: its trials were imported.")
    rows = study.stimulus_set.stimuli.values_list(
        "sha256", "source_image__key", "source_image__category", "corruption", "visual_change"
    )
    found = list(rows)
    _, textures, _ = conflicts(np.array([original for _, original, *_ in found], dtype=np.str_))
    return {
        sha256: TruePicture(
            original=original,
            category=category,
            corruption=corruption,
            visual_change=visual_change,
            texture=texture if corruption == CUE_CONFLICT.name else "",
            is_sentinel=corruption in study.stimulus_set.person_families,
        )
        for (sha256, original, category, corruption, visual_change), texture in zip(
            found, textures.tolist(), strict=True
        )
    }


def open_campaign(study: Study, participants: int) -> Campaign:
    """The newest campaign of the study in which so many scripted participants find a place.

    Raises
    ------
    StudyRefused
        Saying what to do first.
    """
    _check_population(study)
    live = [campaign for campaign in campaigns_of(study) if campaign.state == CampaignState.LIVE]
    reachable = [campaign for campaign in live if campaign.capabilities.is_own_ground]
    if not reachable:
        where = f" and is live on {live[0].environment} alone" if live else ""
        raise StudyRefused(
            f"The study {study.slug} is open to no scripted participant{where}: publish it first, for example with "
            f"`publish {study.slug} --to marketplace`."
        )
    roomy = max(reachable, key=unaccepted_places)
    free = unaccepted_places(roomy)
    if free < participants:
        raise StudyRefused(f"The study {study.slug} has {free} free places, fewer than {participants} participants.")
    return roomy


def run_participants(
    *,
    study: Study,
    campaign: Campaign,
    participants: int,
    mix: Mapping[str, float],
    seed: int,
    observers: ObserverModel,
    progress: Progress,
    connect: Connect = PatientConnection,
) -> Cast:
    """Let scripted participants take part over HTTP, from the entry to the submitted form.

    They enter one after the other, so that the n-th always gets the same session plan; their trials run side by side.
    """
    order, persona_of = _cast(study, mix, participants, seed), dict[str, str]()
    kinds, truth = personas(observers, seed, study.space), true_pictures(study)
    answering: list[Future[None]] = []
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        try:
            for kind in order:
                person = ScriptedParticipant(persona=kinds[kind], truth=truth, connection=connect())
                answer = _enter(campaign, person, connect)
                persona_of[person.name] = kind
                answering.append(pool.submit(answer))
                progress(_finished(answering), participants)
            for _ in as_completed(answering):
                progress(_finished(answering), participants)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # those who wait need not fail one by one
            raise
    return Cast(persona_of=persona_of)


def run_in_browser(
    *,
    study: Study,
    campaign: Campaign,
    participants: int,
    mix: Mapping[str, float],
    seed: int,
    observers: ObserverModel,
    progress: Progress,
) -> Cast:
    """The same people through the real pages in Chromium, one after the other, each at their own pace."""
    order, persona_of = _cast(study, mix, participants, seed), dict[str, str]()
    kinds, truth = personas(observers, seed, study.space), true_pictures(study)
    with ThreadPoolExecutor(1) as beside, chromium() as browser:
        # A browser's loop runs in this thread: questions to the database are asked in another one.
        def name_of(token: str) -> str:
            return beside.submit(_participant_of, token).result()

        for number, kind in enumerate(order):
            person = BrowserParticipant(persona=kinds[kind], truth=truth, name_of=name_of, browser=browser)
            name = f"scripted-{token_hex(6)}"
            if not campaign.capabilities.vouches:
                person.takes_link(f"{settings.PUBLIC_URL}/take/{campaign.entry}/?p={name}")
            else:
                worker = MarketplaceWorker(site=settings.MARKETPLACE_URL, name=name)
                worker.sign_up()
                work = worker.accept(campaign.hit_type_id)
                person.takes_work(f"{settings.MARKETPLACE_URL}/work/{work['assignment_id']}/", worker.cookies)
            persona_of[person.name] = kind
            progress(number + 1, participants)
    return Cast(persona_of=persona_of)


def _cast(study: Study, mix: Mapping[str, float], participants: int, seed: int) -> list[str]:
    """The kind of each participant; the order depends on the seed and on who has entered before."""
    _check_population(study)
    return cast(mix, participants, seed + study.family.participants.filter(is_scripted=True).count())


def _participant_of(token: str) -> str:
    try:
        return session_for_token(token).participant.code
    finally:
        connection.close()


def _finished(answering: Sequence[Future[None]]) -> int:
    """How many are through; raises what one of them failed with."""
    through = [future for future in answering if future.done()]
    for future in through:
        future.result()
    return len(through)


def _check_population(study: Study) -> None:
    if study.population != Population.SCRIPTED:
        raise StudyRefused(f"The study {study.slug} is for people: scripted participants would mix with them.")


def _enter(campaign: Campaign, person: ScriptedParticipant, connect: Connect) -> Callable[[], None]:
    """Open the session now; what is returned answers its trials and submits."""
    name = f"scripted-{token_hex(6)}"
    if not campaign.capabilities.vouches:
        # A name of their own, so that an entry whose reply was lost and that is repeated is one participant.
        session = _open(person, f"{settings.PUBLIC_URL}/take/{campaign.entry}/?p={name}")

        def answer() -> None:
            session.answer_all()
            session.finish_link()

        return answer

    if kind_of(campaign.environment).way == "link":
        return _enter_from_panel(campaign, person, connect)

    worker = MarketplaceWorker(site=settings.MARKETPLACE_URL, name=name, connection=connect())
    worker.sign_up()
    work = worker.accept(campaign.hit_type_id)
    opened = _open(person, work["frame_url"])

    def answer_and_submit() -> None:
        worker.submit(work, opened.answer_all())

    return answer_and_submit


def _enter_from_panel(campaign: Campaign, person: ScriptedParticipant, connect: Connect) -> Callable[[], None]:
    """The panel sends the person by an address with ids, and takes them back by another one with a code."""
    kind = kind_of(campaign.environment)
    panellist = Panellist(site=kind.address, connection=connect())
    panellist.join()
    address = panellist.start(campaign.hits.get().hit_id)
    ticket = kind.ticket(dict(parse_qsl(urlsplit(address).query)))
    opened = _open(person, address, {"workerId": ticket.person, "assignmentId": ticket.submission})

    def answer_and_come_back() -> None:
        opened.answer_all()
        panellist.come_back(opened.way_back())

    return answer_and_come_back


def _open(person: ScriptedParticipant, entry_url: str, ids: Mapping[str, str] | None = None) -> OpenSession:
    """The session, and the participant's name: the one the platform has given."""
    opened = person.open_session(entry_url, ids)
    person.name = session_for_token(opened.token).participant.code
    return opened


def whole_number(low: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or int(text) < low:
            raise ArgumentTypeError(f"{text!r} is not a whole number of at least {low}")
        return int(text)

    return parse


def persona_mix(text: str) -> dict[str, float]:
    """Shares by persona, from `careful=0.7,random=0.3`."""
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        try:
            share = float(number)
        except ValueError:
            raise ArgumentTypeError(f"{part.strip()!r} is not written like careful=0.7") from None
        if name not in PERSONAS:
            raise ArgumentTypeError(f"there is no persona {name!r}; there are {', '.join(PERSONAS)}")
        if name in shares:
            raise ArgumentTypeError(f"{name} is named twice")
        if not math.isfinite(share) or share < 0:
            raise ArgumentTypeError(f"the share of {name} is {number}: it must be a number of at least 0")
        shares[name] = share
    if not any(shares.values()):
        raise ArgumentTypeError("one share must be above 0")
    return shares
