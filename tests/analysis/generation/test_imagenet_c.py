from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from analysis.errors import PictureRefused
from analysis.generation.files import decode_png
from analysis.generation.imagenet_c import (
    PUBLISHED_FUNCTIONS,
    cut_into_import_shards,
    function_label,
    import_shard,
    measure_likeness,
    plan_import,
)
from analysis.generation.originals import prepare_original
from analysis.generation.shards import METRIC_NAME
from analysis.visual_change.vif import visual_change
from tests.analysis.generation.imagenet_c_tree import write_tree
from tests.analysis.generation.originals import write_originals

SIZE_PX = 112


@pytest.fixture
def originals(tmp_path: Path):  # noqa: ANN201
    return write_originals(tmp_path / "originals", {"cat": 2, "dog": 1}, size_px=160)


def tree(tmp_path: Path, originals, framing="imagenet", functions=("gaussian_noise", "brightness")) -> Path:  # noqa: ANN001
    sources = [(original.category, Path(original.path)) for original in originals]
    return write_tree(tmp_path / f"tree-{framing}", sources, functions, levels=(1, 3), framing=framing)


def plans(root: Path, originals, framing="imagenet", digests=None):  # noqa: ANN001, ANN201
    return [
        plan_import(
            original,
            [
                (path.parts[-4], int(path.parts[-3]), str(path))
                for path in root.rglob(f"{original.category}/{Path(original.path).stem}.JPEG")
            ],
            size_px=SIZE_PX,
            framing=framing,
            digests=digests or {},
        )
        for original in originals
    ]


def outcomes(folder: Path, planned, framing="imagenet"):  # noqa: ANN001, ANN201
    shards = cut_into_import_shards(planned, size_px=SIZE_PX, framing=framing, folder=folder)
    return [import_shard(shard) for shard in shards]


def test_pictures_are_kept_as_decoded_and_measured_against_the_framed_original(tmp_path: Path, originals) -> None:  # noqa: ANN001
    root = tree(tmp_path, originals)
    folder = tmp_path / "made"
    rows = [row for outcome in outcomes(folder, plans(root, originals)) for row in outcome.rows]
    assert len(rows) == 3 * (1 + 2 * 2)
    assert len({row["stimulus"] for row in rows}) == len(rows)
    by_key = {original.key: original for original in originals}
    for row in rows:
        original = by_key[row["original"]]
        framed = prepare_original(Path(original.path), SIZE_PX, "imagenet")
        kept = decode_png((folder / row["file"]).read_bytes())
        assert (row["metric"], row["size_px"], row["target"], row["seed"]) == (METRIC_NAME, SIZE_PX, None, 0)
        if row["corruption"] == "none":
            assert np.array_equal(kept, framed)
            assert (row["visual_change"], row["parameter"], row["evaluations"]) == (0.0, 0.0, 0)
            assert row["corruption_version"] is None
            continue
        level, stem = round(row["parameter"]), Path(original.path).stem
        jpeg = root / row["corruption"] / str(level) / original.category / f"{stem}.JPEG"
        assert np.array_equal(kept, np.asarray(Image.open(jpeg).convert("RGB")))
        assert row["visual_change"] == pytest.approx(visual_change(framed, kept), abs=1e-12)
        assert (row["corruption_version"], row["evaluations"]) == ("imagenet-c", 1)
        assert 0.01 < row["visual_change"] < 1


def test_what_is_there_is_not_made_again(tmp_path: Path, originals) -> None:  # noqa: ANN001
    root, folder = tree(tmp_path, originals), tmp_path / "made"
    rows = [row for outcome in outcomes(folder, plans(root, originals)) for row in outcome.rows]
    digests = {row["stimulus"]: row["sha256"] for row in rows}
    again = outcomes(folder, plans(root, originals, digests=digests))
    assert sum(outcome.found for outcome in again) == len(rows)
    assert not any(outcome.rows for outcome in again)
    (folder / rows[3]["file"]).write_bytes(b"half")
    repaired = [row for outcome in outcomes(folder, plans(root, originals, digests=digests)) for row in outcome.rows]
    assert repaired == [rows[3]]


def test_bad_files_give_sentences_and_no_rows_while_the_others_go_in(tmp_path: Path, originals) -> None:  # noqa: ANN001
    root, folder = tree(tmp_path, originals), tmp_path / "made"
    files = sorted(root.rglob("*.JPEG"))
    files[0].write_bytes(files[0].read_bytes()[:200])
    files[1].write_bytes(b"")
    files[2].write_text("no picture at all")
    Image.new("RGB", (120, 112)).save(files[3])
    found = outcomes(folder, plans(root, originals))
    refusals = [refusal for outcome in found for refusal in outcome.refusals]
    assert len(refusals) == 4
    for path in files[:4]:
        assert sum(str(path) in refusal for refusal in refusals) == 1
    assert sum("120 x 112 px, but the pictures of this set have 112 x 112 px" in refusal for refusal in refusals) == 1
    assert sum(len(outcome.rows) for outcome in found) == 15 - 4
    assert len(list(folder.rglob("*.png"))) == 15 - 4


def test_an_original_that_is_gone_is_told_by_name(tmp_path: Path, originals) -> None:  # noqa: ANN001
    root = tree(tmp_path, originals)
    planned = plans(root, originals)
    Path(originals[1].path).unlink()
    found = outcomes(tmp_path / "made", planned)
    (refusal,) = [refusal for outcome in found for refusal in outcome.refusals]
    assert refusal.startswith("cat-1: ")
    assert sum(len(outcome.rows) for outcome in found) == 10


@pytest.mark.parametrize(("made", "taken"), [("imagenet", "whole"), ("whole", "imagenet")])
def test_the_wrong_framing_is_seen(tmp_path: Path, originals, made: str, taken: str) -> None:  # noqa: ANN001
    root = tree(tmp_path, originals, framing=made)
    right = measure_likeness(plans(root, originals, made), size_px=SIZE_PX, framing=made)
    assert right.refusal == ""
    assert right.n == 3
    assert right.correlation > 0.9
    wrong = measure_likeness(plans(root, originals, taken), size_px=SIZE_PX, framing=taken)
    assert wrong.correlation == right.other_correlation < right.correlation
    assert f"Import them with the framing {made}." in wrong.refusal


def test_other_originals_are_seen(tmp_path: Path, originals) -> None:  # noqa: ANN001
    root = tree(tmp_path, originals)
    others = write_originals(tmp_path / "others", {"bird": 4, "cat": 2, "dog": 1}, size_px=160)[4:]
    likeness = measure_likeness(plans(root, others), size_px=SIZE_PX, framing="imagenet")
    assert likeness.correlation < 0.5
    assert "do not show their originals" in likeness.refusal


def test_likeness_without_a_readable_picture_says_why(tmp_path: Path, originals) -> None:  # noqa: ANN001
    root = tree(tmp_path, originals)
    for path in root.rglob("*.JPEG"):
        path.write_bytes(b"")
    with pytest.raises(PictureRefused, match="JPEG"):
        measure_likeness(plans(root, originals), size_px=SIZE_PX, framing="imagenet")


def test_labels_exist_for_functions_that_are_not_ours() -> None:
    assert function_label("gaussian_noise") == "Gaussian noise"
    assert function_label("jpeg_compression") == "JPEG compression"
    assert function_label("my_own_function") == "My own function"
    assert len(PUBLISHED_FUNCTIONS) == 19
