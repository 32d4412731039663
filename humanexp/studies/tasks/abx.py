"""A's corruption or B's? Three pictures matched in visual change, one after the other: A, B, then X."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from humanexp.studies.tasks.base import Choice, Task

ABX = Task(
    name="abx",
    label=_("A's corruption or B's?"),
    choices=(Choice(name="a", label=_("A, the first")), Choice(name="b", label=_("B, the second"))),
    showings=3,
    is_timed=True,
    sentinels={
        "negative": _(
            "A and B are of two functions that differ plainly and that no one compares; the wrong answer fails"
        )
    },
)
