from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from humanexp.core.errors import Conflict
from humanexp.participation.models import Session
from humanexp.studies.models import Study


class Verdict(models.Model):
    """Whether a session counts, and why. Appended, never changed: the latest one of a session is current."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="verdicts")
    #: the session's, which never changes: what a page counts looks up no session
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="+", db_index=False)
    #: no later one was appended; `services.append_verdict` moves this mark, and it alone
    is_current = models.BooleanField(default=True)
    accepted = models.BooleanField()
    #: of the gates that failed
    reasons = models.JSONField(default=list)
    #: for a person to look at
    flags = models.JSONField(default=list)
    #: one entry a rule: what was measured over which trials, and the threshold
    evidence = models.JSONField(default=list)
    rule_set = models.CharField(max_length=60)
    rule_version = models.CharField(max_length=40)
    #: a person who decided otherwise than the rules, with a written reason; empty = the rules decided
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    written_reason = models.TextField(blank=True)
    decided_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(decided_by=None) | ~Q(written_reason=""), name="verdict_by_a_person_has_a_reason"
            ),
            models.UniqueConstraint(fields=["session"], condition=Q(is_current=True), name="verdict_current_once"),
        ]
        indexes = [
            models.Index(fields=["study", "id"], name="verdict_of_study"),
            # all that is counted of the current ones, without reading anybody's evidence; SQLite looks at the mark once
            # more, so it is in the index as well
            models.Index(
                fields=["study", "accepted", "reasons", "flags", "decided_by", "session", "id", "is_current"],
                condition=Q(is_current=True),
                name="verdict_current",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}: {'counts' if self.accepted else 'excluded'}"

    @property
    def is_by_person(self) -> bool:
        return self.decided_by_id is not None

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise Conflict("A verdict is never changed: append another one.")
        super().save(*args, **kwargs)


class WithdrawnGold(models.Model):
    """A gold of a study that too few careful people named: no easy picture. It counts for nobody's verdict any more."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="withdrawn_golds")
    #: the original's name in the picture set
    original = models.CharField(max_length=200)
    category = models.CharField(max_length=40)
    #: what decided: answers of otherwise accepted people, and how many of them were right
    shown = models.PositiveIntegerField()
    right = models.PositiveIntegerField()
    withdrawn_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["study", "original"], name="gold_withdrawn_once")]

    def __str__(self) -> str:
        return f"{self.original}: {self.right} of {self.shown}"
