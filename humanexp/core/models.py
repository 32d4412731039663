from __future__ import annotations

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """A researcher's account. Participants and marketplace workers have none here."""
