"""Sentences about what waits in a study outside its recruitment, as data."""

from __future__ import annotations

from collections.abc import Mapping

from humanexp.core.problems import Severity
from humanexp.studies.models import Action
from humanexp.studies.waiting import Words

WORDS: Mapping[str, Words] = {
    "failed-job": Words(
        text="A job has failed.",
        tone=Severity.BAD,
        resolution="Its page says why. Remove the cause and resume it.",
        actions=(Action.DESIGN, Action.REVIEW, Action.ANALYSE),
        page="console:overview",
        button="See why",
    ),
    "flagged": Words(
        text=("%(count)d session is flagged: look at it.", "%(count)d sessions are flagged: look at them."),
        resolution="Decide in Review whether it counts.",
        actions=(Action.REVIEW,),
        page="screening:review?show=flagged",
        button="Review",
    ),
    "all-finished": Words(
        text="Every planned session is finished.",
        tone=Severity.GOOD,
        resolution="Stop collecting, or make a version of the study with more sessions.",
        actions=(Action.LAUNCH,),
        page="recruitment:recruit",
        button="Stop collecting",
    ),
    "nearly-full": Words(
        text="Nearly every place of the running campaigns is taken.",
        tone=Severity.NOTE,
        resolution="Add places if more people should come.",
        actions=(Action.LAUNCH,),
        page="recruitment:recruit",
        button="Add places",
    ),
}
