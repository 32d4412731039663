"""Accounts, laboratories and sign-ins, marks of files, and the record of who did what.

The record has one line an act, written in the transaction of the act, for every app.
"""

from __future__ import annotations

import hashlib
from typing import Any, NoReturn

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models

from humanexp.core.errors import NotAllowed

#: The laboratory that everything belongs to until there is a second one.
DEFAULT_LAB = "lab"


class Lab(models.Model):
    """Who owns pictures, stimuli, predictions and searches together, and may look at them."""

    name = models.SlugField(primary_key=True, max_length=40)

    def __str__(self) -> str:
        return self.name


class HouseRole(models.TextChoices):
    """What somebody is to the installation, whatever they are in its studies."""

    MEMBER = "member", "member"
    TREASURER = "treasurer", "treasurer"
    ADMINISTRATOR = "administrator", "administrator"


class User(AbstractUser):
    """A researcher's account. Participants, and whoever works for a recruiter, have none here."""

    lab = models.ForeignKey(Lab, default=DEFAULT_LAB, on_delete=models.PROTECT, related_name="accounts")
    #: says what may be spent through the accounts with recruiters, and by whom; administrators may, too
    is_treasurer = models.BooleanField(default=False)

    @property
    def house_role(self) -> HouseRole:
        if self.is_staff or self.is_superuser:
            return HouseRole.ADMINISTRATOR
        return HouseRole.TREASURER if self.is_treasurer else HouseRole.MEMBER


class Invitation(models.Model):
    """The link with which the owner of a new account chooses its first password: once, and only for so long."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="invitation")
    #: SHA-256 of the link's secret, which is not kept
    digest = models.CharField(max_length=64)
    made_at = models.DateTimeField()
    #: nobody: a command
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.user} until {self.expires_at:%Y-%m-%d}"

    @staticmethod
    def digest_of(secret: str) -> str:
        return hashlib.sha256(secret.encode()).hexdigest()


class Identity(models.Model):
    """Who an account is to the organisation's sign-in: its subject there, which is never given to another person."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=200)
    subject = models.CharField(max_length=255)
    linked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="identity_of_one_account")]

    def __str__(self) -> str:
        return f"{self.user} at {self.issuer}"


class SignIn(models.Model):
    """An attempt to sign in: when, how it ended and with which browser. The address is kept as the hash of a day."""

    class Outcome(models.TextChoices):
        SIGNED_IN = "signed-in", "signed in"
        WRONG_PASSWORD = "wrong-password", "wrong password"
        WRONG_CODE = "wrong-code", "wrong code or passkey"
        CLOSED = "closed", "refused: the account is closed"
        REFUSED = "refused", "refused by the organisation's sign-in"

    class Way(models.TextChoices):
        PASSWORD = "password", "password"
        CODE = "code", "password and second factor"
        PASSKEY = "passkey", "passkey"
        ORGANISATION = "organisation", "organisation's sign-in"

    at = models.DateTimeField(db_index=True)
    #: nobody: there is no account of the name that was typed, which is not kept
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sign_ins")
    outcome = models.CharField(max_length=20, choices=Outcome)
    way = models.CharField(max_length=20, choices=Way)
    #: the family, e.g. "Firefox on Linux"
    browser = models.CharField(max_length=60)
    caller = models.CharField(max_length=64)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.user} {self.outcome} {self.at:%Y-%m-%d %H:%M}"


class Owned(models.Model):
    """A row of a laboratory, whose accounts may look at it, and of whoever made it, who may change it."""

    created_at = models.DateTimeField(auto_now_add=True)
    lab = models.ForeignKey(Lab, default=DEFAULT_LAB, on_delete=models.PROTECT, related_name="+")
    #: nobody, where a command named no owner
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        abstract = True


class OnlyAdded(models.QuerySet[Any]):
    """Lines that stay as they were written."""

    def update(self, **values: Any) -> NoReturn:
        raise NotAllowed("The record of what was done is only ever added to.")

    def delete(self) -> NoReturn:
        raise NotAllowed("The record of what was done is only ever added to.")


class AuditEvent(models.Model):
    """Who did what, and when. Rows are only added; no worker id and no name is ever in them."""

    at = models.DateTimeField(auto_now_add=True)
    #: nobody: a job, a command, or the recruiter
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    action = models.CharField(max_length=40)
    #: e.g. "campaign:3"
    subject = models.CharField(max_length=120, db_index=True)
    #: the study's name in addresses, where it is about one; it outlives the study
    study = models.CharField(max_length=80, blank=True, db_index=True)
    #: numbers and reasons
    facts = models.JSONField(default=dict)

    objects = OnlyAdded.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise NotAllowed("The record of what was done is only ever added to.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotAllowed("The record of what was done is only ever added to.")


class StorageMark(models.Model):
    """What the file says that marks this database's MEDIA_ROOT: one row, made at the first start."""

    token = models.CharField(max_length=64)
    made_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"marked on {self.made_at:%Y-%m-%d}"


class StoredObject(models.Model):
    """A content that FILE_STORE holds under its digest."""

    sha256 = models.CharField(primary_key=True, max_length=64)
    size = models.BigIntegerField()
    #: when somebody last began to upload it: it goes only where nobody names it, and nobody is about to
    touched_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.sha256


class StoredFile(models.Model):
    """A file that every machine can have: its path under MEDIA_ROOT, and what stands in it."""

    path = models.CharField(primary_key=True, max_length=400)
    content = models.ForeignKey(StoredObject, on_delete=models.PROTECT, related_name="names")
    #: of the file that was published; every copy has it, too, so that an older copy shows without being read
    mtime_ns = models.BigIntegerField()

    def __str__(self) -> str:
        return self.path


class ForgottenFile(models.Model):
    """A file that was deleted or replaced: copies of it on other machines are to go."""

    path = models.CharField(max_length=400)
    mtime_ns = models.BigIntegerField()
    forgotten_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.path


class PseudonymKey(models.Model):
    """The key that turns worker ids into codes, sealed under SECRET_KEY: one row, made when it is first needed."""

    sealed = models.TextField()
    #: by which the SECRET_KEY is recognised that sealed it (core.sealing)
    check_value = models.CharField(max_length=64)
    made_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.check_value


def record(*, action: str, subject: str, study: str = "", by: User | None = None, **facts: Any) -> AuditEvent:
    """Add a line; call it inside the transaction of what it tells. Never pass a worker id or a name.

    `study` is the study's name in addresses: the line then stands on that study's page. Without `by` it was a job, a
    command or the recruiter.
    """
    return AuditEvent.objects.create(action=action, subject=subject, study=study, by=by, facts=facts)
