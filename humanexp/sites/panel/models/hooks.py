"""Whom the panel tells of events, and what it has told."""

from __future__ import annotations

from django.db import models

from humanexp.sites.panel import keys
from humanexp.sites.panel.models.people import Workspace


class HookSecret(models.Model):
    """The one secret of a workspace; a new one replaces it."""

    secret_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="hook_secret")
    value = models.CharField(max_length=100, default=keys.token)

    def __str__(self) -> str:
        return self.secret_id


class Subscription(models.Model):
    """An address that gets events of one type once it has confirmed with the secret of the header."""

    subscription_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="subscriptions")
    event_type = models.CharField(max_length=60)
    target_url = models.CharField(max_length=2000)
    is_enabled = models.BooleanField(default=True)
    confirmation = models.CharField(max_length=100, default=keys.token)
    is_confirmed = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.subscription_id


class Event(models.Model):
    """An event for one subscription, until it is delivered or given up."""

    event_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    subscription = models.ForeignKey(Subscription, on_delete=models.CASCADE, related_name="events")
    resource_id = models.CharField(max_length=24)
    payload = models.JSONField()
    status = models.CharField(max_length=10, default="PENDING")
    attempts = models.PositiveIntegerField(default=0)
    happened_at = models.DateTimeField()
    try_at = models.DateTimeField(db_index=True)
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.event_id
