"""Searches among the labels of the pictures: the model under test, its oracle, the scores, and what is refused."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.counterfactuals.files import read_picture, shard_name
from analysis.counterfactuals.specifications import load_oracle
from analysis.errors import InvalidInput, OracleUnavailable
from analysis.labels.space import Label, LabelSpace
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.selectors import search_originals, search_settings
from humanexp.counterfactuals.services.searches import create_search
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.label_sets import store_labels
from humanexp.stimuli.services.sources import ImportOrder
from tests.counterfactuals.networks import CLEAN, ROBUST

THREE = LabelSpace(name="three", labels=(Label(id="cat"), Label(id="dog"), Label(id="clock")))
STRANGE = LabelSpace(name="strange", labels=(Label(id="cat"), Label(id="unicorn")))


def done(job: Job) -> Job:
    runner.run_waiting(kinds=[job.kind])
    job.refresh_from_db()
    return job


def imported(drawings: Path, folder: Path, space: LabelSpace) -> SourceSet:
    """Drawings of the labels; of one that nobody draws, a drawing of another category."""
    store_labels(space)
    folder.mkdir()
    for one, drawn in zip(space.ids, ("cat", "clock", "dog"), strict=False):
        (folder / one).symlink_to(drawings / (one if (drawings / one).is_dir() else drawn))
    import_images(source=folder, order=ImportOrder(name=space.name, labels=space.name))
    return SourceSet.objects.get(name=space.name)


def test_model_oracle_and_scores_are_among_the_labels_of_the_pictures(order, drawings: Path, tmp_path: Path) -> None:
    source_set = imported(drawings, tmp_path / "three", THREE)
    run, job = create_search(**order(source_set=source_set, pictures=3))
    assert done(job).state == JobState.DONE, job.error
    run.refresh_from_db()
    rows = list(run.counterfactuals.select_related("source_image", "run"))
    said = {answer for row in rows for answer in (row.clean_response, *row.responses, *row.oracle_responses)}
    assert said <= set(THREE.ids)
    assert set(run.scores["classes"]) == set(THREE.ids) and run.scores["pooled"]["n"] == 3
    settings = search_settings(run)
    target, oracle = settings.load_target(), settings.load_oracle()
    assert target.space.identity == THREE.identity and oracle.classes == set(THREE.ids)
    kept = [row for row in rows if row.sha256]
    assert kept
    for row in kept:
        picture = read_picture(media_path(row.kept_file))[None]
        assert oracle.judge(picture, [row.category]).accepted.all()
        assert target.look(picture, target.numbers([row.category])).responses.tolist() == [row.response]


def test_another_space_gives_other_shards_and_the_sixteen_keep_theirs(order, drawings: Path, tmp_path: Path) -> None:
    run, _job = create_search(**order())
    settings = search_settings(run)
    assert settings.labels == ""
    name = shard_name(settings, search_originals(run), ["a", "b", "c"])
    # As it was before searches had labels: finished work is found again.
    before = {
        field: getattr(settings, field)
        for field in ("classifier", "generator", "oracle", "budget", "batch", "size_px", "greyscale", "fgsm")
    } | {"allow_code": True}

    pictures = [(one.key, one.category, one.sha256, one.seed) for one in search_originals(run)]
    content = json.dumps([before, pictures, ["a", "b", "c"]], sort_keys=True)
    assert name == hashlib.sha256(content.encode()).hexdigest()[:24]
    source_set = imported(drawings, tmp_path / "three", THREE)
    own = replace(settings, labels=source_set.labels.document)
    assert shard_name(own, search_originals(run), ["a", "b", "c"]) != name


def test_networks_without_an_output_for_a_label_are_refused(order, drawings: Path, tmp_path: Path) -> None:
    source_set = imported(drawings, tmp_path / "strange", STRANGE)
    run, job = create_search(**order(source_set=source_set, pictures=2))
    assert done(job).state == JobState.FAILED
    assert "The oracle classifier:robust does not know unicorn" in job.error
    assert not SearchRun.objects.get().scores
    target = search_settings(run).load_target()
    with pytest.raises(InvalidInput, match="No output stands for unicorn: .* 2 labels of strange"):
        target.look(np.zeros((1, 64, 64, 3), np.uint8), target.numbers(["cat"]))


def test_an_oracle_that_knows_none_of_the_labels_is_refused() -> None:
    nothing = LabelSpace(name="nothing", labels=(Label(id="unicorn"), Label(id="gryphon")))
    with pytest.raises(OracleUnavailable, match="knows none of the labels of nothing"):
        load_oracle(f"classifier:{ROBUST}", space=nothing)
    both = load_oracle(f"ensemble:classifier:{ROBUST}|classifier:{CLEAN}", space=THREE)
    assert both.classes == set(THREE.ids)
