from __future__ import annotations

import pytest

from analysis.file_names import litter_in, without_litter


@pytest.mark.parametrize(
    ("name", "litter"),
    [
        ("cat/@eaDir/p0.jpg/SYNOPHOTO_THUMB_M.jpg", "@eaDir"),
        ("#recycle/cat/p0.jpg", "#recycle"),
        ("cat/$RECYCLE.BIN/S-1-5-21/$R1.jpg", "$RECYCLE.BIN"),
        (".Trash-1000/files/p0.jpg", ".Trash-1000"),
        (".Trashes/501/p0.jpg", ".Trashes"),
        ("cat/.thumbnails/large/p0.png", ".thumbnails"),
        ("__MACOSX/cat/._p0.jpg", "__MACOSX"),
        ("cat/._p0.jpg", "._p0.jpg"),
        ("cat/.DS_Store", ".DS_Store"),
        ("cat/Thumbs.db", "Thumbs.db"),
        ("cat/desktop.ini", "desktop.ini"),
        (".dropbox.cache/2026-11-01/p0.jpg", ".dropbox.cache"),
        ("lost+found/p0.jpg", "lost+found"),
        ("cat/.picasaoriginals/p0.jpg", ".picasaoriginals"),
        (".stversions/cat/p0.jpg", ".stversions"),
        (".git/objects/p0.jpg", ".git"),
        # not thought of when the rule was written
        ("cat/@Recently-Snapshot/GMT+08_2026/p0.jpg", "@Recently-Snapshot"),
        ("System Volume Information/p0.jpg", "System Volume Information"),
        ("cat/p0.jpg:Zone.Identifier", "p0.jpg:Zone.Identifier"),
    ],
)
def test_what_no_person_made_is_named(name: str, litter: str) -> None:
    assert litter_in(name) == litter


@pytest.mark.parametrize(
    "name",
    ["cat/p0.jpg", "cat/#1/p0.jpg", "cat/@home.jpg", "n02123045/$5.jpg", "cat/~ 3 weeks.jpg", "dog/thumbs/p0.jpg"],
)
def test_what_a_person_may_have_made_stays(name: str) -> None:
    assert litter_in(name) == ""


def test_the_rest_keeps_its_order_and_litter_is_counted() -> None:
    own, left_out = without_litter(["cat/b.jpg", "cat/.x", "cat/@eaDir/1", "cat/a.jpg", "dog/@eaDir/2"])
    assert own == ["cat/b.jpg", "cat/a.jpg"]
    assert left_out == {".x": 1, "@eaDir": 2}
