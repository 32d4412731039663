from __future__ import annotations

import hashlib
import itertools
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from analysis.corruptions import corrupt
from analysis.errors import InvalidInput, PictureRefused
from analysis.generation.files import UNFINISHED, decode_png, digest, encode_png
from analysis.generation.originals import prepare_original
from analysis.generation.plan import plan_stimuli
from analysis.generation.shards import (
    METRIC_NAME,
    SHARD_STIMULI,
    PilotShard,
    cut_into_shards,
    fit_pilot_shard,
    generate_shard,
)
from analysis.tables.stimuli import STIMULI
from analysis.visual_change.targeting import TOLERANCE
from analysis.visual_change.vif import visual_change
from tests.analysis.generation.originals import coloured, write_originals

SIZE_PX = 112
FUNCTIONS = ("gaussian_noise", "gaussian_blur")


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory):  # noqa: ANN201
    return write_originals(tmp_path_factory.mktemp("originals"), {"cat": 3, "dog": 2})


@pytest.fixture(scope="module")
def pilots(originals):  # noqa: ANN001, ANN201
    return {name: fit_pilot_shard(PilotShard(name, tuple(originals), SIZE_PX, 1)) for name in FUNCTIONS}


def make_shards(originals, pilots, folder: Path, count: int = 20, seed: int = 1):  # noqa: ANN001, ANN201
    plans = plan_stimuli(originals, pilots, count=count, seed=seed, size_px=SIZE_PX)
    return list(cut_into_shards(plans, pilots, size_px=SIZE_PX, folder=folder))


def make_all(shards):  # noqa: ANN001, ANN201
    return [row for shard in shards for row in generate_shard(shard).rows]


