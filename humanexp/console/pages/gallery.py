"""The pages that participants of a study see, one below the other: to read, to print, and for an ethics board.

The route of the preview draws each of them in a frame, with examples of what is filled in while a study runs. Which
pages there are is read off the shells of the entry page and of the run, so that a new one is listed at once. Nothing is
stored, and no session is behind a page.
"""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation

from humanexp.core.errors import NotFound
from humanexp.core.languages import PARAMETER, code_of, languages
from humanexp.core.names import pseudonym
from humanexp.entry import identity
from humanexp.entry.admission import PlacesTaken
from humanexp.entry.pages import entry_shell, preview_entry, previewed_campaign
from humanexp.participation.endings import questions_of
from humanexp.participation.own_curves import KEPT_DAYS, TASKS as WITH_RESULT, AnswerGroup, OwnResult, OwnShares
from humanexp.participation.pages.views import shares_tables
from humanexp.participation.set_ups import offered_window_ms, steps_of
from humanexp.recruiters.campaigns import facts_of
from humanexp.studies.facts import language_of_study, own_words_of, tasks_of
from humanexp.studies.models import Study
from humanexp.studies.plans import practice_of
from humanexp.studies.tasks import TASKS, answers_of, question

#: Widths of a frame, px.
WIDTHS = (768, 390, 1280)
#: Attributes that mark the pages of the two shells.
_MARKS = {"entry": "data-panel", "run": "data-screen"}
#: Nothing to read on them.
_LEFT_OUT = ("loading", "saving", "inside")
#: Trials of a round, and rounds of a task.
_TRIALS, _ROUNDS = 40, 4
#: Steps of the set-up, one of which a study must have for a page.
_STEPS = {"calibration": {"size", "distance"}, "distance": {"distance"}, "greys": {"greys"}}


class _Shell(HTMLParser):
    """The pages that are marked in a shell, in its order, and of each the number of its parts."""

    def __init__(self, mark: str, *, without: str = "") -> None:
        """`without`: the attribute of parts that are not met."""
        super().__init__()
        self.mark, self.without, self.name, self.parts = mark, without, "", dict[str, int]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "section":
            self.name = given.get(self.mark) or ""
        if tag == "section" or (tag == "div" and "data-page" in given and self.without not in given):
            self.parts[self.name] = self.parts.get(self.name, -1) + 1


def pages_of(request: HttpRequest, study: Study, *, to: str, language: str) -> list[str]:
    """Kind, name, and the number of the part of a page that has several: "run-ready", "run-instructions-abx-2"."""
    found = []
    for kind, mark in _MARKS.items():
        shell = _Shell(mark, without="data-usual" if own_words_of(study)["instructions_shown"] else "")
        shell.feed(page_of(request, study, f"{kind}-", to=to, language=language).text)
        for name, parts in shell.parts.items():
            if name and name not in _LEFT_OUT and _is_met(study, name):
                found += [f"{kind}-{name}-{n + 1}" for n in range(parts)] or [f"{kind}-{name}"]
    has_result = not set(tasks_of(study.configuration)).isdisjoint(WITH_RESULT)
    return [*found, "run-leave", *(["result-"] if has_result else [])]


def page_of(request: HttpRequest, study: Study, key: str, *, to: str, language: str) -> HttpResponse:
    """One page as participants see it; a key without a name draws the shell."""
    kind, _dash, name = key.partition("-")
    head, _dash, part = name.rpartition("-")
    name, number = (head, int(part)) if part.isdecimal() else (name, 0)
    campaign = previewed_campaign(preview_entry(study=study, to=to))
    if campaign is None or kind not in (*_MARKS, "result"):
        raise NotFound
    campaign.entry = pseudonym("an example", "entry", prefix="E", length=16)  # as long as a real one; it opens nothing
    with translation.override(code_of(language)):
        if kind == "result":
            found = OwnResult(shares=tuple(_shares(one) for one in WITH_RESULT if one in tasks_of(study.configuration)))
            result = {"result": found, "tables": shares_tables(found), "study": study, "kept_days": KEPT_DAYS}
            return render(request, "participation/run/own_result.html", result)
        shown = {"gallery": {"name": name, "part": number, **_filled_in(study, name)}}
        if kind == "entry":
            return entry_shell(request, campaign, template="console/gallery/entry.html", **shown)
        facts = facts_of(campaign, shows_code=True)
        return render(request, "console/gallery/run.html", {"run_config": {}, "facts": facts, **shown})


def _filled_in(study: Study, name: str) -> dict[str, Any]:
    """A session as its page would know it, the task that the page is about, and examples of codes and questions."""
    tasks = tasks_of(study.configuration)
    rounds = [task for task in tasks for _round in range(_ROUNDS)]
    first = [n * _TRIALS for n in range(len(rounds))]
    session = {
        "minutes_left": 8, "set_up": steps_of(study), "longer_window_ms": offered_window_ms(study),
        "protocol": study.protocol.configuration if study.protocol else {},
        **own_words_of(study),
        **answers_of(study, tasks),
        "blocks": [
            {"index": n, "kind": "main", "task": task, "first": first[n], "last": first[n] + _TRIALS - 1}
            for n, task in enumerate(rounds)
        ],
    }  # fmt: skip
    asked = "dog" if "dog" in study.space else study.space.ids[0]
    examples = {
        "completion_code": pseudonym("an example", "gallery", prefix="C", length=8),
        "deletion_code": pseudonym("an example", "gallery", prefix="D", length=identity.LENGTH),
        "refusal": str(PlacesTaken()), "question": question(asked, study.configuration, study.space),
        "needed": {task: practice_of(study, task).practice_pass for task in tasks},
        "closing": questions_of(study), "debrief": study.configuration.get("debrief", ""),
    }  # fmt: skip
    about = [task for task in tasks if name.startswith("instructions-") and name.endswith(f"-{task}")]
    return {"task": (about or tasks)[0], "session": session, "examples": examples}


def _shares(task: str) -> OwnShares:
    """What somebody might have answered."""
    parts = (AnswerGroup(first=0, end=1, of_ten=8), AnswerGroup(first=1, end=2, of_ten=6))
    # Answers of ABX are not told apart by what is right.
    return OwnShares(task=task, answers=48, parts=parts[:1] if task == "abx" else parts)


def _is_met(study: Study, name: str) -> bool:
    """Whether a participant of this study can meet the page, as far as its tasks and its set-up say."""
    tasks = tasks_of(study.configuration)
    if name.startswith("instructions-again-"):
        task = name.removeprefix("instructions-again-")
        practice = practice_of(study, task) if task in tasks else None
        return practice is not None and practice.single_practice is None and practice.practice_rounds > 1
    if name.startswith("instructions-"):
        return name.removeprefix("instructions-") in tasks
    if name in _STEPS:
        return not _STEPS[name].isdisjoint(steps_of(study))
    needed = {"trial": any(TASKS[task].is_timed for task in tasks), "validation": "validation" in tasks}
    return needed.get(name, True)


def chosen_language(request: HttpRequest, study: Study) -> str:
    asked = request.GET.get(PARAMETER, "")
    return asked if asked in languages() else language_of_study(study)
