from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.examples.pictures import draw
from analysis.generation.files import encode_png
from analysis.labels.files import default_labels
from humanexp.counterfactuals.models import SearchRun
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.counterfactuals.networks import CLEAN, ROBUST

SIZE_PX = 112


@pytest.fixture(scope="session")
def drawings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A picture of every category."""
    folder = tmp_path_factory.mktemp("drawings")
    for category in default_labels().ids:
        (folder / category).mkdir()
        (folder / category / "1.png").write_bytes(encode_png(draw(category, 1, SIZE_PX)))
    return folder


@pytest.fixture
def source_set(drawings: Path, db: None) -> SourceSet:
    import_images(source=drawings, order=ImportOrder(name="drawn"))
    return SourceSet.objects.get(name="drawn")


@pytest.fixture
def order(source_set: SourceSet) -> Callable[..., dict[str, object]]:
    """A small search that two networks settle; arguments say what differs."""

    def make(**changes: object) -> dict[str, object]:
        values = {
            "name": "noise",
            "source_set": source_set,
            "classifier": CLEAN,
            "generator": "corruption:gaussian_noise,step=0.4",
            "oracle": f"classifier:{ROBUST}",
            "budget": 2,
            "batch": 3,
            "size_px": 64,
        }
        pictures = changes.pop("pictures", 6)
        return {"run": SearchRun(**{**values, **changes}), "pictures": pictures}

    return make
