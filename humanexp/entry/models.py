"""What a participant's own page needs to be known again: codes, of which only hashes are kept."""

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
        app_label = "recruitment"
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"deletion code of session {self.session_id}"


class ResumeConfirmation(models.Model):
    """The browser that holds the secret of a session has agreed that another page of it goes on. Used once."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    #: what the asking page was given; signed there, so that nothing is stored before somebody agrees
    request = models.CharField(max_length=32, unique=True)
    confirmed_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "recruitment"
        ordering = ["pk"]
