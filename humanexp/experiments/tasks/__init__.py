"""What can be asked of a participant: each task is a module here and one of the same name in static/js/trial/tasks."""

from __future__ import annotations

from humanexp.experiments.tasks.abx import ABX
from humanexp.experiments.tasks.base import Choice, Task
from humanexp.experiments.tasks.categorisation import CATEGORISATION
from humanexp.experiments.tasks.discrimination import DISCRIMINATION
from humanexp.experiments.tasks.validation import VALIDATION

#: Every task by name. A new one is a module and a line here.
TASKS: dict[str, Task] = {task.name: task for task in (CATEGORISATION, DISCRIMINATION, ABX, VALIDATION)}

__all__ = ["TASKS", "Choice", "Task"]
