"""Which of 16 categories? One picture for the protocol's time, then a mask and the grid of categories."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.labels.files import default_labels
from humanexp.studies.tasks.base import Choice, Task

CATEGORISATION = Task(
    name="categorisation",
    label=_("Which of 16 categories?"),
    choices=tuple(
        Choice(name=name, label=label, icon=f"icons/{name}.svg")
        for name, label in zip(
            default_labels().in_grid,
            (
                _("Knife"),
                _("Bicycle"),
                _("Bear"),
                _("Truck"),
                _("Airplane"),
                _("Clock"),
                _("Boat"),
                _("Car"),
                _("Keyboard"),
                _("Oven"),
                _("Cat"),
                _("Bird"),
                _("Elephant"),
                _("Chair"),
                _("Bottle"),
                _("Dog"),
            ),
            strict=True,
        )
    ),
    showings=1,
    is_timed=True,
    sentinels={
        "gold": _("a clean, easy picture; the right answer is required"),
        "negative": _("a clean picture; an answer from the other group (animal, artefact) fails"),
        "consistency": _("a clean or lightly changed picture, shown twice; the answer must not change"),
    },
)
