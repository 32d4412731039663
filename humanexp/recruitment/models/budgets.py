from __future__ import annotations

from django.db import models

from humanexp.experiments.models import Study


class StudyBudget(models.Model):
    """What a study may cost over all its campaigns, fees included. The row is locked while money is promised."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="budget")
    #: None: no cap
    cap_cents = models.PositiveIntegerField(null=True, blank=True)

    def __str__(self) -> str:
        return f"budget of {self.study_id}"
