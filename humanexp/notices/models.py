from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from humanexp.studies.models import Study


class Way(models.TextChoices):
    """How a message goes to an address."""

    EMAIL = "email", "e-mail"
    WEBHOOK = "webhook", "webhook"
    SLACK = "slack", "Slack or compatible"


class Pace(models.TextChoices):
    """How often an address hears of what has come up."""

    NOW = "now", "at once"
    HOURLY = "hourly", "once an hour"
    DAILY = "daily", "once a day"


class Change(models.TextChoices):
    """What a message says of an event."""

    OPENED = "opened", "needs you"
    RESOLVED = "resolved", "is resolved"


class Event(models.Model):
    """Something that needs a person, from when it was found until it was not found any more."""

    #: of its words
    name = models.CharField(max_length=40)
    #: null: of the installation, or of an account that several studies use
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    #: which one of several of this name: an account, a campaign, a question about the installation
    about = models.CharField(max_length=80, blank=True)
    #: what may leave the site: without sums, ids, files and answers
    text = models.CharField(max_length=300)
    tone = models.CharField(max_length=8)
    #: path of the page on which it is solved, and what the button is called
    path = models.CharField(max_length=300)
    button = models.CharField(max_length=80)
    #: any of these lets a member solve it; none: administrators
    actions = models.JSONField(default=list)
    #: keys of the studies whose members it concerns, where there is no single one
    studies = models.JSONField(default=list)
    opened_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["name", "study", "about"],
                condition=Q(resolved_at=None, study__isnull=False),
                name="event_of_a_study_open_once",
            ),
            models.UniqueConstraint(
                fields=["name", "about"], condition=Q(resolved_at=None, study=None), name="event_of_no_study_open_once"
            ),
        ]
        indexes = [models.Index(fields=["resolved_at"], name="event_resolved")]

    def __str__(self) -> str:
        return f"{self.name} {self.study_id or self.about}"

    @property
    def concerned(self) -> set[int]:
        """Keys of the studies whose members may solve it."""
        return {self.study_id} if self.study_id is not None else set(self.studies)


class Address(models.Model):
    """Where messages go: of a person, or, without one, of the installation as NOTICE_ADDRESSES names it."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="notice_addresses"
    )
    way = models.CharField(max_length=8, choices=Way.choices)
    #: empty: the address of the account's mail
    target = models.CharField(max_length=500, blank=True)
    #: signs what is sent to a webhook
    secret = models.CharField(max_length=64, blank=True)
    pace = models.CharField(max_length=8, choices=Pace.choices, default=Pace.NOW)
    #: of an administrator: of studies, too, that they are not a member of
    of_all_studies = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    #: how the last attempts ended
    sent_at = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=300, blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)
    try_after = models.DateTimeField(null=True, blank=True)
    #: a runner sends to it until then
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "way", "target"], name="notice_address_once"),
            models.UniqueConstraint(fields=["way", "target"], condition=Q(user=None), name="notice_address_here_once"),
        ]

    def __str__(self) -> str:
        return f"{self.way} {self.pk}"


class Notice(models.Model):
    """One change of one event for one address: to be sent, or sent."""

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="notices")
    address = models.ForeignKey(Address, on_delete=models.CASCADE, related_name="notices")
    change = models.CharField(max_length=8, choices=Change.choices)
    due_at = models.DateTimeField()
    #: name of the message that it was sent with, or tried to be: repeated with the same one
    batch = models.CharField(max_length=32, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["event", "address", "change"], name="event_told_once_to_an_address")
        ]
        indexes = [models.Index(fields=["address"], condition=Q(sent_at=None), name="notice_unsent")]

    def __str__(self) -> str:
        return f"{self.change} {self.event_id} to {self.address_id}"


class Mute(models.Model):
    """Until then a person hears nothing of a study, of a reason, or of a reason in a study."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    #: of an event; empty: all
    name = models.CharField(max_length=40, blank=True)
    until = models.DateTimeField()

    class Meta:
        ordering = ["until"]
        constraints = [
            models.CheckConstraint(condition=Q(study__isnull=False) | ~Q(name=""), name="mute_names_something")
        ]

    def __str__(self) -> str:
        return f"{self.study or 'all'}: {self.name or 'all'} until {self.until:%Y-%m-%d %H:%M}"

    def covers(self, event: Event, *, now: datetime) -> bool:
        of_study = self.study_id is None or self.study_id in event.concerned
        return self.until > now and of_study and self.name in ("", event.name)


class Observation(models.Model):
    """What was last seen of something outside: the certificate, the address that is called while all is well."""

    name = models.CharField(max_length=40, unique=True)
    at = models.DateTimeField()
    seen = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.name
