from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from humanexp.core.errors import InputRefused, InvalidRequest
from humanexp.core.storage import media_path
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli.models import Framing, Sampling, SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.services import imagenet_c
from humanexp.stimuli.services.generation import start_generation
from humanexp.stimuli.services.imagenet_c import EvenlySpread, import_imagenet_c, resume_import
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from humanexp.studies.plans import catalogue_of
from tests.analysis.generation.imagenet_c_tree import write_tree
from tests.analysis.generation.originals import write_originals

pytestmark = pytest.mark.django_db

SIZE_PX = 112
FUNCTIONS = ("gaussian_noise", "brightness")
#: ImageNet classes of the categories cat and dog
CAT, DOG = "n02123045", "n02085936"
#: a bullfrog: of no category, a label of restricted9
FROG = "n01641577"


@pytest.fixture
def wnid_set(tmp_path: Path, db: None) -> SourceSet:
    """Originals in folders named by WordNet id, as ImageNet's validation pictures are."""
    folder = tmp_path / "originals"
    for original in write_originals(tmp_path / "drawn", {"cat": 3, "dog": 2}, size_px=160):
        path = Path(original.path)
        wnid = CAT if original.category == "cat" else DOG
        (folder / wnid).mkdir(parents=True, exist_ok=True)
        number = 10 * (original.category == "dog") + int(path.stem[-1])
        path.rename(folder / wnid / f"ILSVRC2012_val_{number:08d}.png")
    return import_images(source=folder, order=ImportOrder(name="validation")).source_set


@pytest.fixture
def tree(tmp_path: Path, wnid_set: SourceSet) -> Path:
    originals = [(path.parent.name, path) for path in sorted((tmp_path / "originals").rglob("*.png"))]
    return write_tree(tmp_path / "imagenet-c", originals, FUNCTIONS, size_px=SIZE_PX)


def imported(tree: Path, source_set: SourceSet, **options) -> StimulusSet:  # noqa: ANN003
    found = import_imagenet_c(folder=tree, source_set=source_set, **{"name": "levels", "size_px": SIZE_PX, **options})
    runner.run_waiting()
    found.stimulus_set.refresh_from_db()
    return found.stimulus_set


def nothing_written(source_set: SourceSet) -> bool:
    source_set.refresh_from_db()
    stimuli = media_path("stimuli")
    return (
        source_set.frozen_at is None
        and not StimulusSet.objects.exists()
        and not Job.objects.filter(kind=imagenet_c.IMPORT_JOB_KIND).exists()
        and not (stimuli.exists() and any(stimuli.iterdir()))
    )


def test_a_tree_becomes_a_set_like_any_other(tree: Path, wnid_set: SourceSet) -> None:
    found = import_imagenet_c(folder=tree, source_set=wnid_set, name="levels", size_px=SIZE_PX)
    scan = found.scan
    assert (scan.n_pictures, scan.n_originals, scan.n_incomplete, scan.unmatched.sentences()) == (50, 5, 0, [])
    assert found.likeness.correlation > 0.9
    runner.run_waiting()
    stimulus_set = StimulusSet.objects.get()
    job = Job.objects.get(kind=imagenet_c.IMPORT_JOB_KIND)
    assert (job.state, job.done, job.total) == (JobState.DONE, 55, 55), job.error
    assert stimulus_set.completed_at is not None
    assert (stimulus_set.sampling, stimulus_set.framing) == (Sampling.IMPORTED, Framing.IMAGENET)
    assert stimulus_set.corruptions == ["gaussian_noise", "brightness"]
    assert stimulus_set.stimuli.filter(corruption="none").count() == 5
    for name in FUNCTIONS:
        rows = stimulus_set.stimuli.filter(corruption=name)
        assert sorted(rows.values_list("parameter", flat=True)) == sorted([1.0, 2.0, 3.0, 4.0, 5.0] * 5)
        assert set(rows.values_list("corruption_version", "seed", "target", "evaluations", "reached")) == {
            ("imagenet-c", 0, None, 1, True)
        }
    assert all(media_path(stimulus.file).is_file() for stimulus in Stimulus.objects.all())
    wnid_set.refresh_from_db()
    assert wnid_set.frozen_at is not None
    assert len(catalogue_of(stimulus_set).corrupted) == 50


