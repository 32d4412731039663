"""What can be asked of a participant: a module for each task here, and one in `static/js/participation/trial/tasks`."""

from __future__ import annotations

from humanexp.studies.tasks.abx import ABX
from humanexp.studies.tasks.base import Choice, Task
from humanexp.studies.tasks.categorisation import CATEGORISATION
from humanexp.studies.tasks.discrimination import DISCRIMINATION
from humanexp.studies.tasks.validation import VALIDATION

#: Every task by name. docs/tasks.md says how one is added.
TASKS: dict[str, Task] = {}


def register(task: Task) -> None:
    """Make a task known; its name must be new, and its choices tell each other apart."""
    if task.name in TASKS:
        raise ValueError(f"There is a task {task.name!r} already.")
    if len({choice.name for choice in task.choices}) < len(task.choices):
        raise ValueError(f"The task {task.name!r} has two choices of one name.")
    TASKS[task.name] = task


for _task in (CATEGORISATION, DISCRIMINATION, ABX, VALIDATION):
    register(_task)

__all__ = ["TASKS", "Choice", "Task", "register"]
