"""The mark on people who took part: under which name a recruiter keeps it."""

from __future__ import annotations

from django.db import models

from humanexp.studies.models import StudyFamily


class QualificationType(models.Model):
    """The mark of a family at one recruiter: granted at the last session a person may do, it hides the family's HITs.

    Ids differ between environments, so the environment is in the key.
    """

    environment = models.CharField(max_length=12)
    family = models.ForeignKey(StudyFamily, on_delete=models.PROTECT, related_name="+")
    #: fixed before it is made there, so that it is found again when the reply is lost
    name = models.CharField(max_length=120, unique=True)
    #: blank until the recruiter has named it
    type_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["environment", "family"], name="qualification_type_once"),
        ]

    def __str__(self) -> str:
        return self.name
