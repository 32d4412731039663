"""What the paper does beside a search, by commands: step sizes, sparse submodels, training, other generators."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.counterfactuals.port import Target
from analysis.counterfactuals.score import score
from analysis.counterfactuals.sparse_submodel import fit_sparse_submodel
from analysis.counterfactuals.specifications import load_generator
from analysis.examples.pictures import draw
from analysis.generation.files import encode_png
from analysis.labels.files import default_labels
from humanexp.core.errors import JobCancelled
from humanexp.counterfactuals import jobs as handlers
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.selectors import records_of, search_settings
from humanexp.counterfactuals.services.searches import create_search, run_search
from humanexp.counterfactuals.services.sparse_submodels import start_sparse
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.acme_package import installed
from tests.counterfactuals.networks import CLEAN, ROBUST

pytestmark = pytest.mark.django_db(transaction=True)
VQGAN = "vqgan:fixtures/counterfactuals/autoencoder.pt"
ORACLE = f"classifier:{ROBUST}"


@pytest.fixture(autouse=True)
def serial(settings, tmp_path: Path) -> None:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"


def told(name: str, *arguments: str) -> str:
    out = StringIO()
    call_command(name, *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def searched(images: str, name: str, generator: str, *more: str, classifier: str = CLEAN) -> str:
    return told(
        "counterfactuals", f"--images={images}", f"--name={name}", f"--classifier={classifier}",
        f"--generator={generator}", f"--oracle={ORACLE}", "--size=64", "--budget=2", *more,
    )  # fmt: skip


def other_drawings(folder: Path, seed: int) -> str:
    name = f"drawn-{seed}"
    for category in default_labels().ids:
        (folder / name / category).mkdir(parents=True)
        (folder / name / category / "1.png").write_bytes(encode_png(draw(category, seed, 112)))
    import_images(source=folder / name, order=ImportOrder(name=name))
    return name


@pytest.mark.verify
def test_a_study_of_step_sizes_prints_means_over_runs_that_scores_computed_apart_have(source_set, tmp_path) -> None:
    asked = (
        "--images=drawn", f"--classifier={CLEAN}", "--generator=corruption:gaussian_noise", f"--oracle={ORACLE}",
        "--name=steps", "--steps=0.2,0.5", "--runs=2", "--budget=2", "--pictures=6", "--size=64",
        f"--json={tmp_path / 'steps.json'}",
    )  # fmt: skip
    out = told("step_study", *asked)
    rows = json.loads((tmp_path / "steps.json").read_text())["steps"]
    assert [row["name"] for row in rows] == ["0.2", "0.5"] and "OOR" in out
    for row in rows:
        assert row["searches"] == [f"steps-step-{row['name'].replace('.', '-')}-run-{n}" for n in (1, 2)]
        values = []
        for name in row["searches"]:
            found = records_of(SearchRun.objects.get(name=name))
            one = score(
                clean_correct=[record.clean_correct for record in found], valid=[record.valid for record in found],
                counterfactual_correct=[record.counterfactual_correct for record in found],
            )  # fmt: skip
            values.append(one.oor)
        assert row["mean"]["oor"] == pytest.approx(sum(values) / 2)
        assert row["sd"]["oor"] == pytest.approx(float(np.std(values, ddof=1)))
        took = [SearchRun.objects.get(name=name).facts["seconds"] for name in row["searches"]]
        assert row["seconds"] == {"mean": pytest.approx(np.mean(took)), "sd": pytest.approx(np.std(took, ddof=1))}
        assert row["time_saved"] is None
    seeds = SearchRun.objects.filter(name__startswith="steps-step-0-2").order_by("name").values_list("seed", flat=True)
    assert list(seeds) == [0, 1]
    assert told("step_study", *asked) == out and SearchRun.objects.count() == 4
    with pytest.raises(CommandError, match="with another --budget"):
        told("step_study", *asked, "--budget=3")
    # Table 10 of the paper: the same search by another generator, and the share of time that it saves.
    brief = [one.replace("--name=steps", "--name=brief") for one in asked]
    for run in SearchRun.objects.all():  # as long as the paper's, so that no clock of this machine decides
        run.facts["seconds"] = 521.5
        run.save()
    told("step_study", *brief)
    SearchRun.objects.filter(name__startswith="brief").update(facts={"seconds": 455.4})
    assert told("step_study", *brief, "--beside=steps").count("12.7% less time than steps") == 2
    assert told("step_study", *asked, "--beside=brief").count("14.5% more time than brief") == 2
    SearchRun.objects.filter(name__startswith="brief").update(batch=16)
    with pytest.raises(CommandError, match="differ in more than the generator"):
        told("step_study", *asked, "--beside=brief")
    with pytest.raises(CommandError, match="There is no finished search of a study of step sizes 'none'"):
        told("step_study", *asked, "--beside=none")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (["--generator=pixel:step=0.1"], "leave step= out"),
        (["--oracle=crowd:"], "an oracle that answers at once"),
        (["--steps=0.1,0.1"], "no list of different positive numbers"),
        (["--steps=0.1,-1"], "no list of different positive numbers"),
    ],
)
def test_what_is_no_study_of_steps_is_refused(source_set, change: list[str], sentence: str) -> None:
    asked = ["--images=drawn", f"--classifier={CLEAN}", "--generator=pixel:", f"--oracle={ORACLE}", "--name=steps"]
    with pytest.raises(CommandError, match=sentence):
        told("step_study", *asked, *change)
    assert not SearchRun.objects.exists()


def test_runs_without_chance_are_called_so(source_set) -> None:
    out = told(
        "step_study", "--images=drawn", f"--classifier={CLEAN}", "--generator=pixel:", f"--oracle={ORACLE}",
        "--name=steps", "--steps=0.01", "--runs=2", "--budget=1", "--pictures=3", "--size=64",
    )  # fmt: skip
    assert "leaves nothing to chance" in out


@pytest.mark.verify
def test_a_sparse_submodel_of_a_search_is_that_of_latents_walked_by_hand_and_searches_take_it(
    source_set, tmp_path: Path
) -> None:
    searched("drawn", "whole", VQGAN)
    run = SearchRun.objects.get(name="whole")
    out = tmp_path / "dimensions.npy"
    said = told("sparse_submodel", "whole", f"--out={out}", "--strength=400")
    report = json.loads(out.with_suffix(".json").read_text())
    assert report["walked"] == report["as_kept"] == run.scores["pooled"]["n_valid"] >= 10
    # The latents walked by hand, all pictures at once.
    settings = search_settings(run)
    target: Target = settings.load_target()
    generator = load_generator(VQGAN)
    rows = [row for row in run.counterfactuals.select_related("source_image", "run") if row.valid]
    from analysis.counterfactuals.files import read_picture
    from humanexp.core.storage import media_path

    pictures = np.stack([read_picture(media_path(row.original_file)) for row in rows])
    numbers = target.numbers([row.category for row in rows])
    before, after = [], []
    for place, row in enumerate(rows):
        state = generator.start(pictures[place : place + 1], np.zeros(1, np.int64))
        before.append(state["latents"][0])
        for _ in range(row.accepted_steps):
            state = generator.step(state, numbers[place : place + 1], target)
        after.append(state["latents"][0])
    found = {tuple(one.ravel()[:3].tolist()) for one in after}
    assert len(found) == len(rows)
    dimensions = np.load(out, allow_pickle=False)
    expected = fit_sparse_submodel(np.stack(before), np.stack(after), strength=400)
    assert np.array_equal(dimensions, expected.dimensions) and 0 < report["share"] < 1
    assert report["share"] == pytest.approx(expected.share)
    assert report["test_score"] == pytest.approx(expected.test_score)
    assert f"{report['selected']} of {report['dimensions']} dimensions" in said
    assert f"sparse={out}" in said
    told("sparse_submodel", "whole", f"--out={tmp_path / 'p.npy'}", "--strength=400", "--latents=published")
    published = json.loads((tmp_path / "p.json").read_text())
    assert (report["latents"], published["latents"]) == ("encoder", "published")
    assert published["test_score"] != report["test_score"] or published["selected"] != report["selected"]
    searched("drawn", "sparse", f"{VQGAN},sparse={out}", "--pictures=3")
    assert SearchRun.objects.get(name="sparse").scores["pooled"]["n"] == 3
    with pytest.raises(CommandError, match="is there already"):
        told("sparse_submodel", "whole", f"--out={out}")
    with pytest.raises(CommandError, match="in all latents of an autoencoder"):
        told("sparse_submodel", "sparse", f"--out={tmp_path / 'again.npy'}")


def test_a_cancelled_fit_goes_on_with_what_was_walked(source_set, tmp_path: Path) -> None:
    searched("drawn", "whole", VQGAN, "--batch=4", "--pictures=12")
    run = SearchRun.objects.get(name="whole")
    job = start_sparse(run=run, out=tmp_path / "d.npy", strength=400)

    def stop(done: int, total: int, message: str = "") -> None:
        if done == 1:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        handlers.sparse(stop, **job.parameters)
    assert not (tmp_path / "d.npy").exists()
    walked = sorted((tmp_path / "media" / run.folder / "latents").iterdir())
    times = [path.stat().st_mtime_ns for path in walked]
    report = handlers.sparse(lambda *_args, **_more: None, **job.parameters)
    assert report["walked"] == run.scores["pooled"]["n_valid"] and walked
    assert [path.stat().st_mtime_ns for path in walked] == times


@pytest.mark.verify
def test_training_on_counterfactuals_writes_a_network_and_its_two_by_two(source_set, tmp_path: Path) -> None:
    others = other_drawings(tmp_path, 5)
    for images, name in (("drawn", "train"), (others, "test")):
        searched(images, name, "pixel:")
    out = tmp_path / "augmented.pt2"
    said = told(
        "train_on_counterfactuals", "--training=train", "--test=test", f"--out={out}", "--epochs=2", "--held-out=0",
        "--learning-rate=0.01",
    )  # fmt: skip
    report = json.loads(out.with_suffix(".json").read_text())["provenance"]
    test = SearchRun.objects.get(name="test")
    kept = [one for one in records_of(test) if one.sha256]
    # Of pictures with a counterfactual: what the search itself says of the network before.
    assert report["before"]["originals"] == pytest.approx(np.mean([one.clean_correct for one in kept]))
    assert report["before"]["counterfactuals"] == pytest.approx(np.mean([one.counterfactual_correct for one in kept]))
    assert report["tested_on"] == len(kept) and f"after: {report['after']['originals']:.3f}" in said
    searched(others, "against", "pixel:", classifier=f"export:{out}")
    assert SearchRun.objects.get(name="against").scores["pooled"]["n"] == 16


def test_what_cannot_be_trained_on_is_refused_before_anything_is_written(source_set, tmp_path: Path) -> None:
    searched("drawn", "a", "pixel:", "--pictures=3")
    searched("drawn", "b", "pixel:", "--pictures=3", classifier=ROBUST)
    out = tmp_path / "n.pt2"
    with pytest.raises(CommandError, match="counterfactuals of the same model"):
        told("train_on_counterfactuals", "--training=a", "--test=b", f"--out={out}")
    with pytest.raises(CommandError, match="3 originals stand in training and test"):
        told("train_on_counterfactuals", "--training=a", "--test=a", f"--out={out}")
    with pytest.raises(CommandError, match="There is no search 'c'"):
        told("train_on_counterfactuals", "--training=a", "--test=c", f"--out={out}")
    assert not out.exists()


def test_a_generator_of_another_package_is_searched_with(
    source_set, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(str(installed(tmp_path / "site")))
    out = searched("drawn", "plugged", "acme-steps:", "--pictures=3")
    searched("drawn", "own", "pixel:epsilon=0.1", "--pictures=3")
    assert "3 pictures" in out
    plugged, own = (SearchRun.objects.get(name=name) for name in ("plugged", "own"))
    # The package's generator is the product's own with another bound: pictures and scores are the same.
    assert [one.sha256 for one in records_of(plugged)] == [one.sha256 for one in records_of(own)]
    assert plugged.scores["pooled"] == own.scores["pooled"]


FETCHED = """
from pathlib import Path

