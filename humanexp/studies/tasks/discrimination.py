"""Same corruption or not? Two pictures matched in visual change, one after the other."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from humanexp.studies.tasks.base import Choice, Task

DISCRIMINATION = Task(
    name="discrimination",
    label=_("Same corruption or not?"),
    choices=(Choice(name="same", label=_("Same")), Choice(name="different", label=_("Different"))),
    showings=2,
    is_timed=True,
    sentinels={
        "negative": _("one or two functions that differ plainly and that no one compares; the wrong answer fails")
    },
)
