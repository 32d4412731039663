from __future__ import annotations

import hashlib
import json
import multiprocessing
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.counterfactuals.specifications import load_generator
from analysis.counterfactuals.summaries import DRAWINGS_ONLY, FORMER_WALK
from analysis.generation.files import decode_png
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.counterfactuals import selectors
from humanexp.counterfactuals.models import SearchGroup, SearchRun
from humanexp.counterfactuals.selectors import caveats_of, leaderboard, records_of, search_settings
from humanexp.counterfactuals.services import searches
from humanexp.counterfactuals.services.benchmark_archive import write_archive
from humanexp.counterfactuals.services.benchmarks import as_stimuli, freeze, run_transfer
from humanexp.counterfactuals.services.searches import complete, create_search, run_search, start
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.specs import SHELF
from humanexp.jobs import runner, services as jobs
from humanexp.jobs.models import Job, JobState
from humanexp.results.selectors import findings
from humanexp.results.services import run_analysis
from tests.counterfactuals.networks import CLEAN, ROBUST
from tests.results.collected import make_predictions, make_study
from tests.results.test_tables import make_levels

AUTOENCODER = "fixtures/counterfactuals/autoencoder.pt"


def done(job: Job) -> Job:
    runner.run_waiting(kinds=[job.kind])
    job.refresh_from_db()
    return job


def test_a_search_is_run_scored_and_kept(order) -> None:
    run, job = create_search(**order())
    assert done(job).state == JobState.DONE, job.error
    run.refresh_from_db()
    rows = list(run.counterfactuals.select_related("source_image"))
    assert len(rows) == 6 and len({row.category for row in rows}) == 6
    for row in rows:
        assert row.valid == bool(row.sha256) and row.ending in ("refused", "budget")
        if row.valid:
            assert hashlib.sha256(media_path(row.kept_file).read_bytes()).hexdigest() == row.sha256
            assert len(row.losses) == row.accepted_steps + 1 and row.oracle_response == row.category
        assert media_path(row.original_file).is_file()
    pooled = run.scores["pooled"]
    assert pooled["n"] == 6 and pooled["vr"] == sum(bool(row.valid) for row in rows) / 6
    assert len(run.scores["by_budget"]) == 3 and set(run.scores["classes"]) == {row.category for row in rows}
    assert set(run.digests) == {"classifier", "generator", "oracle"}
    assert run.facts["weights"] > 100_000 and run.facts["pictures_per_s"] > 0
    assert run.model_name == "clean"


def test_the_oracle_accepts_every_kept_file_again(order) -> None:
    from analysis.counterfactuals.files import read_picture

    run, job = create_search(**order())
    done(job)
    oracle = search_settings(run).load_oracle()
    kept = [row for row in run.counterfactuals.select_related("source_image", "run") if row.sha256]
    assert kept
    for row in kept:
        assert oracle.judge(read_picture(media_path(row.kept_file))[None], [row.category]).accepted.all()


def test_a_killed_search_goes_on_where_it_stopped(order, monkeypatch) -> None:
    from analysis.counterfactuals import shards

    whole, job = create_search(**order(name="whole"))
    done(job)
    run, job = create_search(**order())
    made = []
    search = shards.search_shard

    def dies_after_the_first(shard):
        if made:
            raise MemoryError
        made.append(shard)
        return search(shard)

    monkeypatch.setattr(shards, "search_shard", dies_after_the_first)
    runner.run_waiting(kinds=[job.kind])
    assert [row.ending != "" for row in run.counterfactuals.all()] == [True] * 3 + [False] * 3
    monkeypatch.setattr(shards, "search_shard", search)
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED)
    job.refresh_from_db()
    assert done(start(run=run)).state == JobState.DONE
    assert [row.sha256 for row in records_of(run)] == [row.sha256 for row in records_of(whole)]


