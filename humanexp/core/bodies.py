"""How long a body may be, decided by what its head says: one that is refused was never read, and is on no disk.

Django reads of a body what Content-Length announces and not a byte more. Where a body has none, as a chunked one, it
would read nothing and take the form for an empty one: that is refused, too.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from humanexp.core.errors import ApplicationError, BodyTooLarge, DiskNearlyFull, LengthUnknown
from humanexp.core.middleware import Middleware

#: What a form adds to the file that it carries.
_FORM_BYTES = 1_000_000

View = TypeVar("View", bound=Callable[..., Any])


def takes_uploads(view: View) -> View:
    """A view whose form may carry a file of PICTURES_UPLOAD_MAX_MB, from whoever is signed in.

    The proxy has to let as much through: its files in `deploy/` name the addresses again.
    """
    view.takes_uploads = True  # type: ignore[attr-defined]
    return view


class Bodies(Middleware):
    """Asks before every other middleware that is asked about a view: CSRF protection reads the form."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        try:
            _check(request, takes_files=getattr(view, "takes_uploads", False))
        except ApplicationError as error:
            from humanexp.core.pages.refusals import refused  # REST framework, which addresses bring, not the start

            return refused(request, error)
        return None


def _check(request: HttpRequest, *, takes_files: bool) -> None:
    if "HTTP_TRANSFER_ENCODING" in request.META:
        raise LengthUnknown
    length = _length(request.META.get("CONTENT_LENGTH") or "0")
    if takes_files and request.content_type == "multipart/form-data" and request.user.is_authenticated:
        _check_upload(length)
    elif length > settings.BODY_MAX_KB * 1000:
        raise BodyTooLarge("Sign in before you send a file." if takes_files else "")


def _length(announced: str) -> int:
    """Django, too, reads nothing of a body whose length is no number."""
    return int(announced) if announced.isdecimal() else 0


def _check_upload(length: int) -> None:
    if length > settings.PICTURES_UPLOAD_MAX_MB * 10**6 + _FORM_BYTES:
        raise BodyTooLarge(
            f"This is larger than {settings.PICTURES_UPLOAD_MAX_MB} MB. Send it in parts, or put it on "
            "the server and use a command there."
        )
    # For a while a file lies there twice: as it came, and copied or unpacked in its place.
    if shutil.disk_usage(settings.MEDIA_ROOT).free - 2 * length < settings.UPLOADS_LEAVE_FREE_MB * 10**6:
        raise DiskNearlyFull
