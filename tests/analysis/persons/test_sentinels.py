from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from analysis.errors import InvalidInput, PictureRefused
from analysis.persons.sentinels import SENTINELS, Sentinel, high_pass, register_sentinel, sentinel_cost, silhouette


def disc(background: int = 220) -> np.ndarray:
    y, x = np.mgrid[:224, :224]
    picture = np.full((224, 224, 3), background, dtype=np.uint8)
    picture[(y - 112) ** 2 + (x - 112) ** 2 < 60**2] = (180, 40, 40)
    return picture


def test_a_silhouette_is_the_object_in_black() -> None:
    found = silhouette(disc())
    assert set(np.unique(found)) == {0, 255} and found.shape == (224, 224, 3)
    inside = (found[..., 0] == 0).mean()
    assert inside == pytest.approx(np.pi * 60**2 / 224**2, rel=0.05)
    assert found[112, 112, 0] == 0 and found[5, 5, 0] == 255


def test_a_hole_within_the_object_is_filled() -> None:
    picture = disc()
    picture[100:120, 100:120] = 220
    assert silhouette(picture)[110, 110, 0] == 0


@pytest.mark.parametrize("picture", [np.full((224, 224, 3), 128, dtype=np.uint8), np.indices((224, 224)).sum(0) % 2])
def test_a_picture_without_an_object_is_refused(picture: np.ndarray) -> None:
    flat = picture if picture.ndim == 3 else np.repeat((255 * picture).astype(np.uint8)[..., np.newaxis], 3, axis=2)
    with pytest.raises(PictureRefused, match="choose another original"):
        silhouette(flat)


def test_high_pass_keeps_edges_and_nothing_else() -> None:
    found = high_pass(disc())
    assert found.dtype == np.uint8 and (found[..., 0] == found[..., 2]).all()
    assert abs(int(found[112, 112, 0]) - 128) <= 2 and abs(int(found[3, 3, 0]) - 128) <= 2
    assert np.ptp(found[112, 45:60, 0].astype(int)) > 100
    with pytest.raises(PictureRefused, match="no edges"):
        high_pass(np.full((224, 224, 3), 90, dtype=np.uint8))


@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with photos16")
def test_photographs_give_edges_always_and_outlines_often() -> None:
    files = sorted((Path(os.environ["REFERENCE_DATA"]) / "photos16").glob("*/*.jpg"))[::4]
    outlines = 0
    for file in files:
        picture = np.asarray(Image.open(file).convert("RGB"))
        assert high_pass(picture).shape == picture.shape
        try:
            outlines += silhouette(picture).shape == picture.shape
        except PictureRefused:
            continue
    assert outlines >= len(files) // 4


def test_the_cost_is_rounded_up_and_four_a_session_are_the_most() -> None:
    cost = sentinel_cost(4, 60, trial_ms=3200, pay_per_hour=1200)
    assert (cost.trials, cost.seconds, cost.pay) == (240, 768, 256)
    assert sentinel_cost(1, 1, trial_ms=1, pay_per_hour=1).pay == 1
    assert sentinel_cost(0, 60, trial_ms=3200, pay_per_hour=1200).pay == 0
    with pytest.raises(InvalidInput, match="0 to 4"):
        sentinel_cost(5, 60, trial_ms=3200, pay_per_hour=1200)


def test_families_are_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"cue_conflict", "high_pass", "silhouette"} <= set(SENTINELS)
    assert SENTINELS["cue_conflict"].make is None and SENTINELS["cue_conflict"].has_lure
    monkeypatch.delitem(SENTINELS, "mooney", raising=False)
    own = register_sentinel(Sentinel(name="mooney", label="Two tones", version="1", make=lambda picture: picture))
    assert SENTINELS["mooney"] is own and register_sentinel(own) is own
    with pytest.raises(InvalidInput, match="already"):
        register_sentinel(Sentinel(name="mooney", label="Another", version="1"))
    monkeypatch.delitem(SENTINELS, "mooney")
    with pytest.raises(InvalidInput, match="lower-case"):
        Sentinel(name="Two Tones", label="x", version="1")
