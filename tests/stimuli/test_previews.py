"""Pictures that are made when somebody asks: at a visual change, and of a set that is not made yet."""

from __future__ import annotations

import hashlib

import pytest
from django.test import Client

from analysis.generation.files import decode_png
from analysis.visual_change.targeting import TOLERANCE
from analysis.visual_change.vif import VifReference
from humanexp.core.errors import NotFound
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.jobs import runner
from humanexp.stimuli.models import Sampling, SourceImage, SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.pages import previews
from humanexp.stimuli.services import generation
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generation import create_stimulus_set, start_generation

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(User.objects.create_user("lab", is_staff=True))
    return client


def make(source_set: SourceSet, **changes) -> StimulusSet:  # noqa: ANN003
    described = {"name": "walked", "corruptions": ["gaussian_noise", "brightness"], "count": 16, "size_px": 112}
    stimulus_set = create_stimulus_set(Described(source_set=source_set, **{**described, **changes}))
    start_generation(stimulus_set=stimulus_set)
    runner.run_waiting()
    stimulus_set.refresh_from_db()
    assert stimulus_set.completed_at
    return stimulus_set


@pytest.fixture
def stimulus_set(source_set: SourceSet) -> StimulusSet:
    return make(source_set)


@pytest.fixture
def image(stimulus_set: StimulusSet) -> SourceImage:
    return stimulus_set.source_set.images.order_by("key").first()


def test_steps_come_within_half_a_bin_and_are_measured_truly(stimulus_set: StimulusSet, image: SourceImage) -> None:
    clean = Stimulus.objects.get(source_image=image, corruption="none")
    reference = VifReference(decode_png(media_path(clean.file).read_bytes()))
    for step in (4, 20, 32):
        made = previews.picture_at(stimulus_set, image, "gaussian_noise", step / 40)
        assert made.is_reached
        assert abs(made.visual_change - step / 40) <= TOLERANCE
        assert reference.visual_change(decode_png(made.png)) == made.visual_change


def test_a_step_is_the_same_picture_whenever_it_is_asked_for(stimulus_set: StimulusSet, image: SourceImage) -> None:
    first = previews.picture_at(stimulus_set, image, "gaussian_noise", 0.3)
    previews.picture_at(stimulus_set, image, "gaussian_noise", 0.75)
    again = previews.picture_at(stimulus_set, image, "gaussian_noise", 0.3)
    assert hashlib.sha256(first.png).digest() == hashlib.sha256(again.png).digest()


def test_the_end_of_the_range_is_told(stimulus_set: StimulusSet, image: SourceImage) -> None:
    last = previews.picture_at(stimulus_set, image, "brightness", 1)
    assert not last.is_reached
    assert last.limit == last.visual_change < 1 - TOLERANCE
    assert last.png


def test_strength_rises_with_the_step(stimulus_set: StimulusSet, image: SourceImage) -> None:
    parameters = [
        previews.picture_at(stimulus_set, image, "gaussian_noise", step / 40).parameter for step in range(2, 38, 7)
    ]
    assert parameters == sorted(parameters)
    assert len(set(parameters)) == len(parameters)


def test_a_set_without_pilots_makes_its_own_from_the_picture(source_set: SourceSet) -> None:
    stimulus_set = make(source_set, name="uniform", sampling=Sampling.UNIFORM, corruptions=["gaussian_blur"])
    made = previews.picture_at(stimulus_set, source_set.images.first(), "gaussian_blur", 0.5)
    assert made.is_reached
    assert made.png


def test_fixed_levels_are_looked_up(researcher: Client, source_set: SourceSet) -> None:
    stimulus_set = make(
        source_set, name="levels", sampling=Sampling.LEVELS, corruptions=["gaussian_noise"], count=0, size_px=112
    )
    image = source_set.images.first()
    own = list(Stimulus.objects.filter(source_image=image, corruption="gaussian_noise"))
    assert len(own) == 5
    for step in (0, 20, 40):
        found = previews.picture_at(stimulus_set, image, "gaussian_noise", step / 40)
        nearest = min(own, key=lambda one: abs(one.visual_change - step / 40))
        assert found.stimulus == nearest
        assert found.png is None
        assert found.is_reached == (abs(nearest.visual_change - step / 40) <= TOLERANCE)
        assert (found.parameter, found.unit) == (nearest.parameter, "level")
    page = researcher.get(f"/stimuli/sets/levels/browse/{own[0].key}/").content.decode()
    assert 'class="cap">level</span>' in page
    assert "standard deviation" not in page


