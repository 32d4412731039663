"""What calls may say. Fields that the service has and the panel does not know are ignored, as there."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, HttpUrl, field_validator, model_validator

from humanexp.panel.selectors.filters import FILTERS
from humanexp.panel.states import REJECTION_CATEGORIES

#: Minutes; a limit is always under a day.
_LONGEST = 24 * 60 - 1
_SHORTEST_REASON = 100
#: Offered to selected workspaces only; the panel's are not among them.
_NOT_ENABLED = {"FIXED_SCREEN_OUT_PAYMENT", "DYNAMIC_PAYMENT"}
_GROUP_ACTIONS = {"ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP"}
_ACTIONS = {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "REQUEST_RETURN"} | _GROUP_ACTIONS
_KINDS = {one["filter_id"]: one["type"] for one in FILTERS}

Id = Annotated[str, Field(min_length=1, max_length=200)]


class CompletionCode(BaseModel):
    code: Annotated[str, Field(min_length=1, max_length=200)]
    code_type: str
    actions: list[dict[str, Any]] = []
    actor: Literal["participant", "researcher"] = "participant"

    @field_validator("actions")
    @classmethod
    def _known(cls, actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for one in actions:
            name = one.get("action")
            if name in _NOT_ENABLED:
                raise ValueError(f"{name} is not enabled for this workspace.")
            if name not in _ACTIONS:
                raise ValueError(f"{name!r} is not an action.")
            if name in _GROUP_ACTIONS and not one.get("participant_group"):
                raise ValueError(f"{name} needs a participant_group.")
        return actions


class SubmissionsConfig(BaseModel):
    max_submissions_per_participant: int | None = 1
    max_concurrent_submissions: int | None = -1
    auto_rejection_categories: list[str] = []


class StudyTerms(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=200)]
    internal_name: str | None = None
    description: Annotated[str, Field(min_length=1)]
    external_study_url: str
    prolific_id_option: Literal["question", "url_parameters", "not_required"]
    completion_codes: Annotated[list[CompletionCode], Field(min_length=1)]
    total_available_places: Annotated[int, Field(ge=1)]
    estimated_completion_time: Annotated[int, Field(ge=1)]
    maximum_allowed_time: Annotated[int, Field(le=_LONGEST)] | None = None
    reward: Annotated[int, Field(ge=1)]
    device_compatibility: list[Literal["desktop", "tablet", "mobile"]] = []
    peripheral_requirements: list[Literal["audio", "camera", "download", "microphone"]] = []
    filters: list[dict[str, Any]] = []
    project: Id | None = None
    submissions_config: SubmissionsConfig = SubmissionsConfig()
    study_labels: list[str] = []
    content_warnings: list[Literal["sensitive", "explicit"]] = []
    content_warning_details: str = ""
    metadata: str | None = None
    naivety_distribution_rate: float | None = 0
    access_details: list[Any] | None = None
    is_external_study_url_secure: bool = False

    @field_validator("external_study_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        HttpUrl(url.replace("{{%", "").replace("%}}", ""))
        return url

    @field_validator("completion_codes")
    @classmethod
    def _unique(cls, codes: list[CompletionCode]) -> list[CompletionCode]:
        if len({one.code for one in codes}) < len(codes):
            raise ValueError("Codes must be unique within a study.")
        return codes

    @field_validator("filters")
    @classmethod
    def _known(cls, filters: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for one in filters:
            check_filter(one)
        return filters

    @model_validator(mode="after")
    def _long_enough(self) -> StudyTerms:
        estimated = self.estimated_completion_time
        shortest = math.ceil(2 + 2 * estimated + 2 * math.sqrt(estimated))
        if self.maximum_allowed_time is None:
            self.maximum_allowed_time = min(shortest, _LONGEST)
        elif self.maximum_allowed_time < shortest:
            raise ValueError(f"maximum_allowed_time must be at least {shortest} minutes for this estimated time.")
        return self


def check_filter(one: dict[str, Any]) -> None:
    name = one.get("filter_id")
    if name in ("and", "or"):
        for part in one.get("selected_filters", []):
            check_filter(part)
        if not one.get("selected_filters"):
            raise ValueError(f"{name} needs selected_filters.")
        return
    kind = _KINDS.get(str(name))
    if kind is None:
        raise ValueError(f"{name!r} is not a filter: GET /api/v1/filters/ lists them.")
    if kind == "select" and not isinstance(one.get("selected_values"), list):
        raise ValueError(f"{name} needs selected_values.")
    if kind == "range" and not {"lower", "upper"} <= set(one.get("selected_range") or {}):
        raise ValueError(f"{name} needs selected_range with lower and upper.")


class StudyAction(BaseModel):
    action: Literal["PUBLISH", "SCHEDULE_PUBLISH", "CANCEL_PUBLISH", "PAUSE", "START", "STOP"]
    publish_at: datetime | None = None


class Clone(BaseModel):
    block_previous_participants: bool = True


class CostQuestion(BaseModel):
    reward: Annotated[int, Field(ge=1)]
    total_available_places: Annotated[int, Field(ge=1)]


class Filtered(BaseModel):
    filters: list[dict[str, Any]]
    workspace_id: Id | None = None

    @field_validator("filters")
    @classmethod
    def _known(cls, filters: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for one in filters:
            check_filter(one)
        return filters


class NewProject(BaseModel):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""


class NewGroup(BaseModel):
    workspace_id: Id
    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""
    participant_ids: list[Id] = []


class People(BaseModel):
    participant_ids: list[Id]


class SubmissionAction(BaseModel):
    action: Literal["APPROVE", "COMPLETE", "REJECT", "RETURN", "START", "SCREEN_OUT", "UNREJECT", "UNRETURN"]
    message: str = ""
    rejection_category: str = ""
    completion_code: str = ""

    @model_validator(mode="after")
    def _says_why(self) -> SubmissionAction:
        if self.action == "REJECT":
            if len(self.message) < _SHORTEST_REASON:
                raise ValueError(f"A rejection needs a message of at least {_SHORTEST_REASON} characters.")
            if self.rejection_category not in REJECTION_CATEGORIES:
                raise ValueError("A rejection needs a rejection_category.")
        if self.action == "SCREEN_OUT":
            raise ValueError("SCREEN_OUT is not enabled for this workspace.")
        if self.action == "COMPLETE" and not self.completion_code:
            raise ValueError("COMPLETE needs a completion_code.")
        return self


class ReturnRequest(BaseModel):
    request_return_reasons: list[str]


class BulkApproval(BaseModel):
    submission_ids: list[Id] = []
    study_id: Id | None = None
    participant_ids: list[Id] = []

    @model_validator(mode="after")
    def _names_somebody(self) -> BulkApproval:
        if not self.submission_ids and not (self.study_id and self.participant_ids):
            raise ValueError("submission_ids, or study_id and participant_ids, are needed.")
        return self


class Bonuses(BaseModel):
    study_id: Id
    csv_bonuses: Annotated[str, Field(min_length=1)]


class NewMessage(BaseModel):
    recipient_id: Id
    body: Annotated[str, Field(min_length=1, max_length=5000)]
    study_id: Id


class BulkMessage(BaseModel):
    ids: Annotated[list[Id], Field(min_length=1)]
    body: Annotated[str, Field(min_length=1, max_length=5000)]
    study_id: Id


class OfWorkspace(BaseModel):
    workspace_id: Id


class NewSubscription(BaseModel):
    workspace_id: Id
    event_type: str
    target_url: str


class Confirmation(BaseModel):
    secret: str


class SubscriptionChange(BaseModel):
    event_type: str | None = None
    target_url: str | None = None
    is_enabled: bool | None = None
