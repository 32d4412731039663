"""Files that workers sent, behind addresses that work for a minute."""

from __future__ import annotations

from django.core import signing
from django.urls import reverse

from humanexp.marketplace.errors import NotFound
from humanexp.marketplace.models import UploadedFile
from humanexp.marketplace.rows import first_or

#: As long as the real service's addresses work.
_SECONDS = 60
_SALT = "uploaded-file"


def upload_link(uploaded: UploadedFile) -> str:
    return reverse("upload", args=[signing.dumps(uploaded.key, salt=_SALT)])


def upload_behind(token: str) -> UploadedFile:
    try:
        key = signing.loads(token, salt=_SALT, max_age=_SECONDS)
    except signing.BadSignature as err:
        raise NotFound("This address has expired, or was never given out.") from err
    return first_or(UploadedFile.objects.filter(key=key), NotFound())
