"""Studies: drafts, publication, places, costs."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from humanexp.sites.panel.actions import (
    change_study,
    clone_study,
    create_study,
    delete_study,
    transition_study,
)
from humanexp.sites.panel.api.bodies import StudyAction, StudyTerms
from humanexp.sites.panel.api.protocol import Call, created, endpoint, iso, listed, numbered_page, read, shown_status
from humanexp.sites.panel.errors import Refused, invalid
from humanexp.sites.panel.models import ParticipantGroup, Project, Study
from humanexp.sites.panel.studies import places_taken, project_of, studies_of, study_of
from humanexp.sites.panel.wallet import Cost, cost_in, study_cost


def _short_json(study: Study) -> dict[str, Any]:
    return {
        "id": study.study_id,
        "name": study.name,
        "internal_name": study.terms["internal_name"],
        "status": shown_status(study.status),
        "study_type": "SINGLE",
        "estimated_completion_time": study.terms["estimated_completion_time"],
        "total_available_places": study.places,
        "places_taken": places_taken(study),
        "number_of_submissions": study.submissions.count(),
        "reward": study.reward_cents,
        "total_cost": (cost_in(study.project.workspace, study.reward_cents) * study.places).total,
        "published_at": iso(study.published_at),
        "publish_at": iso(study.due_at) if study.status == "SCHEDULED" else None,
        "date_created": iso(study.created_at),
        "is_ready_to_publish": True,
    }


def _json(study: Study) -> dict[str, Any]:
    terms = {**study.terms, "project": study.project.project_id}
    return {**terms, **_short_json(study), "researcher": {"id": study.project.workspace.researcher.researcher_id}}


def _state_filter(call: Call) -> list[str]:
    """`state=(ACTIVE|PAUSED)`, or one word."""
    return [one for one in call.query("state").strip("()").upper().replace("_", " ").split("|") if one]


def _studies(call: Call) -> dict[str, Any]:
    rows = studies_of(call.researcher).order_by("pk")
    states = _state_filter(call)
    return listed(call, rows.filter(status__in=states) if states else rows, _short_json)


def _studies_of_project(call: Call, project_id: str) -> dict[str, Any]:
    rows = studies_of(call.researcher).filter(project=project_of(call.researcher, project_id))
    first = "-" if call.query("ordering").startswith("-") else ""
    return numbered_page(call, rows.order_by(f"{first}created_at", f"{first}pk"), _short_json)


def _terms(project: Project, wanted: StudyTerms) -> dict[str, Any]:
    terms = wanted.model_dump(mode="json", exclude={"project"})
    named = {
        action["participant_group"]
        for code in terms["completion_codes"]
        for action in code["actions"]
        if "participant_group" in action
    }
    known = ParticipantGroup.objects.filter(workspace=project.workspace, group_id__in=named)
    if known.count() < len(named):
        raise Refused(400, "Validation error", {"completion_codes": ["A participant group does not exist."]})
    return terms


def _create(call: Call) -> HttpResponse:
    """Without a project, the first of the account."""
    wanted: StudyTerms = call.body
    if wanted.project:
        project = project_of(call.researcher, wanted.project)
    else:
        project = Project.objects.filter(workspace__researcher=call.researcher).order_by("pk")[0]
    return created(_json(create_study(project, _terms(project, wanted), call.now)))


def _study(call: Call, study_id: str) -> dict[str, Any]:
    return _json(study_of(call.researcher, study_id))


def _change(call: Call, study_id: str) -> dict[str, Any]:
    study = study_of(call.researcher, study_id)
    changes: dict[str, Any] = call.body
    if changes.get("project", study.project.project_id) != study.project.project_id:
        raise invalid("project", "A study stays in its project.")
    terms = _terms(study.project, read(StudyTerms, {**study.terms, **changes}))
    return _json(change_study(study, terms, set(changes) - {"project"}, call.now))


def _delete(call: Call, study_id: str) -> HttpResponse:
    delete_study(study_of(call.researcher, study_id))
    return HttpResponse(status=204)


def _transition(call: Call, study_id: str) -> dict[str, Any]:
    wanted: StudyAction = call.body
    study = study_of(call.researcher, study_id)
    return _json(transition_study(study, wanted.action, call.now, wanted.publish_at))


def _clone(call: Call, study_id: str) -> dict[str, Any]:
    blocks = call.body.block_previous_participants
    return _json(clone_study(study_of(call.researcher, study_id), blocks_previous=blocks, now=call.now))


def _cost(call: Call, study_id: str) -> dict[str, Any]:
    study = study_of(call.researcher, study_id)
    rewards, bonuses = study_cost(study, is_projected=call.query("is_projected") == "true")
    currency = study.project.workspace.currency

    def shown(cost: Cost) -> dict[str, Any]:
        parts = {"rewards": cost.amount, "fees": cost.fees, "tax": cost.vat}
        return {name: {"amount": amount, "currency": currency} for name, amount in parts.items()}

    return {"rewards": shown(rewards), "bonuses": shown(bonuses)}


studies = endpoint(GET=_studies, POST=_create)
studies_of_project = endpoint(GET=_studies_of_project)
study = endpoint(GET=_study, PATCH=_change, DELETE=_delete)
transition = endpoint(POST=_transition)
clone = endpoint(POST=_clone)
cost = endpoint(GET=_cost)
