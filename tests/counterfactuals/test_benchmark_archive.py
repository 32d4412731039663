"""Frozen counterfactuals as published sets: two of them, made against two networks, and a third network elsewhere."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.classifiers.loading import load_classifier
from analysis.counterfactuals.files import read_picture
from analysis.labels.files import read_labels_file
from humanexp.core.errors import NotAllowed
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.services.benchmark_archive import write_archive
from humanexp.counterfactuals.services.benchmarks import freeze
from humanexp.counterfactuals.services.searches import create_search
from humanexp.evaluations.specs import from_shelf
from humanexp.jobs import runner
from humanexp.stimuli.models import SourceImage, SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.counterfactuals.networks import CLEAN, ROBUST
from tests.counterfactuals.test_label_spaces import THREE, imported
from tests.results.edges import run
from tests.results.test_set_publication import elsewhere

THIRD = "export:fixtures/counterfactuals/oracle.pt2"


pytestmark = pytest.mark.django_db


def drawn(drawings: Path) -> SourceSet:
    import_images(source=drawings, order=ImportOrder(name="drawn", licence="CC BY 4.0"))
    return SourceSet.objects.get(name="drawn")


def searched(pictures: SourceSet, name: str = "noise", *, one: str = CLEAN, other: str = ROBUST) -> SearchRun:
    described = SearchRun(
        name=name, source_set=pictures, classifier=one, generator="corruption:gaussian_noise,step=0.4",
        oracle=f"classifier:{other}", budget=2, batch=3, size_px=64,
    )  # fmt: skip
    made, job = create_search(run=described, pictures=min(6, pictures.images.count()))
    runner.run_waiting(kinds=[job.kind])
    made.refresh_from_db()
    return made


def unpacked(search: SearchRun, folder: Path) -> Path:
    with write_archive(freeze(run=search)) as archive, zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    return folder


@pytest.mark.verify
def test_two_benchmarks_made_against_two_networks_are_scored_by_a_third_elsewhere(
    drawings: Path, settings: Any, tmp_path: Path
) -> None:
    with elsewhere(settings, tmp_path):
        pictures = drawn(drawings)
        against = {
            name: unpacked(searched(pictures, name, one=one, other=other), tmp_path / name)
            for name, one, other in (("clean", CLEAN, ROBUST), ("robust", ROBUST, CLEAN))
        }
    run("score", THIRD, "--on", *against.values(), "--json", tmp_path / "card.json")
    card = json.loads((tmp_path / "card.json").read_text(encoding="utf-8"))
    assert [one["set"] for one in card["sets"]] == ["clean-benchmark-1", "robust-benchmark-1"]
    network = load_classifier(from_shelf(THIRD))
    for folder, found in zip(against.values(), card["sets"], strict=True):
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        files = [(folder / told["file"], told["category"]) for told in manifest["pictures"]]
        likelihoods = network.predict(np.stack([read_picture(file) for file, _ in files]))
        named = [network.labels[best] for best in likelihoods.argmax(axis=1)]
        right = np.mean([name == category for name, (_, category) in zip(named, files, strict=True)])
        (score,) = (row for row in found["scores"] if row["observer"] not in ("humans", "chance"))
        assert (score["n"], score["accuracy"]) == (len(files), pytest.approx(right))
        assert "CC BY 4.0" in found["about"].values()


def test_folders_of_a_benchmark_can_be_imported_by_themselves(drawings: Path, tmp_path: Path) -> None:
    search = searched(drawn(drawings))
    folder = unpacked(search, tmp_path / "noise")
    run("import_images", folder / "pictures", "--name", "kept")
    kept = {one.category for one in search.counterfactuals.exclude(sha256="")}
    assert set(SourceImage.objects.filter(source_set__name="kept").values_list("category", flat=True)) == kept


def test_other_right_answers_come_along(drawings: Path, tmp_path: Path) -> None:
    search = searched(drawn(drawings))
    one = search.counterfactuals.exclude(sha256="").first().source_image
    one.wnid, one.accepted = "n02981792", [one.category, "truck"]
    one.save()
    folder = unpacked(search, tmp_path / "noise")
    table = (folder / "pictures/table.csv").read_text(encoding="utf-8").splitlines()
    assert table[0] == "path,category,accepted"
    assert f"{one.category}/{one.key}.png,{one.category},{one.category} truck" in table
    run("score", THIRD, "--on", folder)
    read = SourceImage.objects.get(source_set__name="noise-benchmark-1", key__contains=one.key)
    assert sorted(read.accepted) == sorted(one.accepted)


def test_what_may_not_be_passed_on_is_not_downloaded(drawings: Path) -> None:
    search = searched(drawn(drawings))
    benchmark = freeze(run=search)
    SourceSet.objects.update(licence="CC BY-ND 4.0")
    search.source_set.refresh_from_db()
    with pytest.raises(NotAllowed, match="may not be passed on"):
        write_archive(benchmark)


def test_labels_of_an_installation_come_with_the_pictures(drawings: Path, settings: Any, tmp_path: Path) -> None:
    with elsewhere(settings, tmp_path):
        search = searched(imported(drawings, tmp_path / "three", THREE))
        folder = unpacked(search, tmp_path / "noise")
    assert read_labels_file(folder / "labels.toml").ids == THREE.ids
    run("score", THIRD, "--on", folder)
    assert SourceSet.objects.get(name="noise-benchmark-1").space.identity == THREE.identity
