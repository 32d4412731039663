"""HIT types and HITs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import Count, F, Q
from django.db.models.functions import Greatest

from humanexp.sites.marketplace import keys
from humanexp.sites.marketplace.models import assignments
from humanexp.sites.marketplace.models.accounts import Requester
from humanexp.sites.marketplace.states import DISPOSED_AFTER_DAYS, HITState, hit_state


class HITType(models.Model):
    """What HITs of one group share. The same values give the same type: `digest` is of all of them."""

    hit_type_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    group_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="hit_types")
    title = models.CharField(max_length=128)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    reward_cents = models.BigIntegerField()
    assignment_duration_seconds = models.BigIntegerField()
    auto_approval_delay_seconds = models.BigIntegerField()
    #: As MTurk writes them: a list of QualificationRequirement structures.
    requirements = models.JSONField(default=list)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "digest"], name="one_hit_type_per_values"),
            models.CheckConstraint(condition=Q(reward_cents__gte=0), name="reward_is_not_negative"),
        ]

    def __str__(self) -> str:
        return self.title


class HITQuerySet(models.QuerySet["HIT"]):
    def counted(self, now: datetime) -> Self:
        """With the number of assignments in each state at `now`, and the places still free."""
        return self.select_related("hit_type", "requester").annotate(
            n_accepted=Count("assignments", filter=assignments.is_accepted(now, "assignments__")),
            n_submitted=Count("assignments", filter=assignments.is_submitted(now, "assignments__")),
            n_approved=Count("assignments", filter=assignments.is_approved(now, "assignments__")),
            n_rejected=Count("assignments", filter=assignments.is_rejected("assignments__")),
            n_available=Greatest(
                F("max_assignments") - F("n_accepted") - F("n_submitted") - F("n_approved") - F("n_rejected"), 0
            ),
        )

    def listed(self, now: datetime) -> Self:
        """Not disposed: neither by the requester nor by its age. Needs `counted`."""
        old = now - timedelta(days=DISPOSED_AFTER_DAYS)
        return self.filter(disposed_at=None).exclude(expires_at__lte=old, n_accepted=0)

    def reviewable(self, now: datetime, *, reviewing: bool = False) -> Self:
        """Expired or full, and nobody at work. Needs `counted`."""
        return self.listed(now).filter(Q(expires_at__lte=now) | Q(n_available=0), n_accepted=0, is_reviewing=reviewing)

    def open(self, now: datetime) -> Self:
        """With a place that somebody could take. Needs `counted`."""
        return self.filter(disposed_at=None, expires_at__gt=now, n_available__gt=0)


class HIT(models.Model):
    """One task, to be done `max_assignments` times by different workers."""

    hit_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    hit_type = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="hits")
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="hits")
    question = models.TextField()
    #: Of an ExternalQuestion; empty for questions that the marketplace shows itself.
    external_url = models.TextField(blank=True)
    frame_height_px = models.PositiveIntegerField()
    max_assignments = models.PositiveIntegerField()
    annotation = models.CharField(max_length=255, blank=True)
    #: Fee for one assignment, fixed when the HIT is made.
    fee_cents = models.BigIntegerField()
    is_reviewing = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    disposed_at = models.DateTimeField(null=True)
    #: When places or time were last added.
    extended_at = models.DateTimeField(null=True)

    objects = HITQuerySet.as_manager()

    # Set by HITQuerySet.counted; a rejected assignment keeps its place.
    n_accepted: int
    n_submitted: int
    n_approved: int
    n_rejected: int
    n_available: int

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(max_assignments__gte=1), name="a_hit_has_a_place"),
        ]

    def __str__(self) -> str:
        return self.hit_id

    @property
    def cost_cents(self) -> int:
        """Of one approved assignment: reward and fee."""
        return self.hit_type.reward_cents + self.fee_cents

    def state(self, now: datetime) -> HITState:
        """Needs `counted`."""
        return hit_state(
            now=now,
            accepted=self.n_accepted,
            available=self.n_available,
            expires_at=self.expires_at,
            disposed_at=self.disposed_at,
            is_reviewing=self.is_reviewing,
        )
