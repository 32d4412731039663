from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from humanexp.core.errors import Conflict
from humanexp.core.storage import media_path
from humanexp.jobs.models import JobState
from humanexp.jobs.runner import run_waiting
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.services import generation
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import make_stimuli
from humanexp.stimuli.services.generation import (
    create_stimulus_set,
    delete_stimulus_set,
    request_deletion,
    start_generation,
)
from humanexp.studies.models import Study, StudyFamily

pytestmark = pytest.mark.django_db


@pytest.fixture
def stimulus_set(source_set: SourceSet) -> StimulusSet:
    made = create_stimulus_set(
        Described(source_set=source_set, name="noise", corruptions=["gaussian_noise"], count=10, size_px=112)
    )
    make_stimuli(made, lambda done, total, message="": None)
    return made


def test_rows_and_files_go_and_the_name_is_free_again(stimulus_set: StimulusSet, source_set: SourceSet) -> None:
    assert delete_stimulus_set(stimulus_set=stimulus_set) == 18
    assert not StimulusSet.objects.exists()
    assert not Stimulus.objects.exists()
    assert list(media_path("stimuli").iterdir()) == []
    assert source_set.images.count() == 8
    create_stimulus_set(
        Described(source_set=source_set, name="noise", corruptions=["gaussian_noise"], count=10, size_px=112)
    )


def test_a_set_that_a_study_uses_stays(stimulus_set: StimulusSet) -> None:
    family = StudyFamily.objects.create(slug="pets")
    study = Study.objects.create(family=family, slug="pets", title="Pets", stimulus_set=stimulus_set)
    with pytest.raises(Conflict, match=f"noise is used by the study {study}: what people saw is kept"):
        delete_stimulus_set(stimulus_set=stimulus_set)
    stimulus_set.refresh_from_db()
    assert stimulus_set.completed_at is not None
    assert stimulus_set.stimuli.count() == 18
    assert len(list(media_path("stimuli/noise").rglob("*.png"))) == 18


def test_a_set_that_is_being_made_stays(stimulus_set: StimulusSet) -> None:
    start_generation(stimulus_set=stimulus_set)
    with pytest.raises(Conflict, match="cancel that job first"):
        delete_stimulus_set(stimulus_set=stimulus_set)
    assert stimulus_set.stimuli.count() == 18


def test_a_deletion_that_stopped_half_way_is_finished_by_the_next(stimulus_set: StimulusSet) -> None:
    # As a process leaves it that was killed after the folder was put out of the way.
    media_path("stimuli/noise").rename(media_path("stimuli") / ".noise.deleted")
    StimulusSet.objects.update(completed_at=None)
    assert delete_stimulus_set(stimulus_set=stimulus_set) == 18
    assert list(media_path("stimuli").iterdir()) == []


def test_a_deletion_that_stopped_half_way_can_be_undone_by_making_the_set(stimulus_set: StimulusSet) -> None:
    before = dict(stimulus_set.stimuli.values_list("key", "sha256"))
    media_path("stimuli/noise").rename(media_path("stimuli") / ".noise.deleted")
    stimulus_set.stimuli.filter(corruption="none").delete()
    make_stimuli(stimulus_set, lambda done, total, message="": None)
    assert dict(stimulus_set.stimuli.values_list("key", "sha256")) == before


def test_a_page_leaves_the_deletion_to_a_job(researcher: Client, stimulus_set: StimulusSet) -> None:
    address = reverse("stimuli:delete", args=["noise"])
    assert researcher.post(address, {"confirm": "nois"}).status_code == 422
    researcher.post(address, {"confirm": "noise"})
    stimulus_set.refresh_from_db()
    assert stimulus_set.completed_at is None
    assert stimulus_set.stimuli.count() == 18
    assert "is being deleted" in researcher.get(reverse("stimuli:stimulus_sets")).content.decode()

    run_waiting(kinds=[generation.DELETION_KIND])
    assert not StimulusSet.objects.exists()
    assert latest_for(stimulus_set.job_subject).result == {"count": 18}
    assert researcher.get(reverse("stimuli:stimulus_sets")).status_code == 200


def test_a_deletion_that_is_tried_again_finds_nothing_to_do(stimulus_set: StimulusSet) -> None:
    job = request_deletion(stimulus_set=stimulus_set)
    delete_stimulus_set(stimulus_set=stimulus_set)
    run_waiting(kinds=[generation.DELETION_KIND])
    job.refresh_from_db()
    assert (job.state, job.result) == (JobState.DONE, {})
