"""A picture's file that is not the one that was made is shown to nobody, and nobody's answer is stored for it."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model

from humanexp.console.doctor_checks import damaged_pictures
from humanexp.core.models import AuditEvent
from humanexp.core.storage import media_path
from humanexp.participation import presentation, previews
from humanexp.participation.models import DamagedPicture, Response
from humanexp.participation.monitoring import damaged_files, damaged_files_of
from humanexp.recruiting.alerts import attention
from tests.factories import Tab, new_session, png

POSITION = 1


@pytest.fixture
def damaged(session):
    """Breaks the file of the second trial's picture, and puts it back."""
    stimulus = session.trials.get(position=POSITION).stimulus
    path = media_path(stimulus.file)
    whole = path.read_bytes()
    path.unlink()  # a link to it elsewhere keeps the bytes
    path.write_bytes(whole)

    def damage(how):
        match how:
            case "a flipped byte":
                path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
            case "half a file":
                path.write_bytes(whole[: len(whole) // 2])
            case "another stimulus":
                path.write_bytes(png(99_999))
            case "nothing in it":
                path.write_bytes(b"")
            case "no file":
                path.unlink()
            case "a folder":
                path.unlink()
                path.mkdir()

    yield damage
    if path.is_dir():
        path.rmdir()
    path.write_bytes(whole)


HOW = ["a flipped byte", "half a file", "another stimulus", "nothing in it", "no file", "a folder"]


@pytest.mark.parametrize("how", HOW)
def test_a_damaged_picture_is_refused_alone_and_in_a_bundle(tab, session, damaged, how):
    damaged(how)
    for call in (f"trials/{POSITION}/stimulus/0/", "trials/0-3/pictures/"):
        reply = tab.get(call)
        assert reply.status_code == 503 and reply["Content-Type"] == "application/problem+json"
        assert reply.json()["type"] == "picture-damaged"
        assert ".png" not in reply.content.decode()
    assert tab.get("trials/0/stimulus/0/").status_code == 200, "the others are whole"


def test_no_answer_is_stored_for_a_picture_that_was_not_shown(tab, session, damaged):
    assert tab.answer(0).status_code == 201
    damaged("another stimulus")
    assert tab.get("trials/1-3/pictures/").status_code == 503
    refused = tab.answer(POSITION)
    assert refused.status_code == 503 and refused.json()["type"] == "picture-damaged"
    session.refresh_from_db()
    assert session.cursor == POSITION and Response.objects.filter(session=session).count() == 1


def test_the_alarm_is_kept_until_the_file_is_restored_and_the_session_goes_on(tab, client, session, study, damaged):
    damaged("half a file")
    assert tab.get("trials/0-3/pictures/").status_code == 503
    assert tab.get("trials/0-3/pictures/").status_code == 503
    stimulus = session.trials.get(position=POSITION).stimulus
    (event,) = AuditEvent.objects.filter(action="picture-damaged")
    assert (event.study, event.facts) == (study.slug, {"file": stimulus.file, "found": "changed"})
    (one,) = damaged_files_of([study])[study.pk]
    assert (one.file, one.is_missing, one.sessions) == (stimulus.file, False, 1)
    (told,) = [entry for entry in attention(study) if entry.kind == "damaged-picture"]
    assert told.severity == "bad" and stimulus.file in told.text and "It has stopped 1 person." in told.text
    client.force_login(get_user_model().objects.create_user("ada", is_staff=True))
    assert stimulus.file in client.get(f"/studies/{study.slug}/monitor/").content.decode()
    assert presentation.look_again() == {"damaged": 1, "mended": 0}
    # Somebody restores the file: the trial is shown and answered, which ends the alarm.
    media_path(stimulus.file).write_bytes(png(int(stimulus.file[-9:-4])))
    assert tab.get("trials/0-3/pictures/").status_code == 200
    assert [tab.answer(position).status_code for position in range(3)] == [201] * 3
    assert damaged_files() == []


def test_a_job_sees_that_a_file_was_restored(tab, session, damaged):
    damaged("no file")
    assert tab.get("trials/0-3/pictures/").status_code == 503
    stimulus = session.trials.get(position=POSITION).stimulus
    media_path(stimulus.file).write_bytes(png(int(stimulus.file[-9:-4])))
    assert presentation.look_again() == {"damaged": 0, "mended": 1}
    assert DamagedPicture.objects.get().mended_at is not None and damaged_files() == []
    assert [tab.answer(position).status_code for position in range(3)] == [201] * 3


def test_the_doctor_names_the_file(tab, damaged):
    assert damaged_pictures().severity == "good"
    damaged("no file")
    tab.get("trials/0-3/pictures/")
    found = damaged_pictures()
    assert found.severity == "bad" and found.text.startswith("1 that participants needed: tests/pictures/")


def test_others_whose_picture_is_whole_go_on(client, tab, study, session, damaged):
    mine = {trial.stimulus.file for trial in session.trials.select_related("stimulus")}
    damaged("no file")
    tab.get("trials/0-3/pictures/")
    other = new_session(study, "P-2")
    second = Tab(client, other, lease="tab-00000002")
    second.take_lease()
    first = other.trials.select_related("stimulus").get(position=0).stimulus.file
    broken = session.trials.get(position=POSITION).stimulus.file
    if first != broken:
        assert second.get("trials/0/stimulus/0/").status_code == 200
        assert second.answer(0).status_code == 201
    assert broken in mine


def test_a_preview_shows_no_damaged_picture(client, study, session, damaged):
    damaged("another stimulus")
    preview = previews.open_preview(study=study, by=None, slot=session.slot)
    token = previews.exchange_handoff(code=previews.issue_preview_handoff(preview=preview)).token
    headers = {"Authorization": f"Bearer {token}", "X-Lease": "tab-00000009"}
    call = {"content_type": "application/json", "headers": headers}
    assert client.post("/api/v1/preview/lease/", {"lease": "tab-00000009"}, **call).status_code == 200
    reply = client.get("/api/v1/preview/trials/0-3/pictures/", headers=headers)
    assert reply.status_code == 503 and reply.json()["type"] == "picture-damaged"
    assert not DamagedPicture.objects.exists()
