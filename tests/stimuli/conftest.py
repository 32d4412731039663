from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from humanexp.core.models import User
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.generation.originals import write_originals


@pytest.fixture(autouse=True)
def _own_media(settings, tmp_path: Path) -> None:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"


@pytest.fixture
def picture_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    write_originals(folder, {"cat": 4, "dog": 3, "knife": 1})
    return folder


@pytest.fixture
def source_set(db: None, picture_folder: Path) -> SourceSet:
    return import_images(source=picture_folder, order=ImportOrder(name="pets")).source_set


@pytest.fixture
def researcher(db: None, client: Client) -> Client:
    """A browser that is logged in."""
    client.force_login(User.objects.create_user("lab", is_staff=True))
    return client
