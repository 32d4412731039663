"""Tokens of requests already done, messages to workers, and how far a test has moved the clock."""

from __future__ import annotations

from django.db import models

from humanexp.sites.marketplace.models.accounts import Requester, Worker
from humanexp.sites.rows import Advanced


class RequestToken(models.Model):
    """A UniqueRequestToken that has been used. Written in the transaction of what it did."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="request_tokens")
    operation = models.CharField(max_length=64)
    token = models.CharField(max_length=128)
    used_at = models.DateTimeField()
    #: The id of what was made.
    made = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "operation", "token"], name="a_token_is_used_once")]

    def __str__(self) -> str:
        return f"{self.operation} {self.token}"


class Message(models.Model):
    """What a worker finds on the messages page; MTurk would send an e-mail."""

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="messages")
    sender = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="messages")
    subject = models.CharField(max_length=250)
    text = models.TextField()
    sent_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.subject


class Inquiry(models.Model):
    """What a worker writes to a requester."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="inquiries")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="inquiries")
    hit_type = models.ForeignKey("marketplace.HITType", on_delete=models.PROTECT, related_name="inquiries")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    sent_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "inquiries"

    def __str__(self) -> str:
        return self.subject


class ClockOffset(Advanced):
    """How far the clock is ahead of the machine's."""

    def __str__(self) -> str:
        return f"{self.advance_seconds} s ahead"
