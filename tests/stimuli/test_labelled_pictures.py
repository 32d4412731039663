"""Pictures of other labels than the 16: folders by word and number, tables with factors, arrays, and real data."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from numpy.typing import NDArray
from PIL import Image

from analysis.labels.files import default_labels, shipped
from analysis.labels.imagenet import class_ids
from analysis.labels.space import Label, LabelSpace
from humanexp.core.errors import Conflict, InputRefused, InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.stimuli.models import LabelSet, SourceImage, SourceSet
from humanexp.stimuli.services.imports import import_images, preview_import
from humanexp.stimuli.services.label_sets import delete_labels, label_set_named, store_labels
from humanexp.stimuli.services.sources import ImportOrder

pytestmark = pytest.mark.django_db
N = 12


def space_of(*ids: str, name: str = "pets", words: dict[str, dict[str, str]] | None = None) -> LabelSpace:
    told = words or {}
    return LabelSpace(name=name, labels=tuple(Label(id=one, words=told.get(one, {})) for one in ids))


def reference_data(name: str) -> Path:
    root = os.environ.get("REFERENCE_DATA", "")
    path = Path(root) / name
    if not root or not path.exists():
        pytest.skip(f"REFERENCE_DATA has no {name}")
    return path


def digits(n: int = N, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (n, 28, 28), dtype=np.uint8)


def idx(array: NDArray[np.uint8]) -> bytes:
    """As MNIST is handed out."""
    return bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def mnist(folder: Path, *, packed: bool, labels: int = N) -> Path:
    folder.mkdir()
    files = {
        "t10k-images-idx3-ubyte": idx(digits()),
        "t10k-labels-idx1-ubyte": idx((np.arange(labels) % 10).astype(np.uint8)),
    }
    for name, content in files.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)
    return folder


def cifar(folder: Path, *, names: bool = True, labels: list[int] | None = None) -> tuple[Path, NDArray[np.uint8]]:
    """As CIFAR-10 for Python is handed out: colours first, in rows of 3,072 bytes."""
    folder.mkdir()
    pictures = np.random.default_rng(1).integers(0, 256, (N, 3, 32, 32), dtype=np.uint8)
    told = {b"data": pictures.reshape(N, -1), b"labels": labels or [n % 10 for n in range(N)], b"batch_label": b"one"}
    (folder / "test_batch").write_bytes(pickle.dumps(told, protocol=2))
    if names:
        called = {b"label_names": [label.id.encode() for label in shipped("cifar10").labels]}
        (folder / "batches.meta").write_bytes(pickle.dumps(called, protocol=2))
    return folder, pictures


def order(labels: str = "mnist", **options: Any) -> ImportOrder:
    return ImportOrder(name="small", labels=labels, **options)


def pixels(image: SourceImage) -> NDArray[np.uint8]:
    return np.asarray(Image.open(media_path(image.file)))


@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_hold_pictures_and_their_numbers(tmp_path: Path, packed: bool) -> None:
    report = import_images(source=mnist(tmp_path / "mnist", packed=packed), order=order())
    assert report.per_category == {str(n): 2 if n < 2 else 1 for n in range(10)}
    assert np.array_equal(pixels(SourceImage.objects.get(key="3-t10k-00003")), digits()[3])
    assert report.source_set.space.identity == shipped("mnist").identity


@pytest.mark.parametrize("names", [True, False])
def test_batches_of_cifar_hold_colours_first(tmp_path: Path, names: bool) -> None:
    folder, pictures = cifar(tmp_path / "cifar", names=names)
    import_images(source=folder, order=order("cifar10"))
    frog = SourceImage.objects.get(category="frog")
    assert np.array_equal(pixels(frog), pictures[6].transpose(1, 2, 0))


def test_one_file_of_a_folder_can_be_named(tmp_path: Path) -> None:
    folder, _ = cifar(tmp_path / "cifar")
    np.savez(folder / "others.npz", x_train=digits(), y_train=np.arange(N) % 10)
    assert len(preview_import(source=folder / "test_batch", order=order("cifar10")).files) == N
    assert preview_import(source=folder / "others.npz", order=order()).read[3] == ("3", "3", 1)


@pytest.mark.parametrize("shape", [(N, 32, 32, 3), (N, 3, 32, 32), (N, 3072)])
def test_npz_files_are_read_in_every_order_of_axes(tmp_path: Path, shape: tuple[int, ...]) -> None:
    pictures = np.random.default_rng(2).integers(0, 256, (N, 32, 32, 3), dtype=np.uint8)
    stored = pictures if shape[-1] == 3 else pictures.transpose(0, 3, 1, 2).reshape(shape)
    np.savez(tmp_path / "pictures.npz", x_test=stored, y_test=(np.arange(N) % 10).reshape(-1, 1))
    import_images(source=tmp_path / "pictures.npz", order=order("cifar10"))
    assert np.array_equal(
        pixels(SourceImage.objects.get(category="bird", source_name__endswith="00002.png")), pictures[2]
    )


class _Order:
    """What a pickle from a stranger could ask for."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch /tmp/never",)


