from __future__ import annotations

import threading
from pathlib import Path

import pytest

from humanexp.core.names import pseudonym, random_code
from humanexp.core.storage import media_path, write_whole
from humanexp.places import read_or_create_key


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "secret"
    key = read_or_create_key(path)
    assert len(key) >= 48
    assert read_or_create_key(path) == key
    assert path.stat().st_mode & 0o777 == 0o600


def test_processes_that_start_together_agree_on_the_key(tmp_path: Path) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(read_or_create_key(tmp_path / "secret"))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16
    assert len(set(found)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_pseudonym_is_stable_keyed_and_tells_nothing() -> None:
    code = pseudonym("key", "family", "A1WORKER")
    assert code == pseudonym("key", "family", "A1WORKER")
    assert code != pseudonym("other", "family", "A1WORKER")
    assert code != pseudonym("key", "family", "A1WORKE", "R")
    assert "WORKER" not in code
    assert len({random_code("S") for _ in range(1000)}) == 1000


def test_a_stored_path_cannot_leave_the_media_folder() -> None:
    with pytest.raises(ValueError, match="outside"):
        media_path("../outside")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    with pytest.raises(TypeError):
        write_whole(path, "text is not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