def test_a_cancelled_search_stops(order) -> None:
    run, job = create_search(**order())
    jobs.cancel(job=job)
    assert done(job).state == JobState.CANCELLED
    assert done(start(run=run)).state == JobState.DONE


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"budget": 0}, "budget .* not 0"),
        ({"pictures": 99}, "has 16 pictures for this search, not 99"),
        ({"generator": "pixel"}, "'pixel' is no generator"),
        ({"generator": "corruption:sunshine"}, "no corruption function 'sunshine'"),
        ({"oracle": "pixel:"}, "no oracle: begin with one of classifier:, clip:"),
        ({"name": ""}, "cannot be a name: use up to 60 letters"),
        ({"name": "two words"}, "cannot be a name: use up to 60 letters"),
        ({"name": "across"}, "'across' cannot be a name: choose another"),
        ({"oracle": "crowd:", "size_px": 8}, "People are shown pictures of 16 to 1024 px, not 8"),
        ({"oracle": "crowd:", "size_px": 112, "pictures": 2}, "at least 4 pictures"),
        ({"cap_cents": 100}, "Only people cost money"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_written(changes, says, order) -> None:
    with pytest.raises(InvalidRequest, match=says):
        create_search(**order(**changes))
    assert not SearchRun.objects.exists() and not Job.objects.filter(kind=searches.SEARCH_KIND).exists()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"classifier": "python:x:y"}, "runs code"),
        ({"classifier": "export:/srv/elsewhere.pt2"}, "published networks by name"),
        ({"oracle": "classifier:export:../elsewhere.pt2"}, "published networks by name"),
        ({"oracle": "clip:ViT-B-32@/srv/weights.pt"}, "published networks by name"),
        ({"oracle": f"clip:local-dir:/srv@{AUTOENCODER}"}, "published networks by name"),
        ({"oracle": f"ensemble:classifier:{CLEAN}|ensemble:classifier:python:x:y"}, "runs code"),
        ({"generator": "vqgan:/srv/last.ckpt"}, "the console takes the files in"),
        ({"generator": f"vqgan:{AUTOENCODER},step=0.1,sparse=/srv/chosen.npy"}, "the console takes the files in"),
    ],
)
def test_a_page_names_no_code_and_no_file_beside_the_shelf(changes, says, order) -> None:
    by = User.objects.create_user("ada")
    with pytest.raises(InvalidRequest, match=says):
        create_search(**order(**changes), by=by)
    assert not SearchRun.objects.exists()


def test_a_page_names_what_is_on_the_shelf(order) -> None:
    chosen = media_path(SHELF) / "chosen.npy"
    chosen.parent.mkdir(parents=True, exist_ok=True)
    chosen.touch()
    run, _job = create_search(
        **order(generator=f"vqgan:{AUTOENCODER},sparse={chosen}", oracle=f"ensemble:classifier:{CLEAN}"),
        by=User.objects.create_user("ada"),
    )
    assert run.pk


def test_a_job_tells_what_it_refuses(order) -> None:
    _run, job = create_search(**order(generator="vqgan:/nowhere.ckpt"))
    assert done(job).state == JobState.FAILED and "no such checkpoint" in job.error


def test_who_owns_a_search_of_the_command_line_takes_no_right_from_it(order) -> None:
    """python: runs code. A form may not name it; a command may, whoever is to own the search."""
    ada = User.objects.create_user("ada")
    by_command, _job = create_search(**order(classifier="python:lab.networks:small"), owner=ada)
    assert by_command.created_by == ada and search_settings(by_command).allow_code
    by_form, _job = create_search(**order(name="form"), by=ada)
    ada.delete()
    by_form.refresh_from_db()
    assert by_form.created_by is None and not search_settings(by_form).allow_code


def test_the_command_searches_and_goes_on(source_set, tmp_path) -> None:
    ada = User.objects.create_user("ada")
    arguments = {
        "images": "drawn", "classifier": CLEAN, "generator": "pixel:", "oracle": f"classifier:{ROBUST}", "pictures": 3,
        "size_px": 64, "budget": 1, "json": tmp_path / "scores.json", "owner": "ada",
    }  # fmt: skip
    said = StringIO()
    call_command("counterfactuals", **arguments, stdout=said)
    pooled = json.loads((tmp_path / "scores.json").read_text())["pooled"]
    assert "drawn-clean: 3 pictures" in said.getvalue() and pooled["n"] == 3
    assert f"OOR {pooled['oor']:.3f}, over validated pictures {pooled['oor_validated']:.3f}" in said.getvalue()
    call_command("counterfactuals", **arguments, stdout=said)
    assert SearchRun.objects.get().created_by == ada
    for option, value in {"generator": "corruption:gaussian_noise", "size_px": 56, "pictures": 4}.items():
        with pytest.raises(CommandError, match=f"drawn-clean with another --{option.removesuffix('_px')}: give this"):
            call_command("counterfactuals", **{**arguments, option: value})
    with pytest.raises(CommandError, match="no set of pictures 'none'"):
        call_command("counterfactuals", **{**arguments, "images": "none", "name": "x"})
    with pytest.raises(CommandError, match="budget"):
        call_command("counterfactuals", **{**arguments, "budget": 0, "name": "x"})
    with pytest.raises(CommandError, match="--cap"):
        call_command("counterfactuals", **{**arguments, "oracle": "crowd:", "name": "x"})
    with pytest.raises(CommandError, match="is no folder: make it first"):
        call_command("counterfactuals", **{**arguments, "name": "x", "json": tmp_path / "none" / "scores.json"})
    with pytest.raises(CommandError, match="'pixels:' is no generator"):
        call_command("counterfactuals", **{**arguments, "generator": "pixels:", "name": "x"})


