from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from humanexp.core.errors import NotAllowed


class AuditEvent(models.Model):
    """Who did what about people and money, and when. Rows are only added; no worker id is ever in them."""

    at = models.DateTimeField(auto_now_add=True)
    #: nobody: a job or a command
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    action = models.CharField(max_length=40)
    #: e.g. "campaign:3"
    subject = models.CharField(max_length=60, db_index=True)
    #: numbers and reasons
    facts = models.JSONField(default=dict)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise NotAllowed("The record of what was done is only ever added to.")
        super().save(*args, **kwargs)
