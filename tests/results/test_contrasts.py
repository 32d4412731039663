"""The room of pictures on which people and a model differ."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from analysis.generation.files import decode_png
from humanexp.console.figures.registry import FIGURES
from humanexp.console.figures.subjects import analysed
from humanexp.core.errors import InputRefused, NotFound
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.studies.models import Study
from tests.labels import of_the_sixteen
from tests.results.edges import HEADER, SHOWN, media, network, pictures, run, trial, trials

__all__ = ["media", "network", "pictures", "trials"]
pytestmark = [pytest.mark.django_db, of_the_sixteen]


@pytest.fixture
def admin(client: Client) -> Client:
    """Who may see what a command made without an owner."""
    client.force_login(User.objects.create_superuser("admin"))
    return client


def page(client: Client, **query: str) -> str:
    answer = client.get(reverse("results:room", args=["edges", "pictures"]), query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def study(trials: list[Path], pictures: Path, network: str, tmp_path: Path) -> Study:
    """Four people: all name dog and oven, one the bear, nobody the cat, which the network named grey knows."""
    for number in (3, 4):
        said = ("dog", "dog", "oven", "dog")
        rows = (
            trial(f"subject-0{number}", k, one, what) for k, (one, what) in enumerate(zip(said, SHOWN, strict=True), 1)
        )
        (tmp_path / f"subject-0{number}.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
    files = [*trials, tmp_path / "subject-03.csv", tmp_path / "subject-04.csv"]
    run("import_trials", *files, "--study", "edges", "--pictures", pictures)
    run("evaluate", "--study", "edges", "--classifier", network, "--name", "grey")
    run("analyse", "edges", "--bootstrap", "0")
    return Study.objects.get(slug="edges")


def test_it_shows_the_pictures_of_both_kinds(study: Study, admin: Client) -> None:
    said = page(admin, model="grey")
    assert "Where people and grey differ" in said and "selected by the answers" in said
    people, model = said.split("The model names it, people do not")
    # The cat: one of four people names it, and the network does.
    assert "No picture is of this kind" in people and "1 of 4 pictures" in model
    assert "people 1 of 4" in model and "most: dog" in model
    cat = study.stimulus_set.stimuli.get(source_image__category="cat")  # type: ignore[union-attr]
    assert reverse("stimuli:small", args=[cat.pk]) in model
    alexnet = page(admin)
    assert "Where people and alexnet differ" in alexnet and "people 4 of 4" in alexnet


def test_the_figure_shows_the_files_and_counts_of_the_room(study: Study) -> None:
    drawn = FIGURES["named"].drawn(analysed(study), {"model": "grey"})
    ((row),) = csv.DictReader(StringIO(drawn.tables()[0].to_csv()))
    assert (row["named_by"], row["category"], row["answers"], row["right"]) == ("classifier", "cat", "4", "1")
    canvas = drawn.draw("column")
    (axes,) = (one for one in canvas.axes if one.images)
    cat = study.stimulus_set.stimuli.get(source_image__category="cat")  # type: ignore[union-attr]
    stored = decode_png(media_path(cat.file).read_bytes())
    assert np.array_equal(axes.images[0].get_array(), stored)
    said = " ".join(text.get_text() for text in canvas.texts)
    assert "grey names it, people do not (1 of 4)" in said and "people 1 of 4, most: dog" in said.replace("  ", " ")
    with pytest.raises(NotFound, match="no such model"):
        FIGURES["named"].drawn(analysed(study), {"model": "vgg"})


def test_there_is_no_room_without_such_pictures_and_no_other_model(
    study: Study, admin: Client, trials: list[Path]
) -> None:
    address = reverse("results:room", args=["edges", "pictures"])
    assert admin.get(address, {"model": "vgg"}).status_code == 404
    run("import_trials", trials[1], "--study", "alone")
    run("analyse", "alone", "--bootstrap", "0")
    alone = reverse("results:room", args=["alone", "pictures"])
    assert admin.get(alone).status_code == 404
    with pytest.raises(InputRefused, match="let more people see each picture"):
        FIGURES["named"].drawn(analysed(Study.objects.get(slug="alone")), {})
    assert alone not in admin.get(reverse("results:dashboard", args=["alone"])).content.decode()
    assert address in admin.get(reverse("results:dashboard", args=["edges"])).content.decode()
