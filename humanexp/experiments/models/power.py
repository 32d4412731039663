from __future__ import annotations

from django.conf import settings
from django.db import models

from humanexp.experiments.models.studies import Study


class PowerEstimate(models.Model):
    """What a planned study could show, by simulation. Complete once `completed_at` is set; then never changed."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="power_estimates")
    #: `experiments.power.PowerQuestion`
    question = models.JSONField()
    #: `analysis.power.PlannedStudy`: the design in numbers, as it was
    planned = models.JSONField()
    #: of the plan that the design had
    plan_digest = models.CharField(max_length=64)
    #: sizes that are simulated so far: an interrupted job goes on from them
    found = models.JSONField(default=list)
    #: `analysis.power.SizeReport`
    report = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"power of {self.study}"
