"""Studies and people's submissions to them. A `due_at` is when a state changes by itself."""

from __future__ import annotations

from typing import Any

from django.db import models

from humanexp.sites.panel import keys
from humanexp.sites.panel.models.people import Participant, Project
from humanexp.sites.panel.states import StudyStatus, SubmissionStatus


class Study(models.Model):
    study_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="studies")
    #: everything that was sent, as `api.bodies.StudyTerms` has read it
    terms = models.JSONField()
    reward_cents = models.PositiveIntegerField()
    places = models.PositiveIntegerField()
    status = models.CharField(max_length=20, default=StudyStatus.UNPUBLISHED)
    #: where PUBLISHING, SCHEDULED and PROCESSING lead, and when
    next_status = models.CharField(max_length=20, blank=True)
    due_at = models.DateTimeField(null=True, db_index=True)
    created_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.study_id

    @property
    def name(self) -> str:
        return str(self.terms["name"])

    @property
    def completion_codes(self) -> list[dict[str, Any]]:
        codes: list[dict[str, Any]] = self.terms["completion_codes"]
        return codes

    def has_code(self, code: str) -> bool:
        return any(one["code"] == code for one in self.completion_codes)


class Submission(models.Model):
    """One person's attempt at a study."""

    submission_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="submissions")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="submissions")
    status = models.CharField(max_length=20, default=SubmissionStatus.RESERVED)
    next_status = models.CharField(max_length=20, blank=True)
    due_at = models.DateTimeField(null=True, db_index=True)
    reserved_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    entered_code = models.CharField(max_length=200, null=True)  # noqa: DJ001  (null where no code was entered)
    return_requested = models.CharField(max_length=1000, null=True)  # noqa: DJ001
    rejection_category = models.CharField(max_length=30, blank=True)

    class Meta:
        indexes = [models.Index(fields=["study", "status"], name="submissions_of_a_study")]

    def __str__(self) -> str:
        return self.submission_id
