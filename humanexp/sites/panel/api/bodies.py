"""Fields of calls, their types and their words (`protocol` says which call has which); others are refused."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, field_validator, model_validator

from humanexp.sites.panel.states import REJECTION_CATEGORIES
from humanexp.sites.panel.studies import FILTERS

#: Minutes; a limit is always under a day.
_LONGEST = 24 * 60 - 1
_SHORTEST_REASON = 100
#: Offered to selected workspaces only; the panel's are not among them.
_NOT_ENABLED = {"FIXED_SCREEN_OUT_PAYMENT", "DYNAMIC_PAYMENT"}
#: With their own fields.
_ACTIONS: dict[str, set[str]] = {
    "AUTOMATICALLY_APPROVE": set(),
    "MANUALLY_REVIEW": set(),
    "REQUEST_RETURN": {"return_reason"},
    "ADD_TO_PARTICIPANT_GROUP": {"participant_group"},
    "REMOVE_FROM_PARTICIPANT_GROUP": {"participant_group"},
}
_KINDS = {one["filter_id"]: one["type"] for one in FILTERS}

Id = Annotated[str, Field(min_length=1, max_length=200)]
CodeType = Literal[
    "COMPLETED",
    "FAILED_ATTENTION_CHECK",
    "FIXED_SCREENOUT",
    "FOLLOW_UP_STUDY",
    "GIVE_BONUS",
    "INCOMPATIBLE_DEVICE",
    "NO_CONSENT",
    "OTHER",
    "SCREENED_IN",
    "SCREENED_OUT",
]
Label = Literal[
    "ai_annotation",
    "ai_data_creation_audio",
    "ai_data_creation_images",
    "ai_data_creation_text",
    "ai_data_creation_video",
    "ai_evaluation",
    "ai_fact_checking",
    "ai_other",
    "ai_reasoning",
    "ai_safety",
    "annotation",
    "decision_making_task",
    "interview",
    "other",
    "survey",
    "writing_task",
]


class Sent(BaseModel):
    """Nothing is guessed: a number in quotation marks is no number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CompletionCode(Sent):
    code: Annotated[str, Field(min_length=1, max_length=200)]
    code_type: CodeType
    actions: list[dict[str, Any]]
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
            if set(one) - {"action"} != _ACTIONS[name] or not all(isinstance(one[each], str) for each in one):
                raise ValueError(f"{name} has these fields: {', '.join(_ACTIONS[name]) or 'none'}.")
        return actions


class SubmissionsConfig(Sent):
    max_submissions_per_participant: int | None = 1
    max_concurrent_submissions: int | None = -1
    auto_rejection_categories: list[Literal["EXCEPTIONALLY_FAST"]] = []


class StudyTerms(Sent):
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
    study_labels: list[Label] = []
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
        _check_fields(one, "selected_filters", list)
        for part in one["selected_filters"]:
            check_filter(part)
        return
    kind = _KINDS.get(str(name))
    if kind is None:
        raise ValueError(f"{name!r} is not a filter: GET /api/v1/filters/ lists them.")
    if kind == "select":
        _check_fields(one, "selected_values", list)
        if not all(isinstance(value, str) for value in one["selected_values"]):
            raise ValueError(f"{name} selects strings.")
    else:
        _check_fields(one, "selected_range", dict)
        ends = one["selected_range"]
        if not set(ends) <= {"lower", "upper"} or not all(isinstance(end, int | float | str) for end in ends.values()):
            raise ValueError(f"{name} has a lower and an upper end.")


def _check_fields(one: dict[str, Any], needed: str, kind: type) -> None:
    if not isinstance(one.get(needed), kind) or not set(one) <= {"filter_id", needed, "weightings"}:
        raise ValueError(f"{one['filter_id']} has the fields {needed} and weightings.")


class StudyAction(Sent):
    action: Literal["PUBLISH", "SCHEDULE_PUBLISH", "CANCEL_PUBLISH", "PAUSE", "START", "STOP"]
    publish_at: Annotated[datetime, Field(strict=False)] | None = None


class Clone(Sent):
    block_previous_participants: bool = True


class CostQuestion(Sent):
    reward: Annotated[int, Field(ge=1)]
    total_available_places: Annotated[int, Field(ge=1)]


class Filtered(Sent):
    filters: list[dict[str, Any]]
    workspace_id: Id | None = None

    @field_validator("filters")
    @classmethod
    def _known(cls, filters: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for one in filters:
            check_filter(one)
        return filters


class NewProject(Sent):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""


class NewGroup(Sent):
    workspace_id: Id
    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""
    participant_ids: list[Id] = []


class People(Sent):
    participant_ids: list[Id]


class SubmissionAction(Sent):
    action: Literal["APPROVE", "COMPLETE", "REJECT", "RETURN", "START", "SCREEN_OUT", "UNREJECT", "UNRETURN"]
    message: str = ""
    rejection_category: str = ""
    completion_code: str = ""

    @field_validator("rejection_category")
    @classmethod
    def _known(cls, category: str) -> str:
        if category not in REJECTION_CATEGORIES:
            raise ValueError(f"{category!r} is not a valid choice.")
        return category

    @model_validator(mode="after")
    def _says_why(self) -> SubmissionAction:
        if self.action == "REJECT":
            if len(self.message) < _SHORTEST_REASON:
                raise ValueError(f"A rejection needs a message of at least {_SHORTEST_REASON} characters.")
            if not self.rejection_category:
                raise ValueError("A rejection needs a rejection_category.")
        if self.action == "SCREEN_OUT":
            raise ValueError("SCREEN_OUT is not enabled for this workspace.")
        if self.action == "COMPLETE" and not self.completion_code:
            raise ValueError("COMPLETE needs a completion_code.")
        return self


class ReturnRequest(Sent):
    request_return_reasons: list[str]


class BulkApproval(Sent):
    submission_ids: list[Id] = []
    study_id: Id | None = None
    participant_ids: list[Id] = []

    @model_validator(mode="after")
    def _names_somebody(self) -> BulkApproval:
        if bool(self.submission_ids) == bool(self.study_id and self.participant_ids):
            raise ValueError("Either submission_ids, or study_id and participant_ids, are needed.")
        return self


class Bonuses(Sent):
    study_id: Id
    csv_bonuses: Annotated[str, Field(min_length=1)]


class NewMessage(Sent):
    recipient_id: Id
    body: Annotated[str, Field(min_length=1, max_length=5000)]
    study_id: Id


class BulkMessage(Sent):
    ids: Annotated[list[Id], Field(min_length=1)]
    body: Annotated[str, Field(min_length=1, max_length=5000)]
    study_id: Id


class OfWorkspace(Sent):
    workspace_id: Id


class NewSubscription(Sent):
    workspace_id: Id
    event_type: str
    target_url: str


class Confirmation(Sent):
    secret: str


class SubscriptionChange(Sent):
    event_type: str | None = None
    target_url: str | None = None
    is_enabled: bool | None = None
