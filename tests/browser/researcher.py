"""A researcher at the console."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.test import Client

from humanexp.core.models import User

PASSWORD = "three-plain-words"


def sign_in(page: Any, address: str, *, is_staff: bool = False) -> User:
    """Somebody of the lab, whom this browser is signed in as; the form itself is tested in test_console.py."""
    user = User.objects.create_user("lab", password=PASSWORD, is_staff=is_staff)
    client = Client()
    client.force_login(user)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": address}])
    return user
