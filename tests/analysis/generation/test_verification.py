from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.corruptions import corrupt
from analysis.generation import (
    StimulusRecord,
    Verification,
    VerificationShard,
    encode_png,
    prepare_original,
    verify_shard,
)
from analysis.generation.shards import digest
from analysis.visual_change import visual_change
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
            StimulusRecord(corruption, corruption, parameter, seed, change, digest(path.read_bytes()), str(path))
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
    assert found.missing == ("gaussian_noise",)
    assert found.altered == ("gaussian_blur",)
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
    assert found.different == ("gaussian_blur",)
    assert found.largest_pixel_difference > 1


def test_a_wrong_visual_change_in_the_table_is_found(shard: VerificationShard) -> None:
    wrong = replace(shard.records[1], visual_change=shard.records[1].visual_change + 0.01)
    found = verify_shard(replace(shard, records=(wrong,)))
    assert found.different == ("gaussian_noise",)
    assert found.largest_change_difference == pytest.approx(0.01)


def test_findings_add_up() -> None:
    total = Verification(checked=1, missing=("a",)).merged(
        [Verification(checked=2, identical=2), Verification(checked=1, altered=("b",), largest_pixel_difference=7)]
    )
    assert total == Verification(checked=4, identical=2, missing=("a",), altered=("b",), largest_pixel_difference=7)