from analysis.classifiers.loading import load_classifier
from analysis.errors import ClassifierUnavailable

CACHE = Path(__file__).with_name("weights")


def classifier(reference, options):
    if options.allow_download:
        CACHE.touch()
    if not CACHE.exists():
        raise ClassifierUnavailable("The weights are not on this machine: allow the download.")
    return load_classifier(f"export:{reference}", space=options.space)
"""


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A network whose weights are fetched once, and are in a cache from then on."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "fetched_net.py").write_text(FETCHED)
    entries = "[humanexp.classifiers]\nfetched = fetched_net:classifier\n"
    monkeypatch.syspath_prepend(str(installed(site, name="fetched-net", entries=entries)))
    monkeypatch.delitem(sys.modules, "fetched_net", raising=False)
    return f"fetched:{CLEAN.partition(':')[2]}"


def test_weights_of_the_network_that_is_searched_are_fetched_where_that_is_allowed(source_set, fetched: str) -> None:
    asked = ("drawn", "far", "corruption:gaussian_blur,step=0.5", "--pictures=3")
    with pytest.raises(CommandError, match="allow the download"):
        searched(*asked, classifier=fetched)
    assert "3 pictures" in searched(*asked, "--allow-download", classifier=fetched)
    assert "3 pictures" in searched(*asked, classifier=fetched)


def test_weights_of_an_oracle_and_of_a_study_of_steps_are_fetched_too(source_set, fetched: str) -> None:
    asked = (
        "step_study", "--images=drawn", f"--classifier={CLEAN}", "--generator=pixel:", "--name=steps", "--steps=0.01",
        f"--oracle=classifier:{fetched}", "--runs=1", "--budget=1", "--pictures=3", "--size=64",
    )  # fmt: skip
    with pytest.raises(CommandError, match="allow the download"):
        told(*asked)
    assert "0.01" in told(*asked, "--allow-download")


def test_weights_of_a_network_that_selects_gold_are_fetched_where_that_is_allowed(source_set, fetched: str) -> None:
    asked = ("select_gold", "--images=drawn", f"--classifier={fetched}")
    with pytest.raises(CommandError, match="allow the download"):
        told(*asked)
    assert "of 16 pictures named right by all" in told(*asked, "--allow-download")


def test_a_search_tells_how_long_it_took_over_its_attempts(source_set, tmp_path: Path) -> None:
    written = tmp_path / "scores.json"
    said = searched("drawn", "timed", "pixel:", "--pictures=3", "--fgsm=0.003", f"--json={written}")
    run = SearchRun.objects.get(name="timed")
    took = run.facts["seconds"]
    report = json.loads(written.read_text())
    assert 0 < took == report["seconds"] and f"the search took {took:.1f} s" in said
    assert report["caveats"][0].endswith("acts as one of 0.0039, 1 of 255 levels.")
    # The same again reads what is there, and takes no time.
    searched("drawn", "timed", "pixel:", "--fgsm=0.003")
    run.refresh_from_db()
    assert run.facts["seconds"] == took


def test_the_time_of_an_attempt_that_was_cancelled_counts(order) -> None:
    run, _job = create_search(**order(name="stopped"))

    def stop(done: int, total: int, message: str = "") -> None:
        if done:
            raise JobCancelled

    with pytest.raises(JobCancelled):
        run_search(run, stop)
    first = SearchRun.objects.get(name="stopped")
    SearchRun.objects.filter(pk=first.pk).update(facts={"seconds": first.facts["seconds"] + 1000})
    again = SearchRun.objects.get(name="stopped")
    run_search(again, lambda *_args, **_more: None)
    again.refresh_from_db()
    assert first.facts["seconds"] > 0 and again.facts["seconds"] > first.facts["seconds"] + 1000
    assert again.facts["pictures_per_s"] > 0


def test_a_grey_network_is_searched_by_command(source_set) -> None:
    searched("drawn", "grey", "corruption:gaussian_blur,step=0.5", "--pictures=4", classifier=f"grey:{CLEAN}")
    run = SearchRun.objects.get(name="grey")
    target = search_settings(run).load_target()
    assert target.name.endswith("in grey") and run.scores["pooled"]["n"] == 4


def test_rows_with_and_without_a_signed_step_are_in_one_table(source_set, tmp_path: Path) -> None:
    written = tmp_path / "starts.json"
    said = searched("drawn", "starts", "pixel:", "--pictures=6", "--fgsm", "0", "0.02", f"--json={written}")
    runs = [SearchRun.objects.get(name=name) for name in ("starts", "starts-fgsm-0-02")]
    rows = json.loads(written.read_text())["starts"]
    assert [(row["search"], row["fgsm"]) for row in rows] == [("starts", 0.0), ("starts-fgsm-0-02", 0.02)]
    lines = said.splitlines()
    for run, row, begins in zip(runs, rows, ("originals", "signed step 0.02"), strict=True):
        records = records_of(run)
        apart = score(
            clean_correct=[one.clean_correct for one in records],
            valid=[one.valid for one in records],
            counterfactual_correct=[one.counterfactual_correct for one in records],
        )
        assert (row["pooled"]["sa"], row["pooled"]["vr"]) == (pytest.approx(apart.sa), pytest.approx(apart.vr))
        assert any(line.strip().startswith(begins) and f"{apart.sa:.3f}" in line for line in lines), said
    with pytest.raises(CommandError, match="name each step once"):
        searched("drawn", "twice", "pixel:", "--fgsm", "0", "0")
    with pytest.raises(CommandError, match="one --fgsm at a time"):
        told(
            "counterfactuals", "--images=drawn", f"--classifier={CLEAN}", "--generator=pixel:", "--oracle=crowd:",
            "--scripted", "--fgsm", "0", "0.02",
        )  # fmt: skip
