from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from humanexp.experiments.models import Participant, StudyFamily


class Environment(models.TextChoices):
    """Where people are recruited. Chosen explicitly, never read off an address."""

    LINK = "link", _("plain link")
    MARKETPLACE = "marketplace", _("own marketplace")
    SANDBOX = "sandbox", _("MTurk Sandbox")
    PRODUCTION = "production", _("MTurk production")


#: Environments with one name space of worker ids: the same id is the same person.
WORKER_NAMESPACE = {
    Environment.LINK: "link",
    Environment.MARKETPLACE: "marketplace",
    Environment.SANDBOX: "mturk",
    Environment.PRODUCTION: "mturk",
}


class RecruitedPerson(models.Model):
    """Who a participant is to a recruiter: the one table with worker ids."""

    environment = models.CharField(max_length=12, choices=Environment.choices)
    worker_id = models.CharField(max_length=64)
    family = models.ForeignKey(StudyFamily, on_delete=models.CASCADE, related_name="+")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="recruited_as")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "recruited people"
        constraints = [
            models.UniqueConstraint(fields=["environment", "worker_id", "family"], name="recruited_person_once"),
            models.CheckConstraint(condition=~models.Q(worker_id=""), name="recruited_person_has_worker_id"),
        ]

    def __str__(self) -> str:
        # the code, so that no log line and no admin list carries a worker id
        return self.participant.code
