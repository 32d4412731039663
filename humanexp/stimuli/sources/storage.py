"""Pictures in the storage that the setting PICTURES_STORAGE names: S3, or what speaks it, through django-storages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import InvalidStorageError, storages

from analysis.errors import install
from analysis.generation.originals import MAXIMUM_BYTES
from humanexp.core.errors import InputRefused
from humanexp.stimuli.sources.base import PictureSource

#: Name in Django's STORAGES.
ALIAS = "pictures"
_UNSET = "No storage is set: set PICTURES_STORAGE, for example to s3://bucket?region=eu-central-1."


def is_storage_configured() -> bool:
    return ALIAS in settings.STORAGES


class StorageSource(PictureSource):
    """All files under a prefix of the configured storage, which keeps its connections for the next import."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        if not is_storage_configured():
            raise InputRefused(_UNSET)
        self.prefix = prefix.strip("/")
        self._storage: Any = _open_storage()
        self.title = f"{settings.PICTURES_STORAGE.split('?')[0].rstrip('/')}/{self.prefix}"

    def names(self) -> list[str]:
        with self._telling():
            names = sorted(self._walk(self.prefix))
        if not names:
            raise InputRefused(
                f"{self.title}: there is nothing under this prefix. Check its spelling and its capitals."
            )
        return names

    def names_in(self, folder: str) -> list[str]:
        with self._telling():
            folders, files = self._storage.listdir(self._key("" if folder == "." else folder))
        return [*folders, *files]

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        with self._telling(name), self._storage.open(self._key(name), "rb") as stream:
            if stream.size > MAXIMUM_BYTES:  # told by the answer that opened it, before a byte is fetched
                raise InputRefused(f"{name}: over {MAXIMUM_BYTES // 10**6} MB; save the picture smaller.")
            yield stream

    def _key(self, name: str) -> str:
        return "/".join(part for part in (self.prefix, name) if part)

    def _walk(self, folder: str) -> Iterator[str]:
        """Names relative to the prefix."""
        folders, files = self._storage.listdir(folder)
        for name in files:
            if name not in ("", "."):  # some programs store an empty object in a folder's place
                yield f"{folder}/{name}"[len(self.prefix) :].lstrip("/")
        for name in folders:
            yield from self._walk(f"{folder}/{name}" if folder else name)

    @contextmanager
    def _telling(self, name: str = "") -> Iterator[None]:
        """Every failure of the other side becomes a sentence."""
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

        try:
            yield
        except NoCredentialsError as error:
            raise InputRefused(
                f"{self.title}: there are no access keys. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            ) from error
        except ClientError as error:
            raise InputRefused(f"{self.title}: {_SENTENCES.get(_code(error), _other(error))}") from error
        except BotoCoreError as error:
            raise InputRefused(
                f"{self.title}: the storage does not answer ({error}). Check PICTURES_STORAGE."
            ) from error
        except FileNotFoundError as error:
            raise InputRefused(f"{name or self.title}: there is no such file in {self.title}.") from error


_SENTENCES = {
    "NoSuchBucket": "there is no such bucket. Check PICTURES_STORAGE.",
    "AccessDenied": "the access keys may not read there. Ask the owner of the bucket.",
    "403": "the access keys may not read there. Ask the owner of the bucket.",
    "InvalidAccessKeyId": "the storage does not know these access keys. Check AWS_ACCESS_KEY_ID.",
    "SignatureDoesNotMatch": "the secret access key is wrong. Check AWS_SECRET_ACCESS_KEY.",
    "PermanentRedirect": "the bucket is in another region. Add ?region=... to PICTURES_STORAGE.",
}


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _other(error: Any) -> str:
    return f"the storage refuses ({_code(error)}: {error.response.get('Error', {}).get('Message', '')})."


def _open_storage() -> Any:
    try:
        return storages[ALIAS]
    except (InvalidStorageError, ImproperlyConfigured, ImportError) as error:
        raise InputRefused(
            f"The storage of PICTURES_STORAGE cannot be used ({error}). If a package is missing: {install('s3')}."
        ) from error
