"""A researcher's writes on studies. Callers hold a transaction."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from humanexp.sites.panel.errors import Refused, invalid, wrong_state
from humanexp.sites.panel.models.people import Project
from humanexp.sites.panel.models.studies import Study
from humanexp.sites.panel.models.switches import Switches
from humanexp.sites.panel.selectors.studies import places_taken
from humanexp.sites.panel.selectors.wallet import least_hourly_cents
from humanexp.sites.panel.services.payments import require_solvent
from humanexp.sites.panel.services.progress import move_study
from humanexp.sites.panel.states import DRAFTS, STUDY_TRANSITIONS, StudyStatus

#: The rest cannot change after publication.
CHANGEABLE = frozenset({"internal_name", "total_available_places", "submissions_config", "access_details"})


def create(project: Project, terms: Mapping[str, Any], now: datetime) -> Study:
    _require_minimum_rate(project, terms)
    return Study.objects.create(
        project=project,
        terms=dict(terms),
        reward_cents=terms["reward"],
        places=terms["total_available_places"],
        created_at=now,
    )


def change(study: Study, terms: Mapping[str, Any], named: set[str], now: datetime) -> Study:
    """`terms` are all of them, with those that the call `named` changed."""
    if study.status not in DRAFTS:
        late = sorted(name for name in named - CHANGEABLE if terms.get(name) != study.terms.get(name))
        if late:
            raise Refused(
                400,
                "Validation error",
                {name: ["This field cannot change after the study is published."] for name in late},
            )
        if terms["total_available_places"] < study.places:
            raise invalid("total_available_places", "The number of places can only increase.")
    _require_minimum_rate(study.project, terms)
    gains = terms["total_available_places"] > study.places
    study.terms, study.reward_cents, study.places = dict(terms), terms["reward"], terms["total_available_places"]
    study.save()
    if study.status not in DRAFTS:
        if gains and study.status in (StudyStatus.AWAITING_REVIEW, StudyStatus.COMPLETED):
            move_study(study, StudyStatus.ACTIVE, now)
        require_solvent(study.project.workspace)
    return study


def delete(study: Study) -> None:
    if study.status not in DRAFTS:
        raise wrong_state("Only a draft can be deleted.")
    study.delete()


def transition(study: Study, action: str, now: datetime, publish_at: datetime | None) -> Study:
    target = STUDY_TRANSITIONS.get((StudyStatus(study.status), action))
    if target is None:
        raise wrong_state(f"{action} is not possible while the study is {study.status}.")
    switches = Switches.current()
    if action == "SCHEDULE_PUBLISH":
        if publish_at is None or publish_at <= now:
            raise invalid("publish_at", "A time in the future is needed.")
        wait = (publish_at - now).total_seconds()
        study = move_study(study, target, now, after_s=wait, then=StudyStatus.ACTIVE)
    elif action == "PUBLISH":
        study = move_study(study, StudyStatus.PUBLISHING, now, after_s=switches.publishing_s, then=target)
    elif action == "STOP":
        end = StudyStatus.AWAITING_REVIEW if switches.stop_awaits_review else target
        if switches.processing_s:
            study = move_study(study, StudyStatus.PROCESSING, now, after_s=switches.processing_s, then=end)
        else:
            study = move_study(study, end, now)
    else:
        if target is StudyStatus.ACTIVE and places_taken(study) >= study.places:
            raise wrong_state("Every place is taken: there is none to open again.")
        study = move_study(study, target, now)
    if action == "PUBLISH":
        require_solvent(study.project.workspace)
    return study


def clone(study: Study, *, blocks_previous: bool, now: datetime) -> Study:
    """A draft with the same terms; by default it is closed to people who took part in the original."""
    terms = {**study.terms, "name": f"{study.name} Copy"}
    if blocks_previous:
        block = {"filter_id": "previous_studies_blocklist", "selected_values": [study.study_id]}
        terms["filters"] = [*terms["filters"], block]
    return create(study.project, terms, now)


def _require_minimum_rate(project: Project, terms: Mapping[str, Any]) -> None:
    least = least_hourly_cents(project.workspace.currency)
    if terms["reward"] * 60 < least * terms["estimated_completion_time"]:
        raise invalid("reward", f"The reward is below the minimum of {least} an hour.")
