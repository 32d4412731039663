"""Sentences about what waits in a study outside its recruitment, as data."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import ngettext_lazy

from humanexp.recruiting.alert_words import Words
from humanexp.studies.roles import Action

WORDS: Mapping[str, Words] = {
    "failed-job": Words(
        text="A job has failed.",
        tone="bad",
        resolution="Its page says why. Remove the cause and resume it.",
        actions=(Action.DESIGN, Action.REVIEW, Action.ANALYSE),
        page="console:overview",
        button="See why",
    ),
    "flagged": Words(
        text=ngettext_lazy(
            "%(count)d session is flagged: look at it.", "%(count)d sessions are flagged: look at them.", "count"
        ),
        resolution="Decide in Review whether it counts.",
        actions=(Action.REVIEW,),
        page="screening:review?show=flagged",
        button="Review",
    ),
    "all-finished": Words(
        text="Every planned session is finished.",
        tone="good",
        resolution="Stop collecting, or make a version of the study with more sessions.",
        actions=(Action.LAUNCH,),
        page="recruitment:recruit",
        button="Stop collecting",
    ),
    "nearly-full": Words(
        text="Nearly every place of the running campaigns is taken.",
        tone="note",
        resolution="Add places if more people should come.",
        actions=(Action.LAUNCH,),
        page="recruitment:recruit",
        button="Add places",
    ),
}
