from __future__ import annotations

import csv
import io
import re

import pytest
from django.test import Client
from django.urls import reverse

from analysis.tables.stimuli import stimuli_table
from humanexp.core.storage import media_path
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli.models import SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import make_stimuli
from humanexp.stimuli.services.generation import create_stimulus_set, start_generation

pytestmark = pytest.mark.django_db


@pytest.fixture
def stimulus_set(source_set: SourceSet) -> StimulusSet:
    return create_stimulus_set(
        Described(source_set=source_set, name="noise", corruptions=["gaussian_noise"], count=40, size_px=112)
    )


@pytest.fixture
def complete_set(stimulus_set: StimulusSet) -> StimulusSet:
    start_generation(stimulus_set=stimulus_set)
    runner.run_waiting()
    stimulus_set.refresh_from_db()
    return stimulus_set


def body(response) -> str:  # noqa: ANN001
    assert response.status_code == 200, response.content.decode()[-2000:]
    text = response.content.decode()
    assert "style=" not in text
    assert "<script>" not in text
    return text


def test_pages_need_an_account(client: Client, complete_set: StimulusSet) -> None:
    picture = Stimulus.objects.first()
    for name, arguments in (
        ("stimulus_sets", []),
        ("new", []),
        ("stimulus_set", ["noise"]),
        ("manifest", ["noise"]),
        ("coverage_json", ["noise"]),
        ("coverage_file", ["noise", "svg"]),
        ("delete", ["noise"]),
        ("estimate", []),
        ("example", ["gaussian_noise"]),
        ("browse", ["noise"]),
        ("stimulus", ["noise", picture.key]),
        ("picture", [picture.pk]),
        ("small", [picture.pk]),
    ):
        response = client.get(reverse(f"stimuli:{name}", args=arguments))
        assert response.status_code == 302, name
        assert "/login/" in response.headers["Location"]


def test_without_pictures_the_list_says_how_to_import(researcher: Client) -> None:
    assert "import_images" in body(researcher.get("/stimuli/"))
    assert "import_images" in body(researcher.get("/stimuli/new/"))


def test_with_pictures_the_list_offers_to_make_a_set(researcher: Client, source_set: SourceSet) -> None:
    text = body(researcher.get("/stimuli/"))
    assert reverse("stimuli:new") in text
    assert ">8<" in text  # pictures
    assert "import_images" not in text


def test_the_list_shows_sets_with_their_state(researcher: Client, complete_set: StimulusSet) -> None:
    text = body(researcher.get("/stimuli/"))
    assert reverse("stimuli:stimulus_set", args=["noise"]) in text
    assert "complete" in text
    assert ">40<" in text
    assert "evenly over visual change" in text
    assert "0 of 1 functions" in text


def test_a_set_that_is_not_made_offers_to_make_it(researcher: Client, stimulus_set: StimulusSet) -> None:
    text = body(researcher.get("/stimuli/sets/noise/"))
    assert reverse("stimuli:generate", args=["noise"]) in text
    assert researcher.get("/stimuli/sets/noise/generate/").status_code == 405
    researcher.post("/stimuli/sets/noise/generate/")
    assert Job.objects.get().state == JobState.QUEUED
    text = body(researcher.get("/stimuli/sets/noise/"))
    assert reverse("jobs:job", args=[Job.objects.get().pk]) in text
    assert "every 5s" in text


def test_a_complete_set_shows_coverage_and_pictures(researcher: Client, complete_set: StimulusSet) -> None:
    text = body(researcher.get("/stimuli/sets/noise/"))
    assert len(re.findall(r"data-cell\s", text)) == 40
    assert "every 5s" not in text
    assert "1 of 1 functions has gaps" in text
    pictures = [line for line in text.split('"') if line.startswith("/stimuli/pictures/")]
    assert len(pictures) >= 5
    stimulus = Stimulus.objects.get(pk=int(pictures[0].split("/")[3]))
    thumbnail = researcher.get(pictures[0])
    assert thumbnail.headers["Content-Type"] == "image/jpeg"
    assert len(thumbnail.content) < media_path(stimulus.file).stat().st_size
    response = researcher.get(f"/stimuli/pictures/{stimulus.pk}/")
    assert response.content == media_path(stimulus.file).read_bytes()
    assert response.headers["Content-Type"] == "image/png"
    assert "private" in response.headers["Cache-Control"]