def _harmful(folder: Path) -> Path:
    cifar(folder)
    (folder / "test_batch").write_bytes(pickle.dumps({b"data": _Order()}))
    return folder


def _cut(folder: Path) -> Path:
    mnist(folder, packed=False)
    file = folder / "t10k-images-idx3-ubyte"
    file.write_bytes(file.read_bytes()[:-1])
    return folder


def _without_labels(folder: Path) -> Path:
    (mnist(folder, packed=True) / "t10k-labels-idx1-ubyte.gz").unlink()
    return folder


def _floats(folder: Path) -> Path:
    folder.mkdir()
    np.savez(folder / "a.npz", x=digits() / 255, y=np.arange(N))
    return folder


def _nameless(folder: Path) -> Path:
    folder.mkdir()
    np.savez(folder / "a.npz", pixels=digits(), classes=np.arange(N))
    return folder


def _with_eleventh(folder: Path) -> Path:
    folder.mkdir()
    np.savez(folder / "a.npz", x=digits(), y=np.arange(N))
    return folder


@pytest.mark.parametrize(
    ("arrange", "reason"),
    [
        (_harmful, "it asks for posix.system, which no batch of pictures needs"),
        (_cut, "announces 12 x 28 x 28 bytes and holds 9,407"),
        (_without_labels, "the labels that belong to it are not there. Put t10k-labels-idx1-ubyte"),
        (lambda folder: mnist(folder, packed=True, labels=11), "12 pictures and 11 labels"),
        (_floats, "the pictures are float64; they must be whole numbers from 0 to 255"),
        (_nameless, "it holds pixels, classes. Pictures are read from an array x"),
        (_with_eleventh, "'10' is neither one of the 10 labels of mnist"),
        (lambda folder: cifar(folder, labels=[*range(11), 0])[0], "the label 10 has no name"),
    ],
)
def test_arrays_that_cannot_be_meant_are_refused(tmp_path: Path, arrange: Callable[[Path], Path], reason: str) -> None:
    with pytest.raises(InputRefused, match=reason.replace("(", r"\(")):
        import_images(source=arrange(tmp_path / "arrays"), order=order())
    assert not SourceSet.objects.exists()
    assert not LabelSet.objects.exists()


def colours(folder: Path, *names: str) -> Path:
    for number, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        pixels = np.random.default_rng(number).integers(0, 256, (40, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / name / "one.png")
    return folder


def test_folders_are_read_by_id_word_synonym_and_number_of_a_named_space(tmp_path: Path) -> None:
    folder = colours(tmp_path / "cifar", "frog", "Katze", "plane", "9")
    found = preview_import(source=folder, order=order("cifar10"))
    assert found.read == [("9", "truck", 1), ("Katze", "cat", 1), ("frog", "frog", 1), ("plane", "airplane", 1)]
    assert not SourceSet.objects.exists()
    with pytest.raises(InputRefused, match="'9' is neither one of the 16 labels of entry16"):
        preview_import(source=folder, order=order(""))


def test_a_command_shows_what_it_would_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = colours(tmp_path / "cifar", "frog", "Katze", "n01440764")
    call_command("import_images", str(folder), "--name", "pets", "--label-space", "cifar10", "--preview")
    said = capsys.readouterr().out
    assert "2 pictures would be imported." in said
    assert "Katze -> cat (1)" in said
    assert "n01440764 -> no label: left out (1)" in said
    assert not SourceSet.objects.exists()
    with pytest.raises(CommandError, match="no labels called 'dogs'; there are: .*cifar10"):
        call_command("import_images", str(folder), "--name", "pets", "--label-space", "dogs")


def test_a_report_of_many_labels_counts_them_and_says_for_which_studies_they_are_too_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], client: Client
) -> None:
    folder = colours(tmp_path / "pictures", *class_ids()[:40])
    Image.fromarray(np.full((40, 40, 3), np.arange(40)[:, None], np.uint8)).save(folder / class_ids()[0] / "two.png")
    named = ("import_images", str(folder), "--name", "classes", "--label-space", "imagenet1000")
    call_command(*named, "--preview")
    assert "n01440764 -> n01440764, tench (2)" in capsys.readouterr().out
    call_command(*named)
    said = capsys.readouterr().out
    assert "classes: 41 pictures imported (of 40 labels, 1 to 2 each)" in said
    assert said.count("no. People choose among 2 to 30 labels, and these pictures have 1,000.") == 2
    client.force_login(User.objects.create_user("ada"))
    page = client.get(reverse("stimuli:source_set", args=["classes"])).content.decode()
    assert '<span class="cap">tench</span>' in page


def table_of(folder: Path, text: str) -> Path:
    colours(folder, "a", "b", "c")
    (folder / "metadata.csv").write_text(text, encoding="utf-8")
    return folder


