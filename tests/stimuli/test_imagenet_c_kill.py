"""An import that is killed with its process goes on where it stopped: real processes, real database file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.analysis.generation.imagenet_c_tree import write_tree
from tests.analysis.generation.originals import write_originals
from tests.limits import LIMIT
from tests.stimuli.killing import MADE, rows, run, run_until_it_dies

FUNCTIONS = ("gaussian_noise", "brightness")
N_ORIGINALS = 24
N_STIMULI = N_ORIGINALS * (1 + 5 * len(FUNCTIONS))


@pytest.mark.slow
def test_killed_import_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    drawn = write_originals(tmp_path / "pictures", {"cat": 8, "dog": 8, "oven": 8}, size_px=160)
    tree = write_tree(tmp_path / "tree", [(one.category, Path(one.path)) for one in drawn], FUNCTIONS)
    media = tmp_path / "media"
    run(media, "migrate", "-v0")
    run(media, "import_images", str(tmp_path / "pictures"), "--name", "pets")
    arguments = ["import_imagenet_c", str(tree), "--images", "pets", "--size", "112", "--name"]

    run_until_it_dies(media, *arguments, "levels")
    before = rows(media, MADE)
    assert 0 < len(before) < N_STIMULI, "killed too late to tell anything"
    with closing(sqlite3.connect(media / "humanexp.sqlite3", timeout=LIMIT)) as database, database:
        database.execute("UPDATE jobs_job SET lease_until = '2020-01-01 00:00:00' WHERE state = 'running'")

    told = run(media, *arguments, "levels")
    assert f"levels: {N_STIMULI - N_ORIGINALS} pictures and {N_ORIGINALS} clean ones" in told
    after = rows(media, MADE)
    assert len(after) == len({key for key, *_ in after}) == N_STIMULI
    assert set(before) <= set(after)
    folder = media / "stimuli" / "levels"
    assert len(list(folder.rglob("*.png"))) == N_STIMULI
    assert not (folder / ".unfinished").exists()

    run(media, *arguments, "undisturbed", compute="serial")
    both = rows(media, "SELECT key, sha256, visual_change FROM stimuli_stimulus ORDER BY key")
    assert both[::2] == both[1::2]
    assert len(both) == 2 * N_STIMULI
