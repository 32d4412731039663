"""With what people who came without an id have their answers deleted later."""

from __future__ import annotations

from django.db import models

from humanexp.participation.models import Session


class DeletionCode(models.Model):
    """A code that somebody was given at the end, or on leaving. Knowing it is all that it takes: its hash is kept."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="deletion_codes")
    #: SHA-256 of the code
    code_hash = models.CharField(max_length=64, unique=True)
    given_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"deletion code of session {self.session_id}"
