"""Who may see which jobs. An app that knows what jobs are about registers a rule; lists of jobs ask every rule."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from django.contrib.auth.models import AnonymousUser

from humanexp.core.models import User
from humanexp.jobs.models import Job


class Rule(Protocol):
    def __call__(self, user: User | AnonymousUser, jobs: Sequence[Job]) -> Collection[int]:
        """Primary keys of the jobs that this user may see."""


_RULES: list[Rule] = []


def register(rule: Rule) -> None:
    _RULES.append(rule)


def shown_to(user: User | AnonymousUser, jobs: Sequence[Job]) -> list[Job]:
    """The jobs that no rule keeps from this user, in their order."""
    shown = list(jobs)
    for rule in _RULES:
        seen = set(rule(user, shown))
        shown = [job for job in shown if job.pk in seen]
    return shown
