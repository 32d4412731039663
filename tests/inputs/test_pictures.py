"""Pictures as people really hand them in: every file is well formed and means something else than it seems to."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from analysis.generation.originals import prepare_original
from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceImage
from tests.inputs.handed import handed_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_media(settings, tmp_path: Path) -> None:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"


def test_thumbnails_of_a_storage_box_are_no_originals(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_images", str(handed_in("pictures-thumbnails-of-a-nas") / "photos"), name="pets")
    told = capsys.readouterr().out
    assert "pets: 2 pictures imported (cat 1, dog 1)" in told
    assert "ignored: 2 files left by systems and programs (thumbnails, bins, hidden files): @eaDir (2)" in told


def test_a_motion_photo_is_the_picture_before_the_video(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_images", str(handed_in("pictures-motion-photo") / "photos"), name="pets")
    assert "pets: 2 pictures imported (cat 1, dog 1)" in capsys.readouterr().out


def test_colours_are_those_of_the_files_profile() -> None:
    folder = handed_in("pictures-with-a-colour-profile") / "photos"
    call_command("import_images", str(folder), name="pets")
    clean = prepare_original(media_path(SourceImage.objects.get(category="cat").file), 96)
    red, _, blue = clean.mean(axis=(0, 1))
    assert blue > 100 > red


def test_a_list_finds_a_name_whose_accent_another_system_stored(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_images", str(handed_in("pictures-list-written-on-another-system") / "list.csv"), name="pets")
    assert "pets: 1 pictures imported (cat 1)" in capsys.readouterr().out


def test_a_list_of_a_german_spreadsheet_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_images", str(handed_in("pictures-list-of-a-german-excel") / "list.csv"), name="pets")
    assert "pets: 1 pictures imported (cat 1)" in capsys.readouterr().out


def test_a_list_with_two_columns_of_categories_is_refused_with_both() -> None:
    with pytest.raises(CommandError, match="columns 2 and 3 are both called 'category'"):
        call_command("import_images", str(handed_in("pictures-list-two-category-columns") / "list.csv"), name="pets")
    assert not SourceImage.objects.exists()
