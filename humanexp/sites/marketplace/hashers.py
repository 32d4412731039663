from __future__ import annotations

from django.contrib.auth.hashers import ScryptPasswordHasher


class InteractiveScryptHasher(ScryptPasswordHasher):
    """scrypt as its author advises for logins (16 MiB, some 40 ms): a lab's sixty workers sign up within seconds.

    Django's own runs five such passes one after the other.
    """

    parallelism = 1
