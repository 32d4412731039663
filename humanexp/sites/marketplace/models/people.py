"""Who works and who asks for work: accounts and money, qualifications, blocks, messages, tokens of requests."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from humanexp.sites.marketplace import keys
from humanexp.sites.rows import Advanced


class AccountManager(BaseUserManager["Account"]):
    """Finds accounts by user name; `accounts` makes them."""


class Account(AbstractBaseUser):
    """A login of this site, and of this site alone."""

    username = models.CharField(
        max_length=150,
        unique=True,
        validators=[UnicodeUsernameValidator()],
        error_messages={"unique": "This user name is taken."},
    )
    is_active = models.BooleanField(default=True)
    #: sees the lab's desk, and writes down there what was paid out
    is_clerk = models.BooleanField(default=False)
    joined_at = models.DateTimeField()

    objects: ClassVar[AccountManager] = AccountManager()

    USERNAME_FIELD = "username"

    def __str__(self) -> str:
        return self.username


class Worker(models.Model):
    """A person who takes work."""

    account = models.OneToOneField(Account, on_delete=models.PROTECT, related_name="worker")
    worker_id = models.CharField(max_length=64, unique=True, default=keys.worker_id, editable=False)
    country = models.CharField(
        max_length=2, blank=True, validators=[RegexValidator(r"^[A-Z]{2}$", "Two capital letters, for example DE.")]
    )
    subdivision = models.CharField(
        max_length=2, blank=True, validators=[RegexValidator(r"^[A-Z0-9]{2}$", "Two characters, for example BE.")]
    )
    is_adult = models.BooleanField(default=False)
    is_master = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.worker_id


class Requester(models.Model):
    """A lab or a person who asks for work, and pays."""

    account = models.OneToOneField(Account, on_delete=models.PROTECT, related_name="requester")
    name = models.CharField(max_length=100, unique=True)

    def __str__(self) -> str:
        return self.name


class RequesterKey(models.Model):
    """An access key. The secret is kept as it is, because a signature can only be checked with it."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="keys")
    access_key_id = models.CharField(max_length=32, unique=True, default=keys.access_key_id, editable=False)
    secret_access_key = models.CharField(max_length=64, default=keys.secret_access_key, editable=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.access_key_id


class Deposit(models.Model):
    """Money a requester has paid in."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="deposits")
    amount_cents = models.BigIntegerField()
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(amount_cents__gte=0), name="deposit_is_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.requester}: {self.amount_cents} cents"


class Invitation(models.Model):
    """A code that lets one person sign up where sign-up is by invitation."""

    code = models.CharField(max_length=32, unique=True, default=keys.invitation_code, editable=False)
    note = models.CharField(max_length=200, blank=True)
    made_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_by = models.OneToOneField(Worker, on_delete=models.PROTECT, null=True, related_name="invitation")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(used_at=None, used_by=None) | models.Q(used_at__isnull=False, used_by__isnull=False),
                name="a_used_invitation_names_its_worker",
            )
        ]

    def __str__(self) -> str:
        return self.code


class Payout(models.Model):
    """Money the lab has handed to a worker in its own way; here it is only written down."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="payouts")
    amount_cents = models.BigIntegerField()
    #: how, in a few words that the worker reads: "bank transfer", "cash"
    way = models.CharField(max_length=60, blank=True)
    note = models.CharField(max_length=200, blank=True)
    paid_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(amount_cents__gt=0), name="a_payout_is_money")]

    def __str__(self) -> str:
        return f"{self.amount_cents} cents to {self.worker}"


class QualificationType(models.Model):
    """A requester's own kind of qualification. The system's are in `requirements`."""

    class Status(models.TextChoices):
        ACTIVE = "Active"
        INACTIVE = "Inactive"

    qualification_type_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="qualification_types")
    name = models.CharField(max_length=200)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    status = models.CharField(max_length=8, choices=Status.choices)
    retry_delay_seconds = models.BigIntegerField(null=True)
    is_auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(null=True)
    #: QuestionForm and AnswerKey XML. A test without a key is judged by the requester.
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_duration_seconds = models.BigIntegerField(null=True)
    created_at = models.DateTimeField()
    #: Deleted by its owner. Grants stay, because requirements of open HITs still look at them.
    disposed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"], condition=Q(disposed_at=None), name="qualification_type_name_is_unique"
            ),
            models.CheckConstraint(
                condition=Q(test="") | Q(test_duration_seconds__isnull=False, is_auto_granted=False),
                name="a_test_has_a_duration_and_is_taken",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    """A worker's value of a qualification type; revoked ones stay as a record."""

    class Status(models.TextChoices):
        GRANTED = "Granted"
        REVOKED = "Revoked"

    qualification_type = models.ForeignKey(QualificationType, on_delete=models.PROTECT, related_name="qualifications")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="qualifications")
    value = models.IntegerField()
    status = models.CharField(max_length=8, choices=Status.choices)
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["qualification_type", "worker"], name="one_value_per_worker_and_type")
        ]

    def __str__(self) -> str:
        return f"{self.worker}: {self.qualification_type} = {self.value}"


class QualificationRequest(models.Model):
    """A worker's wish for a qualification; with a test it begins when the test does."""

    class Outcome(models.TextChoices):
        PENDING = ""
        GRANTED = "Granted"
        REJECTED = "Rejected"

    request_id = models.CharField(max_length=64, unique=True, default=keys.entity_id, editable=False)
    qualification_type = models.ForeignKey(QualificationType, on_delete=models.PROTECT, related_name="requests")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="qualification_requests")
    #: The test as it was when the worker began.
    test = models.TextField(blank=True)
    #: QuestionFormAnswers XML.
    answer = models.TextField(blank=True)
    began_at = models.DateTimeField()
    deadline_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=8, choices=Outcome.choices, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(submitted_at__isnull=False, decided_at=None),
                name="one_pending_request_per_worker_and_type",
            )
        ]

    def __str__(self) -> str:
        return self.request_id

    def is_open(self, now: datetime) -> bool:
        """The test is being taken."""
        return self.submitted_at is None and self.deadline_at is not None and now < self.deadline_at


class WorkerBlock(models.Model):
    """A requester's refusal to give work to a worker."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="worker_blocks")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="blocks")
    reason = models.TextField()
    blocked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "worker"], name="a_worker_is_blocked_once")]

    def __str__(self) -> str:
        return f"{self.requester}: {self.worker}"


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
