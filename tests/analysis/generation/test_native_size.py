"""Small pictures: corrupted at their native size, enlarged, and measured as they are shown."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from analysis.corruptions import CORRUPTIONS, corrupt, find_corruption
from analysis.corruptions.registry import apply_corruption
from analysis.errors import InvalidInput, PictureRefused
from analysis.generation.files import decode_png, digest, encode_png
from analysis.generation.originals import Inspection, inspect_originals, prepare_original
from analysis.generation.plan import plan_stimuli
from analysis.generation.reach_survey import SurveyShard, survey_shard
from analysis.generation.shards import (
    PilotShard,
    Shard,
    cut_into_shards,
    fit_pilot_shard,
    generate_shard,
    prepare_reference,
)
from analysis.generation.verification import Named, StimulusRecord, VerificationShard, verify_shard
from analysis.native_size import at_native_size, enlarge, native_pixels, native_side
from analysis.original import Original
from analysis.persons.sentinels import find_sentinel
from analysis.visual_change.targeting import TOLERANCE, PilotMap
from analysis.visual_change.vif import visual_change
from tests.analysis.generation.originals import coloured, write_originals
from tests.analysis.generation.test_plan import PILOTS, make_originals

FUNCTIONS = ("gaussian_noise", "median_blur")


def drawn(folder: Path, sides: dict[str, int]) -> list[Original]:
    """Three pictures in colour of each side in px."""
    return [one for name, side in sides.items() for one in write_originals(folder / name, {name: 3}, side)]


def published(folder: Path, name: str) -> list[Original]:
    """Six pictures of two classes of a published set."""
    archive = Path(os.environ.get("REFERENCE_DATA", "/nonexistent")) / name / "test.zip"
    if not archive.is_file():
        pytest.skip(f"REFERENCE_DATA holds no {name}")
    found = []
    with zipfile.ZipFile(archive) as files:
        names = sorted(one for one in files.namelist() if not one.endswith("/"))
        for member in (*names[:3], *names[-3:]):
            content, path = files.read(member), folder / member
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            category = path.parent.name
            found.append(Original(f"{category}-{path.stem}", category, str(path), hashlib.sha256(content).hexdigest()))
    return found


SETS: dict[str, tuple[Any, int]] = {
    "drawn": (lambda folder: drawn(folder, {"cat": 32}), 7),
    "cifar10": (lambda folder: published(folder, "cifar10"), 7),
    "mnist": (lambda folder: published(folder, "mnist"), 8),
}


@pytest.fixture(params=sorted(SETS))
def small(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[Original], int]:
    """Small originals, and how many times they are enlarged to 224 px."""
    write, enlarged = SETS[request.param]
    return write(tmp_path / "originals"), enlarged


def shards_of(originals: list[Original], enlarged: int, folder: Path, **wanted: Any) -> list[Shard]:
    pilots = {
        name: fit_pilot_shard(PilotShard(name, tuple(originals), 224, 1, enlarged=enlarged)) for name in FUNCTIONS
    }
    plan = plan_stimuli(originals, pilots, **{"count": 12, "seed": 1, "size_px": 224, "enlarged": enlarged, **wanted})
    return list(cut_into_shards(plan, pilots, size_px=224, folder=folder, enlarged=enlarged))


def native(original: Original) -> np.ndarray:
    """Pixels of an original by another reader than the one under test."""
    with Image.open(original.path) as file:
        return np.asarray(file.convert("RGB"))


def test_stimuli_are_made_at_native_size_and_measured_as_shown(small: Any, tmp_path: Path) -> None:
    originals, enlarged = small
    by_key = {one.key: one for one in originals}
    rows = [row for shard in shards_of(originals, enlarged, tmp_path) for row in generate_shard(shard).rows]
    assert len(rows) == len(originals) + 12 * len(FUNCTIONS)
    for row in rows:
        clean = native(by_key[row["original"]])
        shown = decode_png((tmp_path / row["file"]).read_bytes())
        assert shown.shape == (224, 224, 3) and (row["size_px"], row["enlarged"]) == (224, enlarged)
        # Bit for bit: the function of the native pixels, and each of these as a square.
        made = corrupt(clean, row["corruption"], row["parameter"], row["seed"])
        assert np.array_equal(native_pixels(shown, enlarged), made)
        assert np.array_equal(shown, np.kron(made, np.ones((enlarged, enlarged, 1), np.uint8)))
        # Visual change is that of the pictures of 224 px.
        assert row["visual_change"] == pytest.approx(visual_change(enlarge(clean, enlarged), shown), abs=1e-9)
        if row["corruption"] != "none" and row["reached"]:
            assert abs(row["visual_change"] - row["target"]) <= TOLERANCE
    assert sum(row["reached"] for row in rows) >= 0.9 * len(rows)


def test_every_function_works_on_small_pictures(small: Any) -> None:
    """Parameters that count pixels may exceed the side; the picture still stays one, and is gone at the end."""
    (first, *_), enlarged = small
    clean = native(first)
    shown = enlarge(clean, enlarged)
    for name, corruption in CORRUPTIONS.items():
        strongest = [
            apply_corruption(corruption, clean, corruption.parameter_at(1.0), seed)
            for seed in range(corruption.redraws)
        ]
        assert all(made.shape == clean.shape for made in strongest)
        changes = [visual_change(shown, enlarge(made, enlarged)) for made in strongest]
        assert max(changes) > 0.6, name
        weakest = apply_corruption(corruption, clean, corruption.parameter_at(0.0), 1)
        assert visual_change(shown, enlarge(weakest, enlarged)) < 0.25, name
        again = apply_corruption(at_native_size(corruption, enlarged), shown, corruption.parameter_at(0.5), 3)
        made = apply_corruption(corruption, clean, corruption.parameter_at(0.5), 3)
        assert np.array_equal(again, enlarge(made, enlarged)), name


def test_grey_pictures_are_three_equal_channels(tmp_path: Path) -> None:
    grey = coloured(4, 28, 28)[..., 0]
    Image.fromarray(grey).save(tmp_path / "grey.png")
    shown = prepare_original(tmp_path / "grey.png", 224, enlarged=8)
    assert np.array_equal(shown, np.repeat(np.kron(grey, np.ones((8, 8), np.uint8))[..., None], 3, axis=2))


def test_a_run_that_was_stopped_goes_on_and_what_is_made_can_be_verified(small: Any, tmp_path: Path) -> None:
    originals, enlarged = small
    shards = shards_of(originals, enlarged, tmp_path / "a", person_families=["high_pass"])
    rows = {row["stimulus"]: row for shard in shards for row in generate_shard(shard).rows}
    digests = {name: row["sha256"] for name, row in rows.items()}
    gone = next(iter(rows.values()))
    (tmp_path / "a" / gone["file"]).unlink()
    again = [generate_shard(shard.with_digests(digests)) for shard in shards]
    made = [row for outcome in again for row in outcome.rows]
    assert [row["stimulus"] for row in made] == [gone["stimulus"]] and made[0] == gone
    for original in originals:
        records = tuple(
            StimulusRecord(
                stimulus=row["stimulus"],
                corruption=row["corruption"],
                version=row["corruption_version"] or "",
                parameter=row["parameter"],
                seed=row["seed"],
                visual_change=row["visual_change"],
                sha256=row["sha256"],
                path=str(tmp_path / "a" / row["file"]),
            )
            for row in rows.values()
            if row["original"] == original.key
        )
        shard = VerificationShard(original, records, 224, enlarged=enlarged)
        found = verify_shard(shard)
        assert found.passed and found.identical == found.checked == len(records)


def test_a_file_whose_pixels_are_no_squares_is_found(tmp_path: Path) -> None:
    (original, *_) = drawn(tmp_path, {"cat": 32})
    clean = enlarge(native(original), 7)
    shown = clean.copy()
    shown[100, 100] ^= 1  # one pixel, by one level: within what another processor may round
    (tmp_path / "made.png").write_bytes(encode_png(shown))
    record = StimulusRecord(
        stimulus="s", corruption="none", version="", parameter=0.0, seed=0,
        visual_change=visual_change(clean, shown), sha256=digest(encode_png(shown)), path=str(tmp_path / "made.png"),
    )  # fmt: skip
    shard = VerificationShard(original, (record,), 224, enlarged=7)
    assert verify_shard(shard).different == Named.one("s")
    assert verify_shard(replace(shard, is_imported=True)).different == Named.one("s")
    record = replace(record, sha256=digest(encode_png(clean)), visual_change=0.0)
    (tmp_path / "made.png").write_bytes(encode_png(clean))
    assert verify_shard(replace(shard, records=(record,))).passed
    with pytest.raises(PictureRefused, match=r"cat-0.png: 32 x 32 px\. .*must be squares of 28 px"):
        verify_shard(replace(shard, records=(record,), enlarged=8))


def test_sentinels_of_persons_are_made_of_native_pixels(tmp_path: Path) -> None:
    originals = drawn(tmp_path / "originals", {"cat": 32})
    shards = shards_of(originals, 7, tmp_path, person_families=["high_pass"])
    rows = [row for shard in shards for row in generate_shard(shard).rows if row["corruption"] == "high_pass"]
    assert len(rows) == 3
    make = find_sentinel("high_pass").make
    assert make is not None
    for row, original in zip(rows, originals, strict=True):
        shown = decode_png((tmp_path / row["file"]).read_bytes())
        assert np.array_equal(shown, enlarge(make(native(original)), 7))


def test_the_survey_measures_what_is_shown(tmp_path: Path) -> None:
    (original, *_) = drawn(tmp_path, {"cat": 32})
    shard = SurveyShard(0, (original,), (("gaussian_blur",),), 224, 5, enlarged=7)
    (reach,) = survey_shard(shard).reaches["gaussian_blur"]
    clean = native(original)
    blurred = corrupt(clean, "gaussian_blur", find_corruption("gaussian_blur").parameter_at(1.0), 0)
    assert reach == pytest.approx(visual_change(enlarge(clean, 7), enlarge(blurred, 7)), abs=1e-4)


def test_names_of_stimuli_that_are_not_enlarged_stay_as_they_were() -> None:
    """The digest is of names, targets, seeds and files as they were before pictures could be enlarged."""
    originals = make_originals({"cat": 5, "dog": 3})

    def names(**wanted: Any) -> str:
        plan = plan_stimuli(
            originals, PILOTS, **{"count": 20, "seed": 7, "size_px": 224, "person_families": ["high_pass"], **wanted}
        )
        made = [f"{one.stimulus}{one.target}{one.seed}{one.file}" for each in plan for one in each.requests]
        return hashlib.sha256("".join(made).encode()).hexdigest()

    assert names()[:16] == names(enlarged=1)[:16] == "e3c8bd1489389b94"
    assert names(framing="imagenet")[:16] == "63114177f8386229"
    assert names(sampling="uniform", corruptions=["gaussian_noise"])[:16] == "72c34f060a0a38e0"
    assert len({names(), names(enlarged=7), names(enlarged=8)}) == 3


@pytest.mark.parametrize(
    ("size_px", "enlarged", "reason"),
    [
        (224, 0, "by a whole number from 1 .*not by 0"),
        (224, -7, "not by -7"),
        (224, 5, "no multiple of 5.*choose 220 px or 225 px"),
        (224, 28, "have 8 x 8 px, and corruption functions need at least 16"),
        (64, 2, "from 96 px on; 64 px are too few. Enlarge pictures of 32 x 32 px 3 times, to 96 px"),
        (84, 3, "28 x 28 px 4 times, to 112 px"),
    ],
)
def test_a_factor_that_cannot_be_is_refused_with_one_that_can(size_px: int, enlarged: int, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        native_side(size_px, enlarged)
    with pytest.raises(InvalidInput, match=reason):
        plan_stimuli(make_originals({"cat": 1}), PILOTS, count=1, seed=0, size_px=size_px, enlarged=enlarged)


def test_sizes_that_can_be_give_the_native_side() -> None:
    assert [native_side(*one) for one in ((224, 1), (224, 7), (224, 8), (96, 3), (64, 1))] == [224, 32, 28, 32, 64]


def test_levels_of_imagenet_c_are_refused_at_native_size() -> None:
    with pytest.raises(InvalidInput, match="published for pictures of 224 px, and mean something else at 32 px"):
        plan_stimuli(
            make_originals({"cat": 1}), {}, corruptions=["frost"], count=0, seed=0, size_px=224, enlarged=7,
            sampling="imagenet-c-levels",
        )  # fmt: skip


def test_pictures_of_another_size_are_refused_by_name_and_never_scaled(tmp_path: Path) -> None:
    for name, height, width in (("larger", 64, 64), ("oblong", 32, 40), ("smaller", 31, 31)):
        path = tmp_path / f"{name}.png"
        Image.fromarray(coloured(2, height, width)).save(path)
        with pytest.raises(PictureRefused, match=rf"{name}.png: {width} x {height} px\. .*must be squares of 32 px"):
            prepare_original(path, 224, enlarged=7)
    (original, *_) = drawn(tmp_path, {"cat": 32})
    with pytest.raises(InvalidInput, match="used whole"):
        prepare_original(Path(original.path), 224, "imagenet", enlarged=7)
    with pytest.raises(InvalidInput, match="32 x 32 px 3 times, to 96 px"):
        prepare_reference(original, 64, enlarged=2)


def test_the_import_takes_small_squares_alone(tmp_path: Path) -> None:
    def look_at(height: int, width: int) -> Inspection:
        path = tmp_path / f"{width}x{height}.png"
        with io.BytesIO() as stream:
            Image.fromarray(coloured(3, height, width)).save(stream, format="PNG")
            path.write_bytes(stream.getvalue())
        (found,) = inspect_originals([str(path)])
        return found

    assert (look_at(32, 32).refusal, look_at(32, 32).width_px) == ("", 32)
    assert look_at(16, 16).refusal == ""
    for height, width in ((15, 15), (32, 40), (95, 200)):
        assert "or a square of 16 px or more, which can be shown enlarged" in look_at(height, width).refusal


def test_a_map_of_shown_pictures_is_that_of_their_native_pixels(tmp_path: Path) -> None:
    originals = drawn(tmp_path, {"cat": 32})
    found: PilotMap = fit_pilot_shard(PilotShard("gaussian_blur", tuple(originals), 224, 1, enlarged=7))
    strongest = [
        visual_change(enlarge(native(one), 7), enlarge(corrupt(native(one), "gaussian_blur", 32.0, 0), 7))
        for one in originals
    ]
    assert found.changes[-1] == pytest.approx(np.mean(strongest), abs=1e-9)
