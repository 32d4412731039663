from __future__ import annotations

from django.db import models

from humanexp.recruitment.models.campaigns import Assignment
from humanexp.recruitment.models.writes import RecruiterWrite


class Message(RecruiterWrite):
    """A few words to the person of an assignment. Nobody can ask whether one arrived: it is sent at most once."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField(max_length=4_000)

    class Meta(RecruiterWrite.Meta):
        abstract = False
        indexes = [models.Index(fields=["environment", "state"])]

    def __str__(self) -> str:
        return f"message {self.pk}"
