from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models

from humanexp.experiments.models.studies import Study


class StudyTally(models.Model):
    """What was counted over every answer of a study, kept until there are more: pages read this and no answers."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="tallies")
    #: name of a registered tally, e.g. "timing"
    kind = models.CharField(max_length=20)
    #: what the page shows
    content = models.JSONField()
    #: everything, where that is too much for a page: relative to MEDIA_ROOT
    file = models.CharField(max_length=300, blank=True)
    #: answers that were there
    answers = models.PositiveBigIntegerField()
    #: what the answers, and whatever else was counted, looked like; another one: count again
    marker = models.CharField(max_length=120)
    #: that counting took
    seconds = models.FloatField()
    made_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "kind"], name="study_tally_once")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.study_id}"

    @property
    def began_at(self) -> datetime:
        return self.made_at - timedelta(seconds=self.seconds)
