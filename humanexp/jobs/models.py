from __future__ import annotations

from django.conf import settings
from django.db import models

from humanexp.core import clock


class JobState(models.TextChoices):
    QUEUED = "queued", "waiting"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


FINISHED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


#: the subject of jobs that repeat by themselves
PERIODIC = "periodic"


class Job(models.Model):
    """One piece of long work. This row is queue and truth: whoever changes `state` by a conditional update owns it."""

    kind = models.CharField(max_length=80)
    #: what the job is about, e.g. "stimulus_set:7"; pages find their job by it
    subject = models.CharField(max_length=120, blank=True, db_index=True)
    parameters = models.JSONField(default=dict)
    state = models.CharField(max_length=12, choices=JobState.choices, default=JobState.QUEUED)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    #: steps a second lately; what an earlier attempt had done is found done in a moment and says nothing
    rate = models.FloatField(null=True, blank=True)
    message = models.CharField(max_length=300, blank=True)
    error = models.TextField(blank=True)
    result = models.JSONField(default=dict)
    attempt = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=3)
    cancel_requested = models.BooleanField(default=False)
    run_after = models.DateTimeField(null=True, blank=True)
    runner = models.CharField(max_length=80, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    #: of the request that has asked for it, so that its lines in the log are found with that request's
    request_id = models.CharField(max_length=64, blank=True, default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["state", "run_after"])]
        constraints = [
            models.UniqueConstraint(
                fields=["kind"],
                condition=models.Q(subject=PERIODIC, state__in=[JobState.QUEUED, JobState.RUNNING]),
                name="one_unfinished_periodic_job_of_a_kind",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.pk}"

    @property
    def is_finished(self) -> bool:
        return self.state in FINISHED

    @property
    def is_interrupted(self) -> bool:
        """Its runner has not been heard of since the lease ran out; another one will take it."""
        is_over = self.lease_until is not None and self.lease_until < clock.now()
        return self.state == JobState.RUNNING and is_over

    @property
    def fraction(self) -> float:
        return min(1.0, self.done / self.total) if self.total else 0.0


class Runner(models.Model):
    """A sign of life: each process of `run_jobs` keeps one row, written while its lanes go round."""

    name = models.CharField(max_length=80, unique=True)
    started_at = models.DateTimeField()
    #: the process itself
    beat_at = models.DateTimeField()
    #: its lane for what nobody should wait for: payments, recruiters
    prompt_at = models.DateTimeField(null=True, blank=True)
    #: its lane for long work
    long_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
