"""Rejections that one person wants, in studies where it takes two."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from humanexp.experiments.models import Study
from humanexp.recruitment.models.campaigns import Assignment
from humanexp.recruitment.states import PROPOSAL_TRANSITIONS, ProposalState


class ReviewPolicy(models.Model):
    """Who decides about pay in a study. Without a row: one person does."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="review_policy")
    rejections_need_two = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"review policy of {self.study_id}"


class RejectionProposal(models.Model):
    """A rejection that one person wants. Nothing is sent before another agrees; time approves the work meanwhile."""

    TRANSITIONS = PROPOSAL_TRANSITIONS

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="rejection_proposals")
    state = models.CharField(max_length=10, choices=ProposalState.choices, default=ProposalState.WAITING)
    #: as the worker would read it
    reason = models.CharField(max_length=900)
    evidence = models.TextField(max_length=4_000, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    proposed_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment"],
                condition=Q(state=ProposalState.WAITING),
                name="rejection_proposed_once_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"proposed rejection {self.pk}"
