"""The way of a first study, from pictures to people beside a network: what is done, and what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.http import urlencode

from humanexp.console.preflight.check import newest_of
from humanexp.core.models import User
from humanexp.core.pages.navigation import tab_address
from humanexp.evaluations.selectors import completed_runs
from humanexp.evaluations.specs import offered_specs
from humanexp.participation.sessions import session_counts
from humanexp.results.selectors import latest_run
from humanexp.stimuli.selectors.sources import has_pictures
from humanexp.studies.models import Origin, Population, Study, StudyState
from humanexp.studies.selectors import has_stimuli, visible_to


@dataclass(frozen=True)
class Stage:
    """One stage of the way: its name, what is done there, and the page where it is done."""

    name: str
    text: str
    action: str
    url: str
    is_done: bool


@dataclass(frozen=True)
class Way:
    stages: list[Stage]
    #: the stage to do next
    now: Stage
    #: a study that scripted participants have answered, to look through
    example: Study | None


def way_of(user: User | AnonymousUser) -> Way | None:
    """How far the researcher's first study with people has come; None once there is a second, or all is done."""
    seen = visible_to(user).filter(origin=Origin.COLLECTED)
    own = list(seen.filter(population=Population.PEOPLE)[:2])
    if len(own) > 1:
        return None
    stages = [*_pictures(), *_stages(next(iter(own), None))]
    now = next((stage for stage in stages if not stage.is_done), None)
    if now is None:
        return None
    scripted = seen.filter(population=Population.SCRIPTED).order_by("-pk")
    return Way(stages, now, next((study for study in scripted[:5] if latest_run(study)), None))


def _pictures() -> Iterator[Stage]:
    yield Stage(
        "Pictures",
        "A folder or a zip archive with a subfolder for each category. Each picture is checked.",
        "Import pictures",
        reverse("stimuli:new_source"),
        has_pictures(),
    )
    yield Stage(
        "Stimuli",
        "Choose corruptions and a number. Pictures are made over the whole range of visible change.",
        "Make a stimulus set",
        reverse("stimuli:new"),
        has_stimuli(),
    )


def _stages(study: Study | None) -> Iterator[Stage]:
    """What belongs to one study; without one, every address but that of the form is empty."""
    yield Stage(
        "Study",
        "Start from the rehearsal: two short sessions with everything in them.",
        "Make the first study",
        f"{reverse('studies:new')}?start=rehearsal",
        study is not None,
    )
    slug = study.slug if study is not None else ""
    is_launched = study is not None and study.state != StudyState.DRAFT
    newest = newest_of(study) if study is not None and not is_launched else None
    yield Stage(
        "Pre-flight",
        "A scripted participant takes the study in a browser before anybody is invited.",
        "Try it out",
        reverse("console:preflight", args=[slug]) if slug else "",
        is_launched or (newest is not None and newest.is_green),
    )
    finished = session_counts(study)["completed"] if study is not None and is_launched else 0
    yield Stage(
        "People",
        "Open a link and take the study yourself, or invite people.",
        "Invite people" if not is_launched else "Watch it",
        tab_address("monitor" if is_launched else "recruit", slug) if slug else "",
        finished > 0,
    )
    shown = study.stimulus_set if study is not None else None
    yield Stage(
        "A network",
        "It classifies the same pictures. One is there; others come by name or as a file.",
        "Evaluate a model",
        _evaluation_address(shown.pk) if shown is not None else "",
        shown is not None and completed_runs(shown).exists(),
    )
    yield Stage(
        "Results",
        "Curves of people and network on one axis, with intervals.",
        "Run the analysis",
        tab_address("results", slug) if slug else "",
        finished > 0 and study is not None and latest_run(study) is not None,
    )


def _evaluation_address(stimulus_set: int) -> str:
    offered = offered_specs()
    filled = {"stimulus_set": stimulus_set} | ({"spec": offered[0]} if offered else {})
    return f"{reverse('evaluations:new')}?{urlencode(filled)}"
