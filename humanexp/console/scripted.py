"""Scripted participants for a study: who they are, where they enter, and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from secrets import token_hex

from django.conf import settings

from humanexp.core.errors import StudyRefused
from humanexp.experiments.models import Population, Study
from humanexp.recruitment.models import Campaign
from humanexp.simulation.connection import PatientConnection
from humanexp.simulation.observers import ObserverModel
from humanexp.simulation.participant import OpenSession, ScriptedParticipant
from humanexp.simulation.personas import TruePicture, cast, personas
from humanexp.simulation.worker import MarketplaceWorker

#: Sessions that are answered at the same time.
SIDE_BY_SIDE = 6

Progress = Callable[[int, int], None]


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
    return {
        sha256: TruePicture(original=original, category=category, corruption=corruption, visual_change=visual_change)
        for sha256, original, category, corruption, visual_change in rows
    }


def run_participants(
    *,
    study: Study,
    campaign: Campaign,
    participants: int,
    mix: Mapping[str, float],
    seed: int,
    observers: ObserverModel,
    progress: Progress,
) -> Cast:
    """Let scripted participants take part over HTTP, from the entry to the submitted form.

    They enter one after the other, so that the n-th always gets the same session plan; their trials run side by side.
    """
    if study.population != Population.SCRIPTED:
        raise StudyRefused(f"The study {study.slug} is for people: scripted participants would mix with them.")
    kinds = personas(observers, seed)
    truth = true_pictures(study)
    entered = study.sessions.count()
    # The order of personas depends on the seed and on who has entered before.
    names = [f"S-{entered + number:04d}" for number in range(1, participants + 1)]
    persona_of = dict(zip(names, cast(mix, participants, seed + entered), strict=True))

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        answering = []
        for name in names:
            person = ScriptedParticipant(
                name=name, persona=kinds[persona_of[name]], truth=truth, connection=PatientConnection()
            )
            answering.append(pool.submit(_enter(campaign, person)))
        for done, future in enumerate(as_completed(answering), start=1):
            future.result()
            progress(done, participants)
    return Cast(persona_of=persona_of)


def _enter(campaign: Campaign, person: ScriptedParticipant) -> Callable[[], None]:
    """Open the session now; what is returned answers its trials and submits."""
    if campaign.is_link:
        session = person.open_session(f"{settings.PUBLIC_URL}/take/{campaign.entry}/")

        def answer() -> None:
            session.answer_all()

        return answer

    worker = MarketplaceWorker(site=settings.MARKETPLACE_URL, name=f"scripted-{token_hex(6)}")
    worker.sign_up()
    work = worker.accept(campaign.hit_type_id)
    opened: OpenSession = person.open_session(work["frame_url"])

    def answer_and_submit() -> None:
        worker.submit(work, opened.answer_all())

    return answer_and_submit
