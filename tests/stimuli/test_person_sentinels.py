"""Sentinels of persons in a stimulus set: made of its pictures or brought, frozen with it, and asked of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from PIL import Image

from analysis.generation.originals import prepare_original
from analysis.persons.sentinels import high_pass
from analysis.tables.stimuli import STIMULI
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path
from humanexp.evaluations.services.prediction import shown_stimuli
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import make_stimuli, verify_stimuli
from humanexp.stimuli.services.generation import create_stimulus_set
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.set_files import manifest_path
from humanexp.stimuli.services.sources import ImportOrder

pytestmark = pytest.mark.django_db
WANTED: dict[str, Any] = {"corruptions": ["gaussian_noise"], "count": 8, "seed": 3, "size_px": 112}


def quiet(done: int, total: int, message: str = "") -> None:
    """A progress report that nobody reads."""


def brought(folder: Path, files: Sequence[str], name: str = "conflicts") -> SourceSet:
    """A set of pictures of noise, by their paths."""
    rng = np.random.default_rng(len(files))
    for path in files:
        pixels = rng.integers(0, 256, (120, 120, 3), dtype=np.uint8)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / path)
    return import_images(source=folder, order=ImportOrder(name=name)).source_set


@pytest.fixture
def conflicts(db: None, tmp_path: Path) -> SourceSet:
    files = ("cat/cat1-dog2.png", "cat/cat2-knife1.png", "dog/dog1-cat1.png", "dog/dog3-dog4.png")
    return brought(tmp_path / "conflicts", files)


def made(source_set: SourceSet, **more: Any) -> StimulusSet:
    described = Described(source_set=source_set, name="who", **WANTED, **more)
    stimulus_set = create_stimulus_set(described)
    make_stimuli(stimulus_set, quiet)
    stimulus_set.refresh_from_db()
    return stimulus_set


def test_pictures_are_made_or_brought_and_frozen_with_the_set(source_set: SourceSet, conflicts: SourceSet) -> None:
    who = made(source_set, person_families=["high_pass", "silhouette"], cue_conflicts=conflicts)
    assert who.person_families == ["cue_conflict", "high_pass", "silhouette"]
    counts = Counter(who.stimuli.values_list("corruption", flat=True))
    # dog3-dog4 is no conflict; not every picture has one object that stands out.
    assert (counts["cue_conflict"], counts["high_pass"], counts["none"], counts["gaussian_noise"]) == (3, 8, 8, 8)
    assert counts["silhouette"] <= 8
    conflicts.refresh_from_db()
    assert conflicts.frozen_at is not None and list(who.coverage) == ["gaussian_noise"]
    for one in who.stimuli.filter(corruption="high_pass").select_related("source_image"):
        shown = np.asarray(Image.open(media_path(one.file)))
        assert np.array_equal(shown, high_pass(prepare_original(media_path(one.source_image.file), 112)))
    for one in who.stimuli.filter(corruption="cue_conflict").select_related("source_image"):
        shown = np.asarray(Image.open(media_path(one.file)))
        assert np.array_equal(shown, prepare_original(media_path(one.source_image.file), 112))
        assert one.visual_change == 0.0 and one.source_image.source_set_id == conflicts.pk
    # Names tell nothing: a letter and 16 digits of a digest, as those of every other stimulus.
    assert {len(key) for key in who.stimuli.values_list("key", flat=True)} == {17}
    assert len(STIMULI.read(manifest_path(who))) == sum(counts.values())
    checked = verify_stimuli(who)
    assert checked.passed and checked.stimuli.identical == sum(counts.values())


def test_models_are_asked_about_them(source_set: SourceSet, conflicts: SourceSet) -> None:
    who = made(source_set, person_families=["high_pass"], cue_conflicts=conflicts)
    asked = Counter(one.corruption for one in shown_stimuli(who))
    assert asked == {"none": 8, "gaussian_noise": 8, "high_pass": 8, "cue_conflict": 3}


def test_a_set_without_them_has_the_stimuli_that_it_always_had(source_set: SourceSet, conflicts: SourceSet) -> None:
    who = made(source_set, person_families=["high_pass"], cue_conflicts=conflicts)
    plain = create_stimulus_set(Described(source_set=source_set, name="plain", **WANTED))
    make_stimuli(plain, quiet)
    rows = {
        one.name: set(one.stimuli.exclude(corruption__in=who.person_families).values_list("key", "sha256"))
        for one in (who, plain)
    }
    assert rows["who"] == rows["plain"] and plain.person_families == []


def test_a_job_that_goes_on_makes_nothing_twice(source_set: SourceSet, conflicts: SourceSet) -> None:
    who = made(source_set, person_families=["high_pass", "silhouette"], cue_conflicts=conflicts)
    before = set(who.stimuli.values_list("pk", "key", "sha256"))
    one = who.stimuli.filter(corruption="high_pass").first()
    assert one is not None
    media_path(one.file).unlink()
    make_stimuli(who, quiet)
    assert set(who.stimuli.values_list("pk", "key", "sha256")) == before and media_path(one.file).exists()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (("cat/one.png", "dog/two.png"), "No picture of wrong is a cue conflict by its name"),
        (("dog/cat1-dog2.png",), "has the shape cat by its name, but was imported as dog"),
    ],
)
def test_what_is_no_cue_conflict_is_refused(
    source_set: SourceSet, tmp_path: Path, files: tuple[str, ...], words: str
) -> None:
    wrong = brought(tmp_path / "wrong", files, name="wrong")
    with pytest.raises(InvalidRequest, match=words) as refused:
        made(source_set, cue_conflicts=wrong)
    assert set(refused.value.fields) == {"cue_conflicts"} and not StimulusSet.objects.exists()
    wrong.refresh_from_db()
    assert wrong.frozen_at is None


def test_a_family_that_nothing_makes_is_refused(source_set: SourceSet) -> None:
    with pytest.raises(InvalidRequest, match="choose from high_pass, silhouette") as refused:
        made(source_set, person_families=["cue_conflict"])
    assert set(refused.value.fields) == {"person_families"}


def test_the_command_makes_them_too(source_set: SourceSet, conflicts: SourceSet) -> None:
    told = StringIO()
    call_command(
        "generate_stimuli", images="pets", corruption="gaussian_noise", count=8, name="who", size=112,
        persons="high_pass", conflicts="conflicts", stdout=told,
    )  # fmt: skip
    assert "sentinels of persons: 8 of the family high_pass" in told.getvalue()
    assert "sentinels of persons: 3 of the family cue_conflict" in told.getvalue()


def test_the_form_offers_them(researcher: Any, source_set: SourceSet, conflicts: SourceSet) -> None:
    page = researcher.get("/stimuli/new/").content.decode()
    assert 'name="person_families"' in page and 'value="silhouette"' in page
    given = {
        "source_set": source_set.pk, "name": "who", "corruptions": ["gaussian_noise"], "count": "8", "size_px": "112",
        "seed": "3", "person_families": ["high_pass"], "cue_conflicts": conflicts.pk,
    }  # fmt: skip
    estimate = researcher.get("/stimuli/new/estimate/", given).content.decode()
    assert "28 stimuli" in estimate, "8 clean, 8 of noise, 8 of edges, and 4 that are brought"
    assert researcher.post("/stimuli/new/", given).status_code == 302
    who = StimulusSet.objects.get()
    assert (who.person_families, who.cue_conflicts) == (["cue_conflict", "high_pass"], conflicts)
    assert "cue conflicts from conflicts" in " ".join(researcher.get("/stimuli/sets/who/").content.decode().split())