def test_rows_say_what_the_files_are(originals, pilots, tmp_path: Path) -> None:  # noqa: ANN001
    rows = make_all(make_shards(originals, pilots, tmp_path))
    assert len(rows) == 5 + 2 * 20
    by_key = {original.key: original for original in originals}
    for row in rows:
        content = (tmp_path / row["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == row["sha256"]
        picture = prepare_original(Path(by_key[row["original"]].path), SIZE_PX)
        shown = np.asarray(Image.open(tmp_path / row["file"]))
        # f(original, corruption, parameter, seed): the picture, and Δv as measured on the decoded file.
        assert np.array_equal(shown, corrupt(picture, row["corruption"], row["parameter"], row["seed"]))
        assert row["visual_change"] == pytest.approx(visual_change(picture, shown), abs=1e-9)
        assert row["category"] == by_key[row["original"]].category
        if row["corruption"] == "none":
            assert (row["parameter"], row["visual_change"], row["evaluations"], row["target"]) == (0, 0, 0, None)
        else:
            assert row["reached"] == (abs(row["visual_change"] - row["target"]) <= TOLERANCE)
            assert row["evaluations"] >= 1
    assert {row["metric"] for row in rows} == {METRIC_NAME} == {"vif-wavelet-1"}
    assert len(STIMULI.frame(rows)) == len(rows)
    assert set(rows[0]) == set(STIMULI.names)


def test_the_table_survives_csv(originals, pilots, tmp_path: Path) -> None:  # noqa: ANN001
    rows = make_all(make_shards(originals, pilots, tmp_path, count=6))
    STIMULI.write(STIMULI.frame(rows), tmp_path / "stimuli.csv")
    read = STIMULI.read(tmp_path / "stimuli.csv").set_index("stimulus")
    for row in rows:
        assert read.loc[row["stimulus"], "seed"] == row["seed"]
        assert read.loc[row["stimulus"], "parameter"] == row["parameter"]
        assert read.loc[row["stimulus"], "visual_change"] == row["visual_change"]


def test_made_again_elsewhere_everything_is_the_same(originals, pilots, tmp_path: Path) -> None:  # noqa: ANN001
    first = make_all(make_shards(originals, pilots, tmp_path / "first"))
    second = make_all(reversed(make_shards(originals, pilots, tmp_path / "second")))
    assert sorted(map(repr, first)) == sorted(map(repr, second))
    for row in first:
        assert (tmp_path / "first" / row["file"]).read_bytes() == (tmp_path / "second" / row["file"]).read_bytes()


def test_files_with_the_right_digest_are_left_alone_and_others_made_again(originals, pilots, tmp_path: Path) -> None:  # noqa: ANN001
    shards = make_shards(originals, pilots, tmp_path)
    rows = make_all(shards)
    digests = {row["stimulus"]: row["sha256"] for row in rows}
    resumed = [shard.with_digests(digests) for shard in shards]
    outcomes = [generate_shard(shard) for shard in resumed]
    assert sum(outcome.found for outcome in outcomes) == len(rows)
    assert all(not outcome.rows for outcome in outcomes)

    lost, spoilt = rows[3], rows[7]
    (tmp_path / lost["file"]).unlink()
    (tmp_path / spoilt["file"]).write_bytes(b"half a pic")
    again = make_all(resumed)
    assert sorted(row["stimulus"] for row in again) == sorted([lost["stimulus"], spoilt["stimulus"]])
    assert {row["sha256"] for row in again} == {lost["sha256"], spoilt["sha256"]}
    assert all((tmp_path / row["file"]).stat().st_size > 100 for row in (lost, spoilt))
    assert not list((tmp_path / UNFINISHED).iterdir())


def test_png_files_carry_no_metadata() -> None:
    png = encode_png(coloured(4))
    kinds, place = [], 8
    while place < len(png):
        length = int.from_bytes(png[place : place + 4], "big")
        kinds.append(png[place + 4 : place + 8])
        place += 12 + length
    assert set(kinds) == {b"IHDR", b"IDAT", b"IEND"}
    assert np.array_equal(decode_png(png), coloured(4))
    with pytest.raises(PictureRefused):
        decode_png(b"")
    with pytest.raises(PictureRefused):
        decode_png(b"no picture")


def test_shards_are_small_and_travel(originals, pilots, tmp_path: Path) -> None:  # noqa: ANN001
    shards = make_shards(originals, pilots, tmp_path, count=60)
    names = [name for shard in shards for name in shard.names]
    assert len(names) == len(set(names)) == sum(len(shard.names) for shard in shards) == 5 + 2 * 60
    assert all(SHARD_STIMULI <= len(shard.names) < 2 * SHARD_STIMULI for shard in shards[:-1])
    # An original's pieces come one after the other.
    keys = [plan.original.key for shard in shards for plan in shard.plans]
    assert [key for key, _ in itertools.groupby(keys)] == sorted(original.key for original in originals)
    assert pickle.loads(pickle.dumps(shards[0])) == shards[0]  # noqa: S301


def test_plans_are_cut_as_they_come(originals, pilots, tmp_path: Path) -> None:  # noqa: ANN001
    taken = []

    def plans():  # noqa: ANN202
        for plan in plan_stimuli(originals, pilots, count=60, seed=1, size_px=SIZE_PX):
            taken.append(plan.original.key)
            yield plan

    next(cut_into_shards(plans(), pilots, size_px=SIZE_PX, folder=tmp_path))
    assert len(taken) == 1


@pytest.mark.parametrize("sampling", ["uniform", "imagenet-c-levels"])
def test_fixed_parameters_are_made_directly_and_measured(sampling: str, originals, tmp_path: Path) -> None:  # noqa: ANN001
    plan = plan_stimuli(
        originals, {}, corruptions=["gaussian_noise"], count=10, seed=1, size_px=SIZE_PX, sampling=sampling
    )
    shards = list(cut_into_shards(plan, {}, size_px=SIZE_PX, folder=tmp_path, framing="imagenet"))
    wanted = {request.stimulus: request for shard in shards for one in shard.plans for request in one.requests}
    by_key = {original.key: original for original in originals}
    rows = [row for row in make_all(shards) if row["corruption"] != "none"]
    assert len(rows) == (10 if sampling == "uniform" else 25)
    for row in rows:
        assert (row["target"], row["evaluations"], row["reached"]) == (None, 1, True)
        assert row["parameter"] == wanted[row["stimulus"]].parameter
        picture = prepare_original(Path(by_key[row["original"]].path), SIZE_PX, "imagenet")
        shown = decode_png((tmp_path / row["file"]).read_bytes())
        again = corrupt(picture, "gaussian_noise", row["parameter"], row["seed"], version=row["corruption_version"])
        assert np.array_equal(shown, again)
        assert row["visual_change"] == visual_change(picture, shown)


def test_an_original_that_is_not_the_imported_one_is_refused(pilots, tmp_path: Path) -> None:  # noqa: ANN001
    (original,) = write_originals(tmp_path / "originals", {"cat": 1})
    Image.fromarray(coloured(77)).save(original.path)
    with pytest.raises(PictureRefused, match="cat-0.png: the file is not the one that was imported"):
        make_all(make_shards([original], pilots, tmp_path, count=2))


def test_an_original_that_cannot_be_measured_is_named(pilots, tmp_path: Path) -> None:  # noqa: ANN001
    (original,) = write_originals(tmp_path / "originals", {"cat": 1})
    Image.new("RGB", (128, 128), (50, 60, 70)).save(original.path)
    original = replace(original, sha256=digest(Path(original.path).read_bytes()))
    with pytest.raises(PictureRefused, match=r"cat-0.png: .*single grey level"):
        make_all(make_shards([original], pilots, tmp_path, count=2))


def test_a_function_that_has_changed_since_is_refused(originals, pilots, tmp_path: Path) -> None:  # noqa: ANN001
    older = {name: replace(pilot, version="0") for name, pilot in pilots.items()}
    with pytest.raises(InvalidInput, match="start a new set"):
        make_all(make_shards(originals, older, tmp_path))
