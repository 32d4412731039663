"""Is it one, and could it be used as one? A picture without a time limit, a wanted category, two yes/no questions."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from humanexp.studies.tasks.base import Choice, Task
from humanexp.studies.tasks.wanted import question

VALIDATION = Task(
    name="validation",
    label=_("Is this really one, and could it be used as one?"),
    # Both questions are answered on one screen: the answer is the pair of answers.
    choices=(
        Choice(name="yes-yes", label=_("It is one, and could be used as one")),
        Choice(name="yes-no", label=_("It is one, but could not be used as one")),
        Choice(name="no-yes", label=_("It is none, but could be used as one")),
        Choice(name="no-no", label=_("It is none")),
    ),
    showings=1,
    is_timed=False,
    ask=question,
    sentinels={
        "gold": _("a plain example; yes to both is required"),
        "negative": _("a picture that plainly lacks the wanted object; yes fails"),
        "consistency": _("shown twice; both answers must be equal"),
    },
)
