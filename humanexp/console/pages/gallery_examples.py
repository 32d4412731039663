"""What is filled in while a study runs, as examples: numbers and codes of nobody, and the study's own settings."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from humanexp.core.errors import NotFound
from humanexp.core.keys import pseudonym
from humanexp.entry import visitors
from humanexp.entry.admission import PlacesTaken
from humanexp.participation.services.closing import questions_of
from humanexp.participation.services.setting_up import offered_window_ms, steps_of
from humanexp.studies.facts import tasks_of
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
        "refusal": _(str(PlacesTaken())),
        "needed": {task: practice_of(study, task).practice_pass for task in tasks_of(study.configuration)},
        "question": question(_WANTED, study.configuration.get("wanted", {})),
        "closing": questions_of(study),
        "debrief": study.configuration.get("debrief", ""),
    }


def _code(prefix: str, length: int) -> str:
    """As long as a real one; it opens nothing."""
    return pseudonym("an example", "gallery", prefix=prefix, length=length)
