"""What the page measures and asks before practice, where the study wants it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from analysis.spec import StudyConfiguration
from analysis.tables.setup import ITEMS
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, SessionClosed
from humanexp.participation import selectors
from humanexp.participation.credentials import SessionClaim
from humanexp.participation.models import SessionState, SetUp
from humanexp.participation.services.answering import check_lease
from humanexp.studies.models import Study

#: Items that every study has.
_ALWAYS = ("window_px", "screen_px", "dpr", "zoom", "refresh_hz")
#: Items of the steps that a study can want.
_OF_STEP: Mapping[str, tuple[str, ...]] = {
    "size": ("px_per_mm",),
    "distance": ("px_per_mm", "distance_mm"),
    "brightness": ("dark_steps", "bright_steps"),
}


def steps_of(study: Study) -> tuple[str, ...]:
    """Names of the steps of the set-up that the study wants."""
    configuration = StudyConfiguration.from_dict(study.configuration)
    return (*(("size",) if configuration.calibrate_size else ()), *configuration.setup.steps)


@transaction.atomic
def store_set_up(*, claim: SessionClaim, lease: str, given: Mapping[str, Any]) -> SetUp:
    """Keep what a set-up found, each item with how it is known. Whoever comes back on another screen is set up anew."""
    session = selectors.session_of(claim)
    check_lease(session, lease)
    if session.state != SessionState.OPEN or session.left_at is not None:
        raise SessionClosed
    items = items_of(session.study, given)
    return SetUp.objects.update_or_create(session=session, defaults={"items": items, "stored_at": clock.now()})[0]


def items_of(study: Study, given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The items as they are stored; refused where the study does not ask for one."""
    asked = {*_ALWAYS, *(item for step in steps_of(study) for item in _OF_STEP.get(step, (step,)))}
    for item in given:
        if item not in asked:
            raise InvalidRequest("The study does not ask this.", fields={item: "is not asked"})
    return {item: {"how": ITEMS[item].how, "value": value} for item, value in given.items() if value is not None}