def test_a_table_tells_accepted_and_competing_labels_and_factors(tmp_path: Path) -> None:
    rows = (
        "file_name,label,accepted,competing,background\n"
        "a/one.png,cat,cat dog,truck,snow\nb/one.png,5,,,\nc/one.png,3,3,,\n"
    )
    folder = table_of(tmp_path / "pictures", rows)
    report = import_images(source=folder, order=order("cifar10", factors=["background"]))
    kept = {image.source_name: image for image in SourceImage.objects.all()}
    one = kept["a/one.png"]
    assert (one.category, one.accepted, one.competing, one.factors) == (
        "cat",
        ["cat", "dog"],
        "truck",
        {"background": "snow"},
    )
    assert (kept["c/one.png"].accepted, kept["c/one.png"].factors) == (["cat"], {"background": ""})
    assert set(kept) == {"a/one.png", "c/one.png"}
    assert report.ignored == ["1 pictures of which no label is accepted as an answer"]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("path,label,competing\na/one.png,cat,cat\n", "row 1, column 'competing': 'cat' is the picture's own label"),
        ("path,label,accepted\na/one.png,cat,cat lion\n", "row 1, column 'accepted': 'lion' is none of the 10 labels"),
        ("path,label\na/one.png,cat\n", "the column 'background' is missing"),
        (f"path,label,background\na/one.png,cat,{'x' * 81}\n", "a factor is at most 80 characters"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(tmp_path: Path, rows: str, reason: str) -> None:
    factors = ["background"] if "background" in rows + reason else []
    with pytest.raises(InputRefused, match=reason):
        import_images(source=table_of(tmp_path / "pictures", rows), order=order("cifar10", factors=factors))
    assert not SourceSet.objects.exists()


def test_a_factor_with_the_name_of_a_column_of_answers_is_refused(tmp_path: Path) -> None:
    folder = table_of(tmp_path / "pictures", "file_name,label,role\none.png,cat,x\n")
    with pytest.raises(InputRefused, match="a factor called 'role' would be taken for a column of the answers"):
        import_images(source=folder, order=order("cifar10", factors=["role"]))


def test_factors_without_a_table_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="factors are columns of a table, and there is no CSV file"):
        import_images(source=colours(tmp_path / "a", "cat", "dog"), order=order("cifar10", factors=["background"]))


def test_words_of_labels_can_be_mended_and_their_meaning_not(tmp_path: Path) -> None:
    first = store_labels(space_of("cat", "dog", "fish"))
    import_images(source=colours(tmp_path / "pictures", "cat", "dog"), order=order(first.name))
    mended = store_labels(space_of("cat", "dog", "fish", words={"cat": {"de": "Kater"}}))
    assert (mended.pk, mended.identity) == (first.pk, first.identity)
    assert mended.presentation != first.presentation
    assert SourceSet.objects.get().space.read("Kater") == "cat"
    with pytest.raises(Conflict, match="mean something else: without fish, with bird"):
        store_labels(space_of("cat", "dog", "bird"))
    with pytest.raises(Conflict, match="are those of the pictures small: delete these first"):
        delete_labels(mended)
    SourceSet.objects.all().delete()
    store_labels(space_of("cat", "dog", "bird"))
    delete_labels(LabelSet.objects.get())


def test_names_of_shipped_labels_are_taken() -> None:
    with pytest.raises(InvalidRequest, match="ships labels called mnist"):
        store_labels(space_of("cat", "dog", name="mnist"))
    assert label_set_named("") is None
    assert label_set_named(default_labels().name) is None, "sets of the default refer to no row"
    stored = label_set_named("imagenet1000")
    assert stored is not None
    assert stored.space.identity == shipped("imagenet1000").identity
    assert label_set_named("imagenet1000") == stored


def test_two_first_users_of_shipped_labels_get_the_same_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def meanwhile(name: str) -> LabelSpace:
        monkeypatch.undo()
        label_set_named(name)
        return shipped(name)

    monkeypatch.setattr("humanexp.stimuli.services.label_sets.space_named", meanwhile)
    assert label_set_named("mnist") == LabelSet.objects.get(name="mnist")


@pytest.mark.parametrize(
    ("name", "archive", "n"), [("mnist", "mnist/test.zip", 1000), ("cifar10", "cifar10/test.zip", 1000)]
)
def test_real_pictures_of_ten_labels_come_in_from_folders(name: str, archive: str, n: int) -> None:
    report = import_images(source=reference_data(archive), order=order(name))
    assert report.n_images + len(report.duplicates) == n
    assert len(report.per_category) == 10
    assert not report.ignored


def test_photographs_of_750_classes_come_in_by_their_wordnet_ids() -> None:
    report = import_images(source=reference_data("imagenet1000/samples.zip"), order=order("imagenet1000"))
    assert (report.n_images, len(report.per_category)) == (750, 750)
    with zipfile.ZipFile(reference_data("imagenet1000/samples.zip")) as archive:
        first = Image.open(io.BytesIO(archive.read("n01440764/n01440764.jpg")))
    assert np.array_equal(pixels(SourceImage.objects.get(category="n01440764")), np.asarray(first))
