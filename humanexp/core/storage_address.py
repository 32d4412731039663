"""From an address like s3://bucket/prefix?region=eu-central-1 to an entry of Django's STORAGES."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.exceptions import ImproperlyConfigured

#: Parameters of an address, and what django-storages calls them.
_OPTIONS = {"endpoint_url": "endpoint_url", "region": "region_name", "addressing_style": "addressing_style"}


def storage_of_address(address: str) -> dict[str, Any]:
    """Entry of STORAGES for PICTURES_STORAGE; keys come from where boto3 finds them, never from the address.

    Raises
    ------
    ImproperlyConfigured
        Saying what the address should look like.
    """
    bucket, prefix, options = parts_of_address(address, setting="PICTURES_STORAGE")
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {"bucket_name": bucket, "location": prefix, **options},
    }


def parts_of_address(address: str, *, setting: str) -> tuple[str, str, dict[str, str]]:
    """Bucket, prefix, and the options as django-storages calls them. Raises ImproperlyConfigured."""
    parts = urlsplit(address)
    if parts.scheme != "s3" or not parts.hostname or parts.username:
        raise ImproperlyConfigured(
            f"{setting} must look like s3://bucket?endpoint_url=https://...&region=...; access keys belong into "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    given = dict(parse_qsl(parts.query))
    unknown = sorted(set(given) - set(_OPTIONS))
    if unknown:
        raise ImproperlyConfigured(f"{setting} has no parameter {unknown[0]!r}; it has: {', '.join(_OPTIONS)}.")
    return parts.netloc, parts.path.strip("/"), {_OPTIONS[name]: value for name, value in given.items()}
