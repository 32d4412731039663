"""An S3 server of the tests' own: real HTTP on loopback, on a free port; it can go away and come back."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from humanexp.core.objects import _opened

BUCKET = "lab"
KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


class ObjectServer:
    """One bucket. What it holds outlasts its being away."""

    def __init__(self) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it tells every call
        self._port = 0
        self.come_back()
        self.client: Any = boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        )
        self.client.create_bucket(Bucket=BUCKET)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def address(self) -> str:
        """As FILE_STORE has it."""
        return f"s3://{BUCKET}/site?endpoint_url={self.url}&region=us-east-1&addressing_style=path"

    def go_away(self) -> None:
        self._server.stop()

    def come_back(self) -> None:
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=self._port, verbose=False)
        self._server.start()
        self._port = self._server.get_host_and_port()[1]
        _opened.cache_clear()  # a process that found nobody does not ask for a moment

    def held(self) -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        return [one["Key"] for page in pages for one in page.get("Contents", [])]

    def key_of(self, sha256: str) -> str:
        return f"site/{sha256[:2]}/{sha256}"

    def spoil(self, sha256: str) -> None:
        self.client.put_object(Bucket=BUCKET, Key=self.key_of(sha256), Body=b"something else")

    def lose(self, sha256: str) -> None:
        self.client.delete_object(Bucket=BUCKET, Key=self.key_of(sha256))


@contextmanager
def object_server() -> Iterator[ObjectServer]:
    made = ObjectServer()
    try:
        yield made
    finally:
        for key in made.held():
            made.client.delete_object(Bucket=BUCKET, Key=key)
        made.client.delete_bucket(Bucket=BUCKET)
        made.client.close()
        made.go_away()


@pytest.fixture(scope="module", name="server")
def _server() -> Iterator[ObjectServer]:
    with object_server() as made:
        yield made


Go = Callable[[str], Path]


@pytest.fixture
def go_to(server: ObjectServer, settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Go:  # noqa: ANN001
    """Work on the machine of this name, which has a disk of its own."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    settings.FILE_STORE = server.address

    def go(machine: str) -> Path:
        settings.MEDIA_ROOT = tmp_path / machine
        settings.MEDIA_ROOT.mkdir(exist_ok=True)
        return settings.MEDIA_ROOT

    go("first")
    return go


def environment(server: ObjectServer) -> dict[str, str]:
    """Of a machine that shares its files there."""
    kept = {name: os.environ[name] for name in ("NO_PROXY", "no_proxy") if name in os.environ}
    return {**kept, **KEYS, "FILE_STORE": server.address}
