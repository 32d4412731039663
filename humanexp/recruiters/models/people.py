"""Who people are to a recruiter, who may not take part, and which qualifications of ours exist there."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from humanexp.participation.models import Participant
from humanexp.studies.models import StudyFamily

#: Ids made here, for visitors of a link that names nobody, begin so.
VISITOR = "visitor:"
#: Between the preset of a link and the id that its site gave: two sites may give the same to different people.
FROM = "/"


def id_here(preset: str, given: str) -> str:
    """Under which id a person of a site is kept here."""
    return f"{preset}{FROM}{given}"


class RecruitedPerson(models.Model):
    """Who a participant is to a recruiter: the one table with worker ids."""

    environment = models.CharField(max_length=12)
    worker_id = models.CharField(max_length=64)
    family = models.ForeignKey(StudyFamily, on_delete=models.CASCADE, related_name="+")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="recruited_as")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "recruitment"
        verbose_name_plural = "recruited people"
        constraints = [
            models.UniqueConstraint(fields=["environment", "worker_id", "family"], name="recruited_person_once"),
            models.CheckConstraint(condition=~models.Q(worker_id=""), name="recruited_person_has_worker_id"),
        ]

    @property
    def given_id(self) -> str:
        """The id that the person came with; empty where one was made up here."""
        return "" if self.worker_id.startswith(VISITOR) else self.worker_id.rpartition(FROM)[2]

    def __str__(self) -> str:
        # the code, so that no log line and no admin list carries a worker id
        return self.participant.code


class Exclusion(models.Model):
    """Somebody who may not take part in a family, known by a keyed hash alone: no worker id is kept for it."""

    family = models.ForeignKey(StudyFamily, on_delete=models.CASCADE, related_name="exclusions")
    #: the same for a person in every family, so that lists can be carried from one to the other
    code = models.CharField(max_length=40)
    #: which list it came from, or why
    note = models.CharField(max_length=200, blank=True)
    added_at = models.DateTimeField(auto_now_add=True)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        app_label = "recruitment"
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["family", "code"], name="exclusion_once")]

    def __str__(self) -> str:
        return self.code


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
        app_label = "recruitment"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["environment", "family"], name="qualification_type_once"),
        ]

    def __str__(self) -> str:
        return self.name
