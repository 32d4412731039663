from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from humanexp.core.problems import Severity
from humanexp.studies.models import Study


class Preflight(models.Model):
    """One pre-flight check of a study for one recruiter, with what it looked at. Rows are only added."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="preflights")
    to = models.CharField(max_length=12)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    #: no check ended badly
    is_green = models.BooleanField()
    #: of each check: key, title, tone, detail, remedy, url, action
    lines = models.JSONField(default=list)
    #: of the study, its stimuli and the recruiter as they were: another one makes the result stale
    fingerprint = models.CharField(max_length=64)
    #: what the account held when it was asked; null where there is none
    balance_cents = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["study", "to"])]

    def __str__(self) -> str:
        return f"pre-flight of {self.study} on {self.to}"

    def lines_of(self, tone: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["tone"] == tone]

    @property
    def faults(self) -> list[dict[str, Any]]:
        return self.lines_of(Severity.BAD)

    @property
    def remarks(self) -> list[dict[str, Any]]:
        return self.lines_of(Severity.WARN)

    @property
    def seconds(self) -> float:
        return (self.ended_at - self.began_at).total_seconds()


class LocalSite(models.Model):
    """A site of this distribution that somebody has started from the console; the job runner keeps it up."""

    #: of the kind of recruiter that it answers for
    kind = models.CharField(max_length=20, unique=True)
    is_wanted = models.BooleanField(default=False)
    #: the machine and the process that serve it; 0: none
    host = models.CharField(max_length=80, blank=True)
    pid = models.PositiveIntegerField(default=0)
    #: why it could not be started
    fault = models.CharField(max_length=500, blank=True)
    #: when it was last started or stopped, or could not be
    at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"site of {self.kind}"


class Backup(models.Model):
    """An archive that this installation has written; the archive itself knows nothing of this row."""

    name = models.CharField(max_length=40)
    place = models.CharField(max_length=500)
    made_at = models.DateTimeField()
    #: when it was restored into a scratch database and found the same; None: never
    verified_at = models.DateTimeField(null=True, blank=True)
    rows = models.PositiveBigIntegerField()
    files = models.PositiveBigIntegerField()
    #: that the database names, and that were missing or altered by then
    lost_files = models.PositiveIntegerField(default=0)
    #: written for it; the rest was there from earlier ones
    bytes_new = models.PositiveBigIntegerField()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"archive {self.name}"
