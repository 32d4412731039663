"""The mark on people who took part: under which name a recruiter keeps it, and who was given it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from humanexp.recruitment.models.people import RecruitedPerson
from humanexp.recruitment.models.writes import RecruiterWrite
from humanexp.recruitment.states import WriteState
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


class GrantKind(models.TextChoices):
    GRANT = "grant", _("grant")
    REVOKE = "revoke", _("revoke")


class QualificationWrite(RecruiterWrite):
    """A qualification given to a person, or taken back. The latest row of a pair says how it stands."""

    kind = models.CharField(max_length=6, choices=GrantKind.choices)
    qualification = models.ForeignKey(QualificationType, on_delete=models.PROTECT, related_name="writes")
    #: null once the person has been deleted
    person = models.ForeignKey(
        RecruitedPerson, null=True, blank=True, on_delete=models.SET_NULL, related_name="qualifications"
    )

    class Meta(RecruiterWrite.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["qualification", "person", "kind"],
                condition=Q(state__in=[WriteState.PLANNED, WriteState.SENDING]),
                name="qualification_write_once_at_a_time",
            ),
        ]
        indexes = [models.Index(fields=["environment", "state"])]