def test_a_finished_search_is_frozen_and_becomes_stimuli(order) -> None:
    run, job = create_search(**order(size_px=112))
    with pytest.raises(Conflict, match="not finished"):
        freeze(run=run)
    done(job)
    run.refresh_from_db()
    benchmark = freeze(run=run)
    assert freeze(run=run) == benchmark
    manifest = media_path(f"{run.folder}/manifest.json").read_bytes()
    assert hashlib.sha256(manifest).hexdigest() == benchmark.manifest_sha256
    told = json.loads(manifest)
    assert benchmark.count == len(told["pictures"]) == run.counterfactuals.exclude(sha256="").count()
    for picture in told["pictures"]:
        content = media_path(f"{run.folder}/pictures/{picture['key']}.png").read_bytes()
        assert hashlib.sha256(content).hexdigest() == picture["sha256"]
    name = f"{run.folder}/pictures/{told['pictures'][0]['key']}.png"
    changed = media_path(name)
    content = changed.read_bytes()
    changed.write_bytes(content + b"0")
    with pytest.raises(Conflict, match=f"{name} of .* was changed"):
        write_archive(benchmark)
    changed.write_bytes(content)
    made = as_stimuli(benchmark=benchmark)
    assert as_stimuli(benchmark=benchmark) == made and made.completed_at
    assert made.stimuli.filter(corruption="counterfactual").count() == benchmark.count
    assert made.stimuli.filter(corruption="none").count() >= benchmark.count
    assert all(0 <= change <= 1 for change in made.stimuli.values_list("visual_change", flat=True))


def test_small_pictures_are_shown_to_people_enlarged_pixel_by_pixel(order) -> None:
    run, job = create_search(**order(size_px=32, pictures=3))
    assert done(job).state == JobState.DONE, job.error
    run.refresh_from_db()
    made = as_stimuli(benchmark=freeze(run=run))
    assert (made.size_px, made.enlarged) == (224, 7)
    kept = {one.source_image.key: one.kept_file for one in run.counterfactuals.all() if one.sha256}
    for one in made.stimuli.filter(corruption="counterfactual").select_related("source_image"):
        shown = decode_png(media_path(one.file).read_bytes())
        native = decode_png(media_path(kept[one.source_image.key]).read_bytes())
        assert np.array_equal(shown, native.repeat(7, axis=0).repeat(7, axis=1))
    crowd = order(name="people", oracle="crowd:", size_px=32, population="scripted")["run"]
    assert searches.shown_to_people(crowd).size_px == 224


def test_the_leaderboard_is_sorted_and_what_is_unknown_comes_last(order) -> None:
    user = User.objects.create_user("ada")
    for name, oor in (("low", 0.2), ("none", None), ("high", 0.9)):
        run, _job = create_search(**order(name=name))
        pooled = {"oor": oor, "sa": 0.5, "vr": len(name) / 10, "intervals": {"oor": [None, None]}}
        complete(run=run, scores={"pooled": pooled}, facts={"weights": len(name)})
    assert [row.run.name for row in leaderboard(user)] == ["high", "low", "none"]
    assert [row.run.name for row in leaderboard(user, order="weights")][0] == "low"
    assert [row.vr for row in leaderboard(user, order="vr")] == [0.4, 0.4, 0.3]
    assert len(leaderboard(user, order="nonsense")) == 3