def test_groups_of_functions_one_function_alone_and_a_choice_of_functions(
    tree: Path, wnid_set: SourceSet, tmp_path: Path
) -> None:
    grouped = tmp_path / "grouped"
    for group, name in (("noise", "gaussian_noise"), ("weather", "brightness")):
        shutil.copytree(tree / name, grouped / group / name)
    first = imported(grouped, wnid_set, name="grouped")
    second = imported(tree / "gaussian_noise", wnid_set, name="alone")
    third = imported(tree, wnid_set, name="chosen", functions=["gaussian_noise"])
    assert first.stimuli.count() == 55
    digests = [set(one.stimuli.values_list("key", "sha256")) for one in (first, second, third)]
    assert digests[1] == digests[2]
    assert digests[1] < digests[0]
    assert len(digests[1]) == 30


def test_files_without_an_original_are_told_and_left_out(tree: Path, wnid_set: SourceSet) -> None:
    level = tree / "gaussian_noise" / "1"
    some = next((level / CAT).iterdir())
    shutil.copy(some, level / CAT / "ILSVRC2012_val_00009999.JPEG")
    shutil.copy(some, some.with_suffix(".jpg"))
    shutil.copytree(level / CAT, level / "n01440764")
    (level / CAT / "notes.txt").write_text("seen")
    (level / CAT / ".DS_Store").write_text("litter")
    shutil.rmtree(tree / "brightness" / "5" / DOG)
    found = import_imagenet_c(folder=tree, source_set=wnid_set, name="levels", size_px=SIZE_PX)
    runner.run_waiting()
    assert found.scan.n_incomplete == 2
    told = "\n".join(found.scan.unmatched.sentences())
    assert "1 class folders have no original in the set of pictures: n01440764" in told
    assert "1 files have no original in the set of pictures: " in told
    assert "ILSVRC2012_val_00009999.JPEG" in told
    assert "1 files stand for an original a second time: " in told
    assert "notes.txt" in told
    assert "DS_Store" not in told
    assert found.stimulus_set.stimuli.count() == found.scan.n_pictures + 5 == 48 + 5
    found.stimulus_set.refresh_from_db()
    assert found.stimulus_set.completed_at is not None


@pytest.mark.parametrize(("labels", "first", "wnid"), [("", "cat", CAT), ("restricted9", "frog", FROG)])
def test_originals_known_by_label_alone_are_found(
    tree: Path, wnid_set: SourceSet, tmp_path: Path, labels: str, first: str, wnid: str
) -> None:
    originals = sorted((tmp_path / "originals").rglob("*.png"))
    flat = tmp_path / "flat"
    flat.mkdir()
    for path in originals:
        shutil.copy(path, flat)
    for folder in tree.glob(f"*/*/{CAT}"):
        folder.rename(folder.with_name(wnid))
    lines = [f"{path.name},{first if path.parent.name == CAT else 'dog'}" for path in originals]
    (flat / "labels.csv").write_text("path,category\n" + "\n".join(lines))
    by_label = import_images(source=flat / "labels.csv", order=ImportOrder(name="flat", labels=labels)).source_set
    assert imported(tree, by_label).stimuli.count() == 55


def test_what_cannot_be_imported_is_refused_before_anything_is_written(
    tree: Path, wnid_set: SourceSet, source_set: SourceSet, tmp_path: Path
) -> None:
    def refusal(folder: Path, **options) -> str:  # noqa: ANN003
        with pytest.raises((InputRefused, InvalidRequest)) as caught:
            imported(folder, options.pop("source_set", wnid_set), **options)
        assert nothing_written(wnid_set)
        return caught.value.message

    assert "no such folder" in refusal(tmp_path / "nowhere")
    assert "no such folder" in refusal(next(tree.rglob("*.JPEG")))
    (tmp_path / "empty").mkdir()
    assert "there is no ImageNet-C in it" in refusal(tmp_path / "empty")
    assert "Import them with the framing imagenet" in refusal(tree, framing="whole")
    assert "There is no framing 'square'" in refusal(tree, framing="square")
    assert "cannot be a name" in refusal(tree, name="a b")
    assert "no function of ImageNet-C" in refusal(tree, functions=["sepia"])
    assert "no folder with levels for snow. There are: brightness, gaussian_noise" in refusal(tree, functions=["snow"])
    assert "between 96 and" in refusal(tree, size_px=64)
    assert "no picture has its original in the set of pictures pets" in refusal(tree, source_set=source_set)
    shutil.copytree(tree / "brightness", tree / "extra" / "brightness")
    assert "both hold brightness: move one of them away" in refusal(tree)
    (tree / "extra").rename(tmp_path / "extra")
    (tree / "gaussian_noise").rename(tree / "sepia")
    assert "'sepia' is no function of ImageNet-C" in refusal(tree)
    assert imported(tree, wnid_set, functions=["brightness"]).stimuli.count() == 30


