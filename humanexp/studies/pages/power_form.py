from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext_lazy as _

from humanexp.studies.power.question import LIMITS, PlannedAnswers, PowerQuestion

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    Text = str | _StrPromise


def _whole(name: str, label: Text, help_text: Text = "") -> forms.IntegerField:
    low, high = LIMITS[name]
    return forms.IntegerField(label=label, min_value=int(low), max_value=int(high), help_text=help_text)


def _number(name: str, label: Text, help_text: Text = "") -> forms.FloatField:
    low, high = LIMITS[name]
    widget = forms.NumberInput(attrs={"step": "any"})
    return forms.FloatField(label=label, min_value=low, max_value=high, help_text=help_text, widget=widget)


class PowerForm(forms.Form):
    """A question of power; what the design says stands in it already."""

    difference = _number(
        "difference",
        _("Difference that matters"),
        _("Between the areas under the curves of two corruptions, from 0 to 1."),
    )
    people = _whole("people", _("People whose sessions count"), _("Planned, less those whom the rules will exclude."))
    bend = _number("bend", _("Accuracy is half-way down at Δv"))
    image_sd = _number("image_sd", _("Spread of pictures, logits"))
    participant_sd = _number("participant_sd", _("Spread of people, logits"))
    runs = _whole("runs", _("Simulated studies of each size"))
    seed = _whole("seed", _("Seed"))

    def __init__(self, given: Any = None, *, planned: PlannedAnswers) -> None:
        super().__init__(given, initial=PowerQuestion(people=planned.people).to_dict())

    def believed(self) -> Iterator[BoundField]:
        """What stands behind the question: believed of people, and of the simulation."""
        return (self[name] for name in ("bend", "image_sd", "participant_sd", "runs", "seed"))

    @property
    def question(self) -> PowerQuestion:
        """What is asked, from a valid form."""
        return PowerQuestion(**self.cleaned_data)
