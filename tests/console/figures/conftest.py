from __future__ import annotations

from pathlib import Path

import pytest

from humanexp.console.figures.subjects import Analysed, analysed
from humanexp.core.models import User
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from humanexp.studies.models import Study
from tests.analysis.generation.originals import write_originals
from tests.results.large import make_large_study


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("lab")


@pytest.fixture
def large(user: User) -> Study:
    return make_large_study(user)


@pytest.fixture
def with_run(large: Study) -> Analysed:
    return analysed(large)


@pytest.fixture
def source_set(db: None, settings, tmp_path: Path) -> SourceSet:  # noqa: ANN001
    """Two cats and a dog, in a MEDIA_ROOT of the test's own."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    write_originals(tmp_path / "pictures", {"cat": 2, "dog": 1})
    order = ImportOrder(name="pets", licence="CC0", provenance="Drawn.")
    return import_images(source=tmp_path / "pictures", order=order).source_set