def test_other_pictures_under_the_same_names_are_refused(tree: Path, wnid_set: SourceSet, tmp_path: Path) -> None:
    other = tmp_path / "other"
    drawn = write_originals(tmp_path / "other-drawn", {"bird": 7, "cat": 3, "dog": 2}, size_px=160)[7:]
    for path, original in zip(sorted((tmp_path / "originals").rglob("*.png")), reversed(drawn), strict=True):
        (other / path.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(original.path, other / path.parent.name / path.name)
    others = import_images(source=other, order=ImportOrder(name="other")).source_set
    with pytest.raises(InputRefused, match="do not show their originals.*under the same file names"):
        imported(tree, others)
    assert nothing_written(others)


def test_bad_files_end_the_job_with_their_names_and_the_next_run_takes_the_rest(
    tree: Path, wnid_set: SourceSet
) -> None:
    files = sorted((tree / "gaussian_noise" / "3").rglob("*.JPEG"))
    whole = files[0].read_bytes()
    files[0].write_bytes(whole[: len(whole) // 2])
    Image.new("RGB", (SIZE_PX, SIZE_PX + 1)).save(files[1])
    stimulus_set = imported(tree, wnid_set)
    job = Job.objects.get(kind=imagenet_c.IMPORT_JOB_KIND)
    assert job.state == JobState.FAILED
    assert str(files[0]) in job.error
    assert "112 x 113 px, but the pictures of this set have 112 x 112 px" in job.error
    assert "2 pictures cannot be used; all others are imported." in job.error
    assert stimulus_set.completed_at is None
    assert stimulus_set.stimuli.count() == 53
    written = {path: path.stat().st_mtime_ns for path in media_path("stimuli/levels").rglob("*.png")}
    assert len(written) == 53

    with pytest.raises(InvalidRequest, match="start their import again"):
        start_generation(stimulus_set=stimulus_set)
    files[0].write_bytes(whole)
    files[1].unlink()
    resume_import(stimulus_set=stimulus_set)
    runner.run_waiting()
    stimulus_set.refresh_from_db()
    assert stimulus_set.completed_at is not None
    assert stimulus_set.stimuli.count() == 54
    assert all(path.stat().st_mtime_ns == at for path, at in written.items())


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 100, 1000])
def test_some_of_a_stream_are_evenly_spread_over_it(count: int) -> None:
    spread = EvenlySpread(8)
    for number in range(count):
        spread.add(number)
    kept = spread.kept
    assert kept == list(range(0, count, max(1, kept[1] if len(kept) > 1 else 1)))
    assert len(kept) == count if count <= 8 else 4 < len(kept) <= 8


@pytest.mark.process
def test_processes_import_the_same_bytes(tree: Path, wnid_set: SourceSet, settings) -> None:  # noqa: ANN001
    settings.COMPUTE = "processes:2"
    parallel = imported(tree, wnid_set, name="parallel")
    settings.COMPUTE = "serial"
    serial = imported(tree, wnid_set, name="serial")
    columns = ("key", "sha256", "visual_change", "parameter")
    assert set(parallel.stimuli.values_list(*columns)) == set(serial.stimuli.values_list(*columns))
    assert serial.stimuli.count() == 55


def test_command_imports_tells_levels_and_goes_on(tree: Path, wnid_set: SourceSet) -> None:
    arguments = ["--images", "validation", "--name", "levels", "--size", str(SIZE_PX)]

    def run(*more: str) -> str:
        out = io.StringIO()
        call_command("import_imagenet_c", *more, *arguments, stdout=out)
        return out.getvalue()

    bad = next((tree / "brightness" / "2").rglob("*.JPEG"))
    whole = bad.read_bytes()
    bad.write_bytes(b"")
    with pytest.raises(CommandError, match="1 pictures cannot be used"):
        run(str(tree))
    bad.write_bytes(whole)
    with pytest.raises(CommandError, match="already another stimulus set named levels"):
        run(str(tree / "brightness"))
    told = run(str(tree))
    assert "levels: 50 pictures and 5 clean ones" in told
    assert "gaussian_noise: median visual change of level 1: 0." in told
    assert "5: 0." in told
    lost, altered = (media_path(one.file) for one in Stimulus.objects.order_by("key")[:2])
    lost.unlink()
    altered.write_bytes(b"")
    assert run(str(tree)) == told
    assert {lost.read_bytes()[:4], altered.read_bytes()[:4]} == {b"\x89PNG"}
    with pytest.raises(CommandError, match="There is no set of pictures named 'nobody'"):
        call_command("import_imagenet_c", str(tree), "--images", "nobody", "--name", "x")