def test_a_function_that_the_set_lacks_is_refused(stimulus_set: StimulusSet, image: SourceImage) -> None:
    with pytest.raises(NotFound, match="holds no stimuli of a function named 'frost'"):
        previews.picture_at(stimulus_set, image, "frost", 0.1)


# The form's previews ----------------------------------------------------------------------------------------------


def test_examples_of_all_functions_are_changed_alike(source_set: SourceSet) -> None:
    image = source_set.images.order_by("key").first()
    clean = previews.prepared(str(media_path(image.file)), image.sha256, 160, "whole")
    reference = VifReference(clean)
    for function in ("gaussian_noise", "gaussian_blur"):
        png = previews.function_example(source_set, function)
        assert abs(reference.visual_change(decode_png(png)) - previews.EXAMPLE_CHANGE) <= TOLERANCE


def test_the_estimate_grows_with_what_is_asked(source_set: SourceSet) -> None:
    asked = {"source_set": source_set, "size_px": 112, "sampling": Sampling.EVEN, "framing": "whole"}
    one = previews.estimate(Described(name="x", corruptions=["gaussian_noise"], count=100, **asked))
    ten = previews.estimate(Described(name="x", corruptions=["gaussian_noise"], count=1000, **asked))
    assert (one.stimuli, ten.stimuli) == (108, 1008)
    assert ten.seconds == pytest.approx(10 * one.seconds)
    assert ten.bytes > 5 * one.bytes
    assert one.fits
    levels = previews.estimate(
        Described(name="x", corruptions=["gaussian_noise"], count=0, **{**asked, "sampling": Sampling.LEVELS})
    )
    assert levels.stimuli == 8 + 5 * 8


def test_the_estimate_of_bytes_is_near_what_is_written(source_set: SourceSet) -> None:
    estimate = previews.estimate(
        Described(
            name="x",
            source_set=source_set,
            corruptions=["gaussian_noise"],
            count=40,
            size_px=112,
            sampling=Sampling.EVEN,
            framing="whole",
        )
    )
    make(source_set, corruptions=["gaussian_noise"], count=40)
    written = sum(media_path(stimulus.file).stat().st_size for stimulus in Stimulus.objects.all())
    assert estimate.bytes == pytest.approx(written, rel=0.35)


def test_previews_come_to_the_form(researcher: Client, source_set: SourceSet) -> None:
    response = researcher.get(f"/stimuli/new/examples/frost/?source_set={source_set.pk}")
    assert response.headers["Content-Type"] == "image/png"
    assert response.content.startswith(b"\x89PNG")
    assert researcher.get(f"/stimuli/new/examples/fog/?source_set={source_set.pk}").status_code == 404
    assert researcher.get("/stimuli/new/examples/frost/?source_set=x").status_code == 404
    asked = f"source_set={source_set.pk}&corruptions=gaussian_noise&count=50&size_px=112&seed=0"
    text = researcher.get(f"/stimuli/new/estimate/?{asked}").content.decode()
    assert "58 stimuli" in text
    assert "Choose pictures and functions" in researcher.get("/stimuli/new/estimate/").content.decode()


def test_levels_are_refused_for_functions_without_them(researcher: Client, source_set: SourceSet) -> None:
    filled = {"source_set": source_set.pk, "name": "levels", "size_px": 112, "seed": 0, "sampling": Sampling.LEVELS}
    refused = researcher.post("/stimuli/new/", {**filled, "corruptions": ["color_jitter", "frost"]})
    assert refused.status_code == 422
    assert "publishes no levels of color jitter" in refused.content.decode()
    assert researcher.post("/stimuli/new/", {**filled, "corruptions": ["frost"]}).status_code == 302
    assert StimulusSet.objects.get().count_per_corruption == 0


# Deleting ---------------------------------------------------------------------------------------------------------


def test_a_set_goes_only_when_its_name_is_typed(researcher: Client, stimulus_set: StimulusSet) -> None:
    folder = media_path("stimuli/walked")
    text = researcher.get("/stimuli/sets/walked/delete/").content.decode()
    assert "32 corrupted stimuli" in text
    refused = researcher.post("/stimuli/sets/walked/delete/", {"confirm": "walk"})
    assert refused.status_code == 422
    assert Stimulus.objects.exists() and folder.exists()
    going = researcher.post("/stimuli/sets/walked/delete/", {"confirm": "walked"}, follow=True)
    assert "is being deleted" in going.content.decode()
    runner.run_waiting(kinds=[generation.DELETION_KIND])
    assert not StimulusSet.objects.exists()
    assert not Stimulus.objects.exists()
    assert not list(folder.rglob("*.png"))
