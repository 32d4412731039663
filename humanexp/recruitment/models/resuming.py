from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from humanexp.participation.models import Session
from humanexp.recruitment.models.campaigns import Assignment


class ResumeConfirmation(models.Model):
    """The browser that holds the secret of a session has agreed that another page of it goes on. Used once."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    #: what the asking page was given; signed there, so that nothing is stored before somebody agrees
    request = models.CharField(max_length=32, unique=True)
    confirmed_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]


class WayBackKind(models.TextChoices):
    #: the next opening under the same id, once
    RELEASE = "release", _("release")
    #: an address that the researcher sends to the person
    LINK = "link", _("personal link")


class WayBack(models.Model):
    """A researcher lets a person back into an unfinished session whose browser has lost what it was begun with."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="ways_back")
    kind = models.CharField(max_length=10, choices=WayBackKind.choices)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    #: the last time
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "ways back"

    def __str__(self) -> str:
        return f"{self.kind} of assignment {self.assignment_id}"

    def is_open(self, now: datetime) -> bool:
        """A release works once, a personal link until it expires."""
        is_used_up = self.kind == WayBackKind.RELEASE and self.used_at is not None
        return self.revoked_at is None and not is_used_up and now < self.expires_at
