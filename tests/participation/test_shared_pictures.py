"""Pictures that another machine has made: shown from an empty disk, and never shown where they are damaged."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from humanexp.core import file_store
from humanexp.core.storage import write_whole
from humanexp.participation.models import DamagedPicture, Trial
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session, png
from tests.object_server import Go, ObjectServer

pytestmark = pytest.mark.django_db
PICTURES = "trials/0-0/pictures/"


@pytest.fixture
def tab(go_to: Go, client: Client) -> Tab:
    """Of somebody who takes part, on a machine that has nothing."""
    make_stimulus_set(picture=_unwritten)
    session = new_session(collecting_study())
    file = _picture(session.pk).file
    here = go_to("first")
    write_whole(here / file, _content_of(file))
    file_store.publish(file)
    go_to("second")
    opened = Tab(client, session)
    opened.pk = session.pk
    assert opened.take_lease().status_code == 200
    return opened


def _picture(session: int):  # noqa: ANN202
    return Trial.objects.get(session=session, position=0).stimulus


def _unwritten(number: int) -> tuple[str, str]:
    """Path and digest of a picture that is nowhere yet."""
    return f"tests/pictures/{number:05d}.png", hashlib.sha256(png(number)).hexdigest()


def _content_of(file: str) -> bytes:
    return png(int(Path(file).stem))


def test_the_first_look_fetches_and_the_second_asks_nobody(tab: Tab, server: ObjectServer) -> None:
    with CaptureQueriesContext(connection) as cold:
        first = tab.get(PICTURES)
    server.go_away()
    try:
        with CaptureQueriesContext(connection) as warm:
            second = tab.get(PICTURES)
    finally:
        server.come_back()
    assert first.status_code == second.status_code == 200 and first.content == second.content
    assert any("core_storedfile" in one["sql"] for one in cold.captured_queries)
    assert not any("core_stored" in one["sql"] for one in warm.captured_queries)


def test_while_the_storage_is_away_the_page_is_told_to_wait(tab: Tab, server: ObjectServer) -> None:
    server.go_away()
    try:
        reply = tab.get(PICTURES)
        assert (reply.status_code, reply.json()["type"]) == (503, "files-away")
        assert not DamagedPicture.objects.exists()
    finally:
        server.come_back()
    assert tab.get(PICTURES).status_code == 200


@pytest.mark.parametrize("harm", ["spoil", "lose"])
def test_a_damaged_content_is_shown_to_nobody_until_it_is_mended(
    tab: Tab, server: ObjectServer, go_to: Go, harm: str
) -> None:
    picture = _picture(tab.pk)
    getattr(server, harm)(picture.sha256)
    reply = tab.get(PICTURES)
    assert (reply.status_code, reply.json()["type"]) == (503, "picture-damaged")
    assert DamagedPicture.objects.get().is_missing == (harm == "lose")
    go_to("first")
    assert file_store.mend(picture.file)
    go_to("second")
    assert tab.get(PICTURES).status_code == 200


def test_a_copy_that_was_altered_on_this_disk_is_fetched_once_more(tab: Tab, go_to: Go) -> None:
    assert tab.get(PICTURES).status_code == 200
    copy = go_to("second") / _picture(tab.pk).file
    copy.write_bytes(b"altered")
    assert tab.get(PICTURES).status_code == 200
    assert copy.read_bytes() == _content_of(copy.name)
    assert not DamagedPicture.objects.exists()
