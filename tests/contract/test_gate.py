"""The gate finds what a change touches, stops nothing that is right, and its lists name what there is."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import pytest

from tests.gate import rings, stored, touched

ROOT = Path(__file__).resolve().parents[2]
HOUR = 3600


def git(folder: Path, *arguments: str, at: int = 0) -> str:
    ran = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={
            "PATH": "/usr/bin:/bin:/usr/local/bin",
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_DATE": f"{1_700_000_000 + at} +0000" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "ada@lab.example" for who in ("AUTHOR", "COMMITTER")},
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.strip()


@pytest.fixture
def landed(tmp_path: Path) -> Path:
    """A repository whose main has three commits of yesterday and two of one hour."""
    folder = tmp_path / "landed"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for number, hours in enumerate((0, 1, 2, 23, 24)):
        (folder / f"file-{number}.txt").write_text(str(number), encoding="utf-8")
        git(folder, "add", "-A", at=hours * HOUR)
        git(folder, "commit", "-q", "-m", f"commit {number}", at=hours * HOUR)
    return folder


@pytest.mark.process
@pytest.mark.gate
def test_a_fresh_clone_compares_with_what_landed_before_the_work_began(
    landed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GATE_BASE", raising=False)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(landed), str(clone))
    base, found = touched.base_of(clone)
    assert base == git(landed, "rev-parse", "HEAD~2") and "eight hours" in found
    assert touched.changed_since(base, clone) == ["file-3.txt", "file-4.txt"]


@pytest.mark.process
@pytest.mark.gate
def test_a_shallow_clone_knows_no_base_and_tries_one_file_a_room(
    landed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GATE_BASE", raising=False)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{landed}", str(clone))
    assert touched.base_of(clone)[0] == ""
    seconds = {"tests/a/test_dear.py": 9.0, "tests/a/test_cheap.py": 1.0, "tests/b/test_b.py": 2.0}
    chosen, left_out = touched.select(None, seconds, {"analysis/": ["tests/a"], "humanexp/": ["tests/b"]})
    assert (chosen, left_out) == (["tests/a/test_cheap.py", "tests/b/test_b.py"], [])


@pytest.mark.process
@pytest.mark.gate
def test_a_checkout_that_is_ahead_compares_with_where_it_left_main(
    landed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GATE_BASE", raising=False)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(landed), str(clone))
    left = git(clone, "rev-parse", "HEAD")
    (clone / "new.txt").write_text("new", encoding="utf-8")
    git(clone, "add", "-A", at=25 * HOUR)
    git(clone, "commit", "-q", "-m", "ahead", at=25 * HOUR)
    (clone / "not committed.txt").write_text("new", encoding="utf-8")
    assert touched.base_of(clone)[0] == left
    assert touched.changed_since(left, clone) == ["new.txt", "not committed.txt"]
    monkeypatch.setenv("GATE_BASE", "HEAD~3")
    assert touched.base_of(clone)[0] == git(clone, "rev-parse", "HEAD~3")
    monkeypatch.setenv("GATE_BASE", "nowhere")
    with pytest.raises(SystemExit, match="no commit of this repository is called that"):
        touched.base_of(clone)


def test_tests_that_changed_come_first_and_then_the_cheapest_behind_the_change() -> None:
    seconds = {"tests/x/test_dear.py": 5.0, "tests/x/test_cheap.py": 1.0, "tests/x/test_pure.py": 0.0}
    own = "tests/contract/test_gate.py"
    named = {"humanexp/": ["tests/nothing"], "humanexp/x": ["tests/x"]}
    changed = ["humanexp/x/models.py", own]
    assert touched.select(changed, seconds, named) == ([own, "tests/x/test_cheap.py", "tests/x/test_dear.py"], [])
    assert touched.select(changed, seconds, named, limit_s=touched.UNKNOWN_S + 3) == (
        [own, "tests/x/test_cheap.py"],
        ["tests/x/test_dear.py"],
    )
    assert touched.select(["README.md"], seconds, named) == ([], [])
    assert touched.select([own], seconds, named, limit_s=touched.UNKNOWN_S - 1) == ([], [own])


def test_shards_are_the_same_files_in_the_same_order_wherever_they_are_cut() -> None:
    seconds = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
    assert stored.cut("dcba", seconds, 2) == stored.cut("abcd", seconds, 2) == [["a", "d"], ["b", "c"]]
    assert stored.cut(["a", "unknown"], seconds, 2) == [["a"], ["unknown"]]


def test_no_test_of_the_gate_is_dear_and_no_ring_costs_more_than_it_may() -> None:
    """Reads what `make durations` has stored, and measures nothing. The owner of a promise may be dear."""
    owners = (ROOT / "docs" / "promises.toml").read_text(encoding="utf-8")
    for test, (ring, seconds) in stored.load()["tests"].items():
        if test.partition("[")[0] not in owners:
            assert seconds <= stored.ONE_S.get(ring, math.inf), f"{test}: make it cheaper, or mark it `verify`"
    for ring, most_s in stored.SUMS_S.items():
        assert sum(stored.seconds_of(ring).values()) <= most_s, f"the {ring} ring has grown: what can go to `verify`?"


def test_every_room_has_tests_and_every_part_of_the_product_a_room() -> None:
    rooms = touched.rooms()
    assert [name for names in rooms.values() for name in names if not (ROOT / name).exists()] == []
    assert [prefix for prefix in rooms if not list(ROOT.glob(f"{prefix.rstrip('/')}*"))] == []
    files = [path.relative_to(ROOT) for top in ("analysis", "humanexp") for path in (ROOT / top).rglob("*.py")]
    assert [str(path) for path in files if touched.room_of(str(path), rooms) is None] == []


def test_the_quarantine_is_small_dated_and_holds_no_promise() -> None:
    entries = rings.quarantined()
    assert len(entries) <= 10
    for test, entry in entries.items():
        file, _, name = test.partition("::")
        function = name.partition("[")[0].rpartition("::")[2]
        before, found, _ = (ROOT / file).read_text(encoding="utf-8").partition(f"def {function}(")
        assert found, f"tests/quarantine.toml names {test}, and there is no such test"
        assert "mark.promise" not in before.rpartition("\n\n\n")[2], f"{test} is a promise"
        assert entry["date"] and entry["cause"]


def test_what_is_red_is_dated_and_there() -> None:
    entries = rings.red()
    assert [test for test in entries if not (ROOT / test.partition("::")[0]).exists()] == []
    assert all(entry["date"] and entry["cause"] for entry in entries.values())
