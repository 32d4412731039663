from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.corruptions import corrupt, find_corruption
from analysis.generation.files import digest, encode_png
from analysis.generation.originals import prepare_original
from analysis.generation.verification import Named, StimulusRecord, Verification, VerificationShard, verify_shard
from analysis.visual_change.vif import visual_change
from tests.analysis.generation.originals import write_originals

SIZE_PX = 112


@pytest.fixture
def shard(tmp_path: Path) -> VerificationShard:
    (original,) = write_originals(tmp_path / "originals", {"cat": 1})
    picture = prepare_original(Path(original.path), SIZE_PX)
    records = []
    for corruption, parameter, seed in (("none", 0.0, 0), ("gaussian_noise", 0.1, 5), ("gaussian_blur", 2.0, 6)):
        shown = corrupt(picture, corruption, parameter, seed)
        path = tmp_path / f"{corruption}.png"
        path.write_bytes(encode_png(shown))
        change = visual_change(picture, shown)
        records.append(
            StimulusRecord(
                stimulus=corruption,
                corruption=corruption,
                version="" if corruption == "none" else find_corruption(corruption).version,
                parameter=parameter,
                seed=seed,
                visual_change=change,
                sha256=digest(path.read_bytes()),
                path=str(path),
            )
        )
    return VerificationShard(original, tuple(records), SIZE_PX)


def test_untouched_stimuli_pass(shard: VerificationShard) -> None:
    found = verify_shard(shard)
    assert found.passed
    assert (found.checked, found.identical) == (3, 3)
    assert found.largest_pixel_difference == 0
    assert found.largest_change_difference < 1e-12


def test_a_missing_and_an_altered_file_are_named(shard: VerificationShard) -> None:
    Path(shard.records[1].path).unlink()
    Path(shard.records[2].path).write_bytes(b"something else")
    found = verify_shard(shard)
    assert not found.passed
    assert found.missing == Named.one("gaussian_noise")
    assert found.altered == Named.one("gaussian_blur")
    assert found.identical == 1


def _with_file(record: StimulusRecord, picture: np.ndarray) -> StimulusRecord:
    content = encode_png(picture)
    Path(record.path).write_bytes(content)
    return replace(record, sha256=digest(content))


def test_one_level_off_is_reported_and_tolerated(shard: VerificationShard) -> None:
    # What another processor's rounding may do to a pixel.
    picture = prepare_original(Path(shard.original.path), SIZE_PX)
    other = corrupt(picture, "gaussian_blur", 2.0, 6)
    other[5, 5] = np.where(other[5, 5] < 255, other[5, 5] + 1, 254)
    found = verify_shard(replace(shard, records=(_with_file(shard.records[2], other),)))
    assert found.passed
    assert found.identical == 0
    assert found.largest_pixel_difference == 1
    assert 0 < found.largest_change_difference < 1e-3


def test_a_stimulus_that_comes_out_differently_is_named(shard: VerificationShard) -> None:
    picture = prepare_original(Path(shard.original.path), SIZE_PX)
    found = verify_shard(
        replace(shard, records=(_with_file(shard.records[2], corrupt(picture, "gaussian_blur", 2.2, 6)),))
    )
    assert found.different == Named.one("gaussian_blur")
    assert found.largest_pixel_difference > 1


def test_a_wrong_visual_change_in_the_table_is_found(shard: VerificationShard) -> None:
    wrong = replace(shard.records[1], visual_change=shard.records[1].visual_change + 0.01)
    found = verify_shard(replace(shard, records=(wrong,)))
    assert found.different == Named.one("gaussian_noise")
    assert found.largest_change_difference == pytest.approx(0.01)


def test_another_framing_is_another_picture(shard: VerificationShard) -> None:
    assert verify_shard(replace(shard, framing="imagenet")).different.count == 3


def test_what_was_imported_is_measured_but_not_made_again(shard: VerificationShard) -> None:
    record = shard.records[1]
    foreign = replace(record, version="imagenet-c", parameter=3.0, seed=0)
    found = verify_shard(replace(shard, records=(foreign,), is_imported=True))
    assert found.passed
    assert (found.checked, found.identical, found.outdated.count) == (1, 0, 0)
    wrong = replace(foreign, visual_change=0.999)
    assert verify_shard(replace(shard, records=(wrong,), is_imported=True)).different.count == 1
    Path(record.path).write_bytes(Path(shard.records[2].path).read_bytes())
    assert verify_shard(replace(shard, records=(foreign,), is_imported=True)).altered.count == 1


def test_a_version_that_is_gone_is_told_and_still_measured(shard: VerificationShard) -> None:
    found = verify_shard(replace(shard, records=(replace(shard.records[1], version="0"),)))
    assert found.passed
    assert (found.identical, found.outdated) == (0, Named.one("gaussian_noise"))
    wrong = replace(shard.records[1], version="0", visual_change=0.9)
    assert not verify_shard(replace(shard, records=(wrong,))).passed


def test_findings_add_up() -> None:
    total = Verification(checked=1, missing=Named.one("a")).merged(
        [
            Verification(checked=2, identical=2, missing=Named.one("c")),
            Verification(checked=1, altered=Named.one("b"), largest_pixel_difference=7, largest_change_difference=0.5),
            Verification(largest_pixel_difference=5),
        ]
    )
    assert total == Verification(
        checked=4,
        identical=2,
        missing=Named(2, ("a", "c")),
        altered=Named.one("b"),
        largest_pixel_difference=7,
        largest_change_difference=0.5,
    )


def test_only_the_first_names_are_kept() -> None:
    total = Verification().merged(Verification(checked=1, missing=Named.one(str(number))) for number in range(1000))
    assert total.missing.count == 1000
    assert total.missing.names[:2] == ("0", "1")
    assert len(total.missing.names) == 20
