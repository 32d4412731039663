"""Researchers and their workspaces, participants, groups of participants, and what they write to each other."""

from __future__ import annotations

from django.db import models

from humanexp.sites.panel import keys


class Researcher(models.Model):
    """An account of the API. The token is kept as it is, so that /control/ can show it: nothing real depends on it."""

    researcher_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    name = models.CharField(max_length=100, unique=True)
    token = models.CharField(max_length=100, unique=True, default=keys.token)

    def __str__(self) -> str:
        return self.name


class Workspace(models.Model):
    """A wallet. Fees are a third of what people get for academic users, 42.8 % for others."""

    workspace_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    researcher = models.ForeignKey(Researcher, on_delete=models.CASCADE, related_name="workspaces")
    title = models.CharField(max_length=100)
    currency = models.CharField(max_length=3, default="GBP")
    is_academic = models.BooleanField(default=True)
    #: on the fee
    vat_percent = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return self.title


class Deposit(models.Model):
    """Practice money."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="deposits")
    amount_cents = models.BigIntegerField()
    made_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(amount_cents__gt=0), name="a_deposit_is_money")]

    def __str__(self) -> str:
        return f"{self.amount_cents} to {self.workspace}"


class Project(models.Model):
    project_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="projects")
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.title


class Participant(models.Model):
    """A practice person: played by whoever opens the participant pages, or scripted."""

    participant_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    name = models.CharField(max_length=60)
    is_scripted = models.BooleanField(default=False)
    #: shown to researchers by one list of the API, though nobody should store it
    ip = models.GenericIPAddressField()
    born_on = models.DateField()
    sex = models.CharField(max_length=10)
    ethnicity = models.CharField(max_length=40)
    country = models.CharField(max_length=40)
    has_good_vision = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.name


class ParticipantGroup(models.Model):
    group_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="groups")
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A participant in a group, once."""

    group = models.ForeignKey(ParticipantGroup, on_delete=models.CASCADE, related_name="memberships")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="memberships")
    made_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "participant"], name="a_member_once")]

    def __str__(self) -> str:
        return f"{self.participant} in {self.group}"


class Message(models.Model):
    """Between a researcher and a participant, about a study."""

    message_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    researcher = models.ForeignKey(Researcher, on_delete=models.CASCADE, related_name="messages")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="messages")
    study = models.ForeignKey("panel.Study", on_delete=models.CASCADE, related_name="messages")
    body = models.TextField()
    is_from_participant = models.BooleanField()
    sent_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.message_id

    @property
    def sender_id(self) -> str:
        return self.participant.participant_id if self.is_from_participant else self.researcher.researcher_id
