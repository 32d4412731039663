"""Contents in an S3-compatible storage, each under the digest of its bytes: written once, never changed."""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from humanexp.core.connections import parts_of_address
from humanexp.core.errors import FileRefused, FilesAway

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = logging.getLogger(__name__)

#: Larger contents are sent in parts.
_AT_ONCE = 64 * 2**20
_PIECE = 2**20
#: Calls at the same time, of one process.
AT_A_TIME = 16
#: After a call that found nobody, none is tried for so long: threads that wait would keep others from being served.
_REST_S = 2.0
_MISSING = frozenset({"404", "NoSuchKey", "NotFound"})


class Objects:
    """One bucket, below one prefix."""

    def __init__(self, client: S3Client, bucket: str, prefix: str) -> None:
        self._client, self._bucket, self._prefix = client, bucket, f"{prefix}/" if prefix else ""
        self._away_until = 0.0

    def put(self, sha256: str, path: Path) -> None:
        """Store a file's content; stored again, nothing changes."""
        with self._asked(), path.open("rb") as stream:
            if path.stat().st_size > _AT_ONCE:
                self._client.upload_fileobj(stream, self._bucket, self._key(sha256))
                return
            content = stream.read()
            if hashlib.sha256(content).hexdigest() != sha256:
                raise FileRefused(f"{path.name} was changed while it was stored: start again.")
            self._client.put_object(
                Bucket=self._bucket,
                Key=self._key(sha256),
                Body=content,
                ContentMD5=base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode(),
            )

    def get(self, sha256: str, to: Path) -> str:
        """Write the content to a file; returns the digest of what came. Raises FileRefused where nothing is there."""
        digest = hashlib.sha256()
        with self._asked(), to.open("wb") as file:
            body = self._client.get_object(Bucket=self._bucket, Key=self._key(sha256))["Body"]
            for piece in body.iter_chunks(_PIECE):
                digest.update(piece)
                file.write(piece)
        return digest.hexdigest()

    def has(self, sha256: str) -> bool:
        try:
            with self._asked():
                self._client.head_object(Bucket=self._bucket, Key=self._key(sha256))
        except FileRefused:
            return False
        return True

    def delete(self, sha256: str) -> None:
        with self._asked():
            self._client.delete_object(Bucket=self._bucket, Key=self._key(sha256))

    def fault(self) -> str:
        """Why the storage cannot be used; empty where it can."""
        try:
            with self._asked():
                self._client.head_bucket(Bucket=self._bucket)
        except (FilesAway, FileRefused) as error:
            return f"FILE_STORE cannot be used: {error.__cause__ or error}"
        return ""

    def _key(self, sha256: str) -> str:
        return f"{self._prefix}{sha256[:2]}/{sha256}"

    @contextmanager
    def _asked(self) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError
        from urllib3.exceptions import HTTPError

        if time.monotonic() < self._away_until:
            raise FilesAway
        try:
            yield
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _MISSING:
                raise FileRefused(is_missing=True) from error
            logger.warning("FILE_STORE refuses: %s", error)
            raise FilesAway from error
        except (BotoCoreError, HTTPError) as error:
            self._away_until = time.monotonic() + _REST_S
            logger.warning("FILE_STORE does not answer: %s", error)
            raise FilesAway from error


def objects() -> Objects:
    """The storage that FILE_STORE names."""
    return _opened(settings.FILE_STORE, os.getpid())


@lru_cache(maxsize=4)
def _opened(address: str, process: int) -> Objects:
    """A connection is one process's own. Keys come from where boto3 finds them, such as AWS_ACCESS_KEY_ID."""
    import boto3
    from botocore.config import Config

    bucket, prefix, options = parts_of_address(address, setting="FILE_STORE")
    config = Config(
        connect_timeout=3,
        read_timeout=20,
        retries={"mode": "standard", "max_attempts": 2},
        max_pool_connections=2 * AT_A_TIME,
        # Sums that not every server knows; digests are compared here.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        s3={"addressing_style": "path" if options.get("addressing_style") == "path" else "auto"},
    )
    client = boto3.client(
        "s3", endpoint_url=options.get("endpoint_url"), region_name=options.get("region_name", "us-east-1"),
        config=config,
    )  # fmt: skip
    return Objects(client, bucket, prefix)