def test_the_growing_part_comes_alone_for_htmx(researcher: Client, stimulus_set: StimulusSet) -> None:
    text = body(researcher.get("/stimuli/sets/noise/", headers={"HX-Request": "true"}))
    assert "<html" not in text
    assert 'id="stimulus-set"' in text


def test_unknown_names_get_a_plain_page(researcher: Client, complete_set: StimulusSet) -> None:
    response = researcher.get("/stimuli/sets/other/")
    assert response.status_code == 404
    assert "There are: noise" in response.content.decode()
    assert researcher.get("/stimuli/pictures/999999/").status_code == 404
    stimulus = Stimulus.objects.first()
    media_path(stimulus.file).unlink()
    assert researcher.get(reverse("stimuli:picture", args=[stimulus.pk])).status_code == 404
    assert researcher.get(reverse("stimuli:small", args=[stimulus.pk])).status_code == 404
    media_path(stimulus.file).write_bytes(b"no picture")
    damaged = researcher.get(reverse("stimuli:small", args=[stimulus.pk]))
    assert damaged.status_code == 404
    assert "verify_stimuli" in damaged.content.decode()


def test_the_manifest_downloads_as_csv(researcher: Client, complete_set: StimulusSet) -> None:
    response = researcher.get("/stimuli/sets/noise/manifest.csv")
    assert response.headers["Content-Type"].startswith("text/csv")
    table = list(csv.DictReader(io.StringIO(response.getvalue().decode())))
    assert list(table[0]) == stimuli_table(1).names
    assert len(table) == 48
    by_key = {stimulus.key: stimulus for stimulus in Stimulus.objects.all()}
    for row in table:
        assert float(row["visual_change"]) == by_key[row["stimulus"]].visual_change
        assert int(row["seed"]) == by_key[row["stimulus"]].seed


def test_the_form_makes_a_set_and_its_job(researcher: Client, source_set: SourceSet) -> None:
    filled = {
        "source_set": source_set.pk,
        "name": "blurred",
        "corruptions": ["gaussian_blur", "uniform_noise"],
        "count": 30,
        "size_px": 112,
        "seed": 4,
    }
    response = researcher.post("/stimuli/new/", filled)
    assert response.status_code == 302
    stimulus_set = StimulusSet.objects.get()
    assert stimulus_set.corruptions == ["gaussian_blur", "uniform_noise"]
    assert stimulus_set.created_by.username == "lab"
    assert Job.objects.get().parameters == {"stimulus_set_id": stimulus_set.pk}
    again = researcher.post("/stimuli/new/", filled)
    assert again.status_code == 422
    assert "already a stimulus set named" in again.content.decode()
    assert StimulusSet.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"size_px": 400}, "too small to be shown at 400 px"),
        ({"size_px": 20}, "between 96 and 1024"),
        ({"corruptions": []}, "required"),
        ({"count": 0}, "greater than or equal to 1"),
        ({"name": "a b"}, "valid"),
    ],
)
def test_the_form_says_what_is_wrong(researcher: Client, source_set: SourceSet, change: dict, reason: str) -> None:
    filled = {"source_set": source_set.pk, "name": "x", "corruptions": ["gaussian_blur"], "count": 3, "size_px": 112}
    response = researcher.post("/stimuli/new/", {**filled, "seed": 0, **change})
    assert response.status_code == 422
    assert reason in response.content.decode()
    assert not StimulusSet.objects.exists()


def test_queries_do_not_grow_with_the_number_of_stimuli(
    researcher: Client,
    complete_set: StimulusSet,
    source_set: SourceSet,
    django_assert_max_num_queries,  # noqa: ANN001
) -> None:
    larger = create_stimulus_set(
        Described(source_set=source_set, name="larger", corruptions=["gaussian_noise"], count=120, size_px=112)
    )
    make_stimuli(larger, lambda done, total, message="": None)
    # one of them asks how much waits, for the navigation
    with django_assert_max_num_queries(27):
        body(researcher.get("/stimuli/sets/larger/"))
    with django_assert_max_num_queries(10):
        body(researcher.get("/stimuli/"))