@pytest.mark.verify
def test_vcr_and_hmri_are_those_of_the_newest_analysis_of_the_same_model(order) -> None:
    user, stranger = User.objects.create_user("ada"), User.objects.create_user("bob")
    study = make_study(by=user)
    make_predictions(study)
    EvaluationRun.objects.update(classifier_digest="a" * 64)
    found = findings(run_analysis(study=study, n_bootstrap=8))
    run, _job = create_search(**order())
    SearchRun.objects.filter(pk=run.pk).update(digests={"classifier": "a" * 64})
    run.refresh_from_db()
    pooled = {"oor": 0.5, "sa": 0.5, "intervals": {"oor": [None, None]}}
    complete(run=run, scores={"pooled": pooled}, facts={})
    (row,) = leaderboard(user)
    indices = [one.hmri for one in found.comparisons if one.property == "accuracy"]
    assert row.hmri == pytest.approx(sum(indices) / len(indices)) and row.vcr is not None and 0 < row.vcr < 1
    (row,) = leaderboard(stranger)
    assert row.hmri is None and row.vcr is None


def test_accuracy_at_the_levels_of_imagenet_c_stands_beside_oor(order) -> None:
    """OOR's SA*: mean over the levels of a function, then over functions, of the same model."""
    user = User.objects.create_user("ada")
    study = make_study(by=user)
    levels = make_levels(study)
    EvaluationRun.objects.filter(stimulus_set=levels).update(classifier_digest="a" * 64)
    runs = {name: create_search(**order(name=name))[0] for name in ("known", "other")}
    SearchRun.objects.filter(name="known").update(
        digests={"classifier": "a" * 64}, classifier="torchvision:resnet50@augmix.pth"
    )
    for run in runs.values():
        run.refresh_from_db()
        complete(run=run, scores={"pooled": {"oor": 0.5, "sa": 0.5, "intervals": {"oor": [None, None]}}}, facts={})
    first, second = leaderboard(user, order="at_levels")
    # Right up to level 3 of 5.
    assert (first.run.name, first.at_levels, second.at_levels) == ("known", pytest.approx(0.6), None)
    assert first.known is not None and first.known.papers["OOR"] == "Augmix" and second.known is None


@pytest.mark.process
@pytest.mark.parametrize(("device", "has_children"), [("cpu", True), ("cpu:0", False)])
def test_a_device_is_given_to_one_process(device, has_children, order, settings) -> None:
    """A device other than the plain processor has one memory: there, the networks are loaded once, in this process."""
    settings.COMPUTE = "processes:2"
    seen = []

    def watch(done: int, total: int, message: str = "") -> None:
        seen.append(len(multiprocessing.active_children()))

    for name, classifier in (("one", CLEAN), ("two", ROBUST)):
        described = order(name=name, classifier=classifier, oracle=f"ensemble:classifier:{CLEAN}|classifier:{ROBUST}")
        run, _job = create_search(**described)
        SearchRun.objects.filter(pk=run.pk).update(device=device)
        run.refresh_from_db()
        run_search(run, watch)
    assert any(seen) == has_children
    seen.clear()
    (group,) = selectors.groups()
    SearchGroup.objects.create(key=group.key)
    assert run_transfer(group.key, watch) == {"cells": 2}
    assert any(seen) == has_children


def test_the_shipped_autoencoder_is_said_to_be_no_use_on_photographs(source_set, tmp_path) -> None:
    said, warned, scores = StringIO(), StringIO(), tmp_path / "scores.json"
    arguments = {
        "images": "drawn", "classifier": CLEAN, "generator": f"vqgan:{AUTOENCODER}", "oracle": f"classifier:{ROBUST}",
        "pictures": 2, "size_px": 64, "budget": 1, "json": scores,
    }  # fmt: skip
    call_command("counterfactuals", **arguments, stdout=said, stderr=warned)
    assert f"Warning: {DRAWINGS_ONLY}" in warned.getvalue()
    assert json.loads(scores.read_text())["caveats"] == [DRAWINGS_ONLY]
    run = SearchRun.objects.get()
    freeze(run=run)
    assert json.loads(media_path(f"{run.folder}/manifest.json").read_bytes())["caveats"] == [DRAWINGS_ONLY]


def test_a_search_of_the_former_walk_keeps_its_results_and_is_marked(order) -> None:
    run, job = create_search(**order())
    done(job)
    run.refresh_from_db()
    assert caveats_of(run) == []
    former = load_generator(run.generator).former_digests(by_people=False)[-1]
    SearchRun.objects.filter(pk=run.pk).update(digests={**run.digests, "generator": former})
    run.refresh_from_db()
    assert caveats_of(run) == [FORMER_WALK]
    again = done(start(run=run))
    assert again.state == JobState.FAILED and "Search again under another name" in again.error
    after = SearchRun.objects.get(pk=run.pk)
    assert (after.scores, after.digests) == (run.scores, run.digests)
