from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models

from humanexp.core.errors import NotAllowed


class User(AbstractUser):
    """A researcher's account. Participants and marketplace workers have none here."""


class OnlyAdded(models.QuerySet[Any]):
    """Lines that stay as they were written."""

    def update(self, **values: Any) -> NoReturn:
        raise NotAllowed("The record of what was done is only ever added to.")

    def delete(self) -> NoReturn:
        raise NotAllowed("The record of what was done is only ever added to.")


class AuditEvent(models.Model):
    """Who did what, and when. Rows are only added; no worker id and no name is ever in them."""

    at = models.DateTimeField(auto_now_add=True)
    #: nobody: a job, a command, or the recruiter
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    action = models.CharField(max_length=40)
    #: e.g. "campaign:3"
    subject = models.CharField(max_length=120, db_index=True)
    #: the study's name in addresses, where it is about one; it outlives the study
    study = models.CharField(max_length=80, blank=True, db_index=True)
    #: numbers and reasons
    facts = models.JSONField(default=dict)

    objects = OnlyAdded.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise NotAllowed("The record of what was done is only ever added to.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotAllowed("The record of what was done is only ever added to.")
