"""What people agreed to, word by word, and what became of the study's ethics approval."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from humanexp.studies.models import Study


class AgreedText(models.Model):
    """A text of consent exactly as it was shown; sessions name it by its digest. Never changed, never removed."""

    #: SHA-256 of the text
    digest = models.CharField(max_length=64, unique=True)
    version = models.CharField(max_length=40)
    language = models.CharField(max_length=35)
    html = models.TextField()
    first_agreed_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.version} {self.digest[:12]}"


class ApprovalChange(models.Model):
    """The approval of a study was withdrawn, or has another last day than its file says. The newest row holds."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="approval_changes")
    is_withdrawn = models.BooleanField(default=False)
    #: last day; None where it does not end, or is withdrawn
    until = models.DateField(null=True, blank=True)
    #: version of the consent text that it covers by now; empty: as the file says
    consent = models.CharField(max_length=40, blank=True, default="")
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return "withdrawn" if self.is_withdrawn else f"until {self.until}"
