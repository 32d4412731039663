"""Published trials of two people and a network about four pictures, the pictures, and a network that knows them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2
import numpy as np
import pytest
from django.core.management import call_command

from analysis.labels.files import default_labels

HEADER = "subj,session,trial,rt,object_response,category,condition,imagename\n"
SIDE = 96
#: Level of grey by which the network in these tests knows a picture.
SHOWN = ("dog", "cat", "oven", "bear")


def run(*arguments: object) -> str:
    out = StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


def write_picture(path: Path, category: str, *, side: int = SIDE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = np.full((side, side, 3), 10 * default_labels().ids.index(category), np.uint8)
    picture[: side // 2] += 5 + len(path.stem)
    picture[0, 0] = [sum(map(ord, str(path.stem))) % 256, 7, 9]
    cv2.imwrite(str(path), picture)


def trial(observer: str, number: int, response: str, category: str, condition: str = "0") -> str:
    prefix = f"{number:04d}_edg_{observer[-3:]}"
    image = f"{prefix}_{condition}_{category}_00_{category}1.png"
    rt = "0.5" if observer.startswith("subject") else "NaN"
    return f"{observer},1,{number},{rt},{response},{category},{condition},{image}\n"


@pytest.fixture
def trials(tmp_path: Path) -> list[Path]:
    """Two people and a network; the network's trials come in another order."""
    people = {"subject-01": ("dog", "cat", "oven", "na"), "subject-02": ("dog", "dog", "oven", "bear")}
    for name, answers in people.items():
        rows = (
            trial(name, number, said, shown) for number, (said, shown) in enumerate(zip(answers, SHOWN, strict=True), 1)
        )
        (tmp_path / f"{name}.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
    rows = (trial("alexnet", number, "dog", shown) for number, shown in enumerate(sorted(SHOWN), 1))
    (tmp_path / "alexnet.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
    return [tmp_path / f"{name}.csv" for name in ("alexnet", *people)]


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> None:
    """A folder of files of its own: what is stored is counted."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    for category in SHOWN:
        write_picture(tmp_path / "pictures" / category / f"{category}1.png", category)
    write_picture(tmp_path / "pictures" / "boat" / "boat9.png", "boat")
    (tmp_path / "pictures" / "notes.txt").write_text("not a picture", encoding="utf-8")
    return tmp_path / "pictures"


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Knows every picture by its grey level, but calls bears dogs."""

    class Network:
        name, labels, label_space = "grey", default_labels().ids, len(default_labels().ids)
        digest, preprocessing = "1" * 64, "none"
        seen: list[int] = []

        def predict(self, shown: np.ndarray) -> np.ndarray:
            levels = [int(picture[-1, -1, 0]) // 10 % 16 for picture in shown]
            self.seen.extend(levels)
            named = [
                default_labels().ids.index("dog") if default_labels().ids[one] == "bear" else one for one in levels
            ]
            return np.eye(len(default_labels().ids), dtype=np.float32)[named]

    module = ModuleType("grey_network")
    module.factory = lambda device: Network()  # type: ignore[attr-defined]
    module.Network = Network  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "grey_network", module)
    yield "python:grey_network:factory"
