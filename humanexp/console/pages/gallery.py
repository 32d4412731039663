"""The pages that participants see, side by side.

The pages are found in what the templates render, so that a new one is in the gallery at once. Nothing is stored: the
campaign is the rehearsed one, and no session stands behind a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.html import strip_tags

from analysis.study.design import PracticeDesign
from humanexp.core.errors import NotFound
from humanexp.core.keys import pseudonym
from humanexp.core.languages import PARAMETER, offer
from humanexp.entry import visitors
from humanexp.entry.admission import PlacesTaken
from humanexp.entry.pages.take import entry_shell, preview_entry, previewed_campaign
from humanexp.participation.pages.own_result import shares_tables
from humanexp.participation.selectors.own_results import KEPT_DAYS, OwnResult, OwnShares, Part
from humanexp.participation.services.leaving import questions_of
from humanexp.participation.services.setting_up import offered_window_ms, steps_of
from humanexp.recruiters.facts import facts_of
from humanexp.recruiters.models.campaigns import Campaign
from humanexp.studies.facts import bundles_of, code_in, language_of_study, languages_of, tasks_of
from humanexp.studies.models import Study
from humanexp.studies.plans import practice_of
from humanexp.studies.tasks import TASKS
from humanexp.studies.tasks.wanted import question

#: The name of a campaign, in addresses.
EXAMPLE_ENTRY = pseudonym("an example", "entry", prefix="E", length=16)
#: Trials of a round, and rounds of a task.
_TRIALS, _ROUNDS = 40, 4
#: The category that a picture is compared with.
_WANTED = "dog"


def session_of(study: Study) -> dict[str, Any]:
    """A session as its page would know it, with as many trials as an example needs."""
    tasks = tasks_of(study.configuration)
    if study.protocol is None:
        raise NotFound
    rounds = [task for task in tasks for _round in range(_ROUNDS)]
    return {
        "minutes_left": 8,
        "set_up": steps_of(study),
        "longer_window_ms": offered_window_ms(study),
        "protocol": study.protocol.configuration,
        "choices": {task: [choice.to_json() for choice in TASKS[task].in_order([])] for task in tasks},
        "blocks": [
            {"index": n, "kind": "main", "task": task, "first": n * _TRIALS, "last": (n + 1) * _TRIALS - 1}
            for n, task in enumerate(rounds)
        ],
    }


def examples_of(study: Study) -> dict[str, Any]:
    """What the page does not know of its session: codes, what was asked, and why somebody is refused."""
    return {
        "completion_code": _code("C", 8),
        "deletion_code": _code("D", visitors.LENGTH),
        "refusal": str(PlacesTaken()),
        "needed": {task: practice_of(study, task).practice_pass for task in tasks_of(study.configuration)},
        "question": question(_WANTED, study.configuration.get("wanted", {})),
        "closing": questions_of(study),
        "debrief": study.configuration.get("debrief", ""),
    }


def _code(prefix: str, length: int) -> str:
    """As long as a real one; it opens nothing."""
    return pseudonym("an example", "gallery", prefix=prefix, length=length)


#: Widths of the frames, and their heights.
SIZES = {390: 844, 768: 1024, 1280: 860}
#: Kinds of pages: where they are marked in the templates.
_MARKS = {"entry": "data-panel", "run": "data-screen"}
_HEADING = re.compile(r"<h[12][^>]*>(.*?)</h[12]>", re.S)
#: What a script shows in place of the rest of a heading.
_HIDDEN = re.compile(r"<span[^>]*\shidden>.*?</span>", re.S)
#: Pages of tasks that a study may not have.
_OF_TASK = ("instructions-", "validation")
#: Before another round of practice.
_AGAIN = "instructions-again-"
#: Pages of the set-up, and the steps of which a study must want one to have them.
_OF_STEP = {"calibration": {"size", "distance"}, "distance": {"distance"}, "greys": {"greys"}}
#: One part of the instructions.
_PART = re.compile(r"<div data-page[ >]")
#: Numbers of nobody, for the page of a participant's own result.
_EXAMPLES = (
    OwnShares(
        task="categorisation",
        answers=200,
        parts=tuple(Part(first=n, end=n + 1, of_ten=of) for n, of in enumerate((9, 7, 4, 2))),
    ),
    OwnShares(
        task="discrimination", answers=48, parts=(Part(first=0, end=1, of_ten=8), Part(first=1, end=2, of_ten=6))
    ),
    OwnShares(task="abx", answers=48, parts=(Part(first=0, end=1, of_ten=7),)),
)


@dataclass(frozen=True, kw_only=True)
class GalleryPage:
    #: kind, name, and the number of the part where it has several: "run-ready", "run-instructions-abx-2"
    key: str
    #: its heading, in the language of the page
    title: str


def pages_of(request: HttpRequest, study: Study, *, to: str, language: str) -> list[GalleryPage]:
    """In the order of the templates, which is about that of the way."""
    with translation.override(code_in(study, language)):
        found = []
        for kind, mark in _MARKS.items():
            content = _shell(request, study, kind=kind, to=to, language=language, config={}).text
            found += [page for page in _marked(content, kind, mark) if _is_met(study, page.key)]
        leave, result = GalleryPage(key="run-leave", title="Stop and leave the study?"), []
        if _examples(study):
            result = [GalleryPage(key="result", title="Your result")]
        return [*found, leave, *result]


def frame_of(request: HttpRequest, study: Study, *, key: str, to: str, language: str) -> HttpResponse:
    """One page as participants see it, with examples of what is filled in while the study runs."""
    kind, _dash, name = key.partition("-")
    name, part = (name[: -len(number[0])], int(number[1])) if (number := re.search(r"-(\d+)$", name)) else (name, 0)
    with translation.override(code_in(study, language)):
        config = {"name": name, "part": part, "task": _task(study, name)}
        config |= {"session": session_of(study), "examples": examples_of(study)}
        return _shell(request, study, kind=kind, to=to, language=language, config=config)


def _shell(
    request: HttpRequest, study: Study, *, kind: str, to: str, language: str, config: dict[str, object]
) -> HttpResponse:
    campaign = _campaign(study, to)
    offer(request, bundles_of(study))
    if kind == "result":
        found = OwnResult(shares=_examples(study))
        context = {"result": found, "tables": shares_tables(found), "study": study, "kept_days": KEPT_DAYS}
        return render(request, "participation/run/own_result.html", context)
    if kind == "entry":
        return entry_shell(request, campaign, template="console/gallery/entry.html", gallery=config)
    facts = facts_of(campaign, shows_code=True)
    return render(request, "console/gallery/run.html", {"run_config": {}, "gallery": config, "facts": facts})


def _examples(study: Study) -> tuple[OwnShares, ...]:
    """What somebody might have answered in the tasks of this study."""
    tasks = tasks_of(study.configuration)
    return tuple(one for one in _EXAMPLES if one.task in tasks)


def _campaign(study: Study, to: str) -> Campaign:
    campaign = previewed_campaign(preview_entry(study=study, to=to))
    if campaign is None:
        raise ValueError(f"{to!r} is no environment.")
    # The pages name an address of this study as they would of a real one; nothing on them can be pressed.
    campaign.entry = EXAMPLE_ENTRY
    return campaign


def _marked(content: str, kind: str, mark: str) -> Iterator[GalleryPage]:
    for section in re.split(r"(?=<section )", content)[1:]:
        name = re.search(rf'<section [^>]*{mark}="([^"]+)"', section)
        if name is None or name[1] in ("loading", "saving", "inside"):
            continue  # nothing to read
        parts = _PART.split(section.split("</section>")[0])
        for number, part in enumerate(parts[1:] or parts, start=1 if len(parts) > 1 else 0):
            heading = _HEADING.search(_HIDDEN.sub("", part))
            title = " ".join(strip_tags(heading[1]).split()) if heading else ""
            yield GalleryPage(key=f"{kind}-{name[1]}" + (f"-{number}" if number else ""), title=title)


def _is_met(study: Study, key: str) -> bool:
    """Whether a participant of this study can meet the page, as far as its tasks and its set-up say."""
    name = key.partition("-")[2]
    tasks = tasks_of(study.configuration)
    if name.startswith(_AGAIN):
        task = name.removeprefix(_AGAIN)
        return task in tasks and _has_rounds(practice_of(study, task))
    if name.startswith(_OF_TASK[0]):
        return re.sub(r"-\d+$", "", name).removeprefix(_OF_TASK[0]) in tasks
    if name == "trial":
        return any(TASKS[task].is_timed for task in tasks)
    if name in _OF_STEP:
        return not _OF_STEP[name].isdisjoint(steps_of(study))
    return name != _OF_TASK[1] or _OF_TASK[1] in tasks


def _has_rounds(practice: PracticeDesign) -> bool:
    """Whether there is another round of practice for those who do not pass the first."""
    return practice.single_practice is None and practice.practice_rounds > 1


def _task(study: Study, name: str) -> str:
    """The task that the page is about; the first one where it is about all."""
    tasks = tasks_of(study.configuration)
    return next((task for task in tasks if name.startswith(_OF_TASK[0]) and name.endswith(f"-{task}")), tasks[0])


def chosen_language(request: HttpRequest, study: Study) -> str:
    asked = request.GET.get(PARAMETER, "")
    return asked if asked in languages_of(study) else language_of_study(study)
