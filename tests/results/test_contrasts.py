"""The room of pictures on which people and a model differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from humanexp.core.models import User
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


def test_there_is_no_room_without_such_pictures_and_no_other_model(
    study: Study, admin: Client, trials: list[Path]
) -> None:
    address = reverse("results:room", args=["edges", "pictures"])
    assert admin.get(address, {"model": "vgg"}).status_code == 404
    run("import_trials", trials[1], "--study", "alone")
    run("analyse", "alone", "--bootstrap", "0")
    alone = reverse("results:room", args=["alone", "pictures"])
    assert admin.get(alone).status_code == 404
    assert alone not in admin.get(reverse("results:dashboard", args=["alone"])).content.decode()
    assert address in admin.get(reverse("results:dashboard", args=["edges"])).content.decode()
