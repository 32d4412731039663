"""Who works, who asks for work, and what a requester has paid in."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.validators import RegexValidator
from django.db import models

from humanexp.sites.marketplace import keys


class AccountManager(BaseUserManager["Account"]):
    """Finds accounts by user name; `services.accounts` makes them."""


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
