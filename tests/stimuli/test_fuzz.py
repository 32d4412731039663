from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.errors import PictureRefused
from analysis.generation.originals import prepare_original
from humanexp.core.errors import InputRefused
from humanexp.core.storage import media_path
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.generation.originals import check_original
from tests.limits import LIMIT
from tests.stimuli import hostile

COUNT = 500
#: Looking at one of them must not take more of the processor's time, nor the whole process more memory, than this.
MOST_S, MOST_MB = 5.0, 900

_LOOK = """
import json, signal, sys, time
from pathlib import Path
from analysis.generation.originals import inspect_originals

def hang(*_):
    raise SystemExit("a picture took too long")

signal.signal(signal.SIGPROF, hang)
for path in sorted(Path(sys.argv[1]).rglob("*")):
    if path.is_file():
        signal.setitimer(signal.ITIMER_PROF, float(sys.argv[2]))
        (found,) = inspect_originals([str(path)], [path.name])
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps([path.name, found.refusal, found.sha256]))
# Not ru_maxrss: that begins with the peak of the process that started this one.
status = Path("/proc/self/status").read_text()
peak_mb = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps(["", "", peak_mb]))
"""


@pytest.fixture(scope="module")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "cat").mkdir()
    for name, content in hostile.files(COUNT, seed=16):
        (folder / "cat" / name).write_bytes(content)
    return folder


@pytest.mark.gate
@pytest.mark.promise(4)
@pytest.mark.process
def test_each_hostile_file_is_a_picture_or_refused_with_a_sentence(hostile_folder: Path) -> None:
    """In a process of its own: a crash of a decoder would be seen, and memory measured."""
    done = subprocess.run(
        [sys.executable, "-c", _LOOK, str(hostile_folder), str(MOST_S)], capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *lines, (_, _, peak_mb) = map(json.loads, done.stdout.splitlines())
    assert len(lines) == COUNT
    refused = {name: refusal for name, refusal, _ in lines if refusal}
    for name, refusal in refused.items():
        assert refusal.startswith(f"{name}: "), refusal
        assert refusal.endswith("."), refusal
        assert len(refusal) < 400
        assert "\n" not in refusal
    # Both happen: what is refused is not simply everything.
    assert 200 < len(refused) < COUNT - 60
    assert peak_mb < MOST_MB
    # What is taken can be prepared for a screen, or is refused then with a sentence as well.
    for name, refusal, sha256 in lines:
        if not refusal:
            assert sha256
            try:
                picture = prepare_original(hostile_folder / "cat" / name, 112)
            except PictureRefused as error:
                assert name in str(error)
            else:
                assert picture.shape == (112, 112, 3)
                assert picture.min() < picture.max()


@pytest.mark.django_db
def test_hostile_files_leave_no_row_and_no_file(hostile_folder: Path, picture_folder: Path) -> None:
    with pytest.raises(InputRefused, match=r"\d+ of 500 pictures cannot be used; nothing was imported"):
        import_images(source=hostile_folder, order=ImportOrder(name="hostile"))
    assert not SourceSet.objects.exists()
    assert not SourceImage.objects.exists()
    assert [path for path in media_path("").rglob("*") if path.is_file()] == []
    report = import_images(source=hostile_folder, order=ImportOrder(name="hostile", skip_unusable=True))
    assert report.n_images + len(report.unusable) + len(report.duplicates) == COUNT
    stored = [path for path in media_path("originals").rglob("*") if path.is_file()]
    assert len(stored) == report.n_images == SourceImage.objects.count()
    for image in SourceImage.objects.all():
        path = media_path(image.file)
        assert path.is_file()
        assert check_original(path) == (image.width_px, image.height_px)
        assert min(image.width_px, image.height_px) >= 96
