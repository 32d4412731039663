"""Retraining by command and as a job: what it writes, what it refuses, and that an interrupted one goes on."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.classifiers.loading import load_classifier
from analysis.errors import InvalidInput, OriginalsOverlap
from analysis.labels.files import default_labels
from analysis.retraining.training import Recipe
from analysis.tables.trials import TRIALS
from humanexp.console import classifiers
from humanexp.console.classifiers import RETRAIN
from humanexp.console.jobs import retrain as run_job
from humanexp.core.errors import Conflict, InputRefused, InvalidRequest, JobCancelled
from humanexp.core.models import AuditEvent, User
from humanexp.core.storage import media_path
from humanexp.evaluations.models import EvaluationRun, Retraining
from humanexp.evaluations.services import retraining
from humanexp.evaluations.services.retraining import Wanted, describe, train_and_compare
from humanexp.evaluations.specs import offered_specs
from humanexp.jobs import runner, services as jobs
from humanexp.jobs.models import Job
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.models import Study
from tests.analysis.classifiers import small_networks as small
from tests.evaluations.sets import picture_set
from tests.results.collected import make_study

pytestmark = pytest.mark.django_db(transaction=True)
FORM = "/classifiers/retrain/"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"export:{small.export_file(tmp_path_factory.mktemp('net') / 'small.pt2')}"


@pytest.fixture
def stimulus_set(settings, tmp_path: Path, db: None, monkeypatch: pytest.MonkeyPatch) -> StimulusSet:  # noqa: ANN001
    monkeypatch.setattr(retraining, "REFITS", 40)
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    return made("pets")


def made(name: str) -> StimulusSet:
    return picture_set(name, {"cat": 4, "dog": 4}, corruptions=["gaussian_noise", "uniform_noise"], count=16)


def people_on(stimulus_set: StimulusSet) -> Any:
    """Three people who answer every stimulus, the worse the more it has changed."""
    rng = np.random.default_rng(2)
    rows = []
    for person in range(3):
        for position, one in enumerate(stimulus_set.stimuli.select_related("source_image")):
            right = bool(rng.random() < 0.95 - 0.8 * one.visual_change)
            category = one.source_image.category
            rows.append(
                {
                    "study": "pets", "participant": f"P{person}", "session": f"S{person}", "position": position,
                    "block": 0, "task": "categorisation", "role": "clean" if one.corruption == "none" else "main",
                    "original": one.source_image.key, "stimulus": one.key, "category": category,
                    "corruption": one.corruption, "visual_change": one.visual_change,
                    "response": category if right else "oven", "correct": right, "accepted": True, "simulated": True,
                }
            )  # fmt: skip
    return TRIALS.frame(rows)


def quiet(done: int, total: int, message: str = "") -> None:
    assert 0 <= done <= total


def test_the_command_writes_a_network_that_loads_and_tells_what_it_brought(
    stimulus_set: StimulusSet, network: str, tmp_path: Path
) -> None:
    out, told, warned = tmp_path / "robust.pt2", StringIO(), StringIO()
    ada = User.objects.create_user("ada")
    call_command(
        *("retrain", "--stimuli=pets", f"--classifier={network}", f"--out={out}", "--epochs=2", "--batch=8"),
        *("--corruption=uniform_noise", "--power=200", "--overhead=1.5", "--carbon=0.1"),
        "--owner=ada",
        stdout=told,
        stderr=warned,
    )
    row = Retraining.objects.get()
    assert row.completed_at is not None and row.created_by == ada
    again = load_classifier(f"export:{out}")
    assert again.labels == default_labels().ids
    report = row.report
    assert {entry["corruption"]: entry["trained_on"] for entry in report["rows"]} == {
        "gaussian_noise": False,
        "uniform_noise": True,
    }
    held_out = report["held_out"]
    assert [one["epoch"] for one in held_out["curve"]] == list(range(len(report["losses"]) + 1))
    assert held_out["kept_epoch"] <= len(report["losses"]) <= 2
    # Training and test have four originals each; of the training's, two are held out.
    assert (report["training_originals"], held_out["originals"], report["originals"]) == (2, 2, 4)
    assert held_out["stimuli"] == report["training_stimuli"]
    energy = report["energy"]
    assert energy["kg_co2"] == pytest.approx(energy["seconds"] * 200 * 1.5 / 3.6e6 * 0.1)
    text = told.getvalue()
    assert "uniform noise, accuracy" in text
    assert "gaussian noise, accuracy (not trained on)" in text
    assert f"Clean pictures: {report['clean']['before']:.3f} right before" in text
    assert str(out) in text
    assert f"Weights of epoch {held_out['kept_epoch']} kept." in " ".join(text.split())
    few = "The network is trained on 2 originals, fewer than 320."
    assert few in warned.getvalue() and few in " ".join(text.split()) and report["warnings"][0].startswith(few)
    assert not media_path(row.folder).exists()
    # Evaluated, it is of its kind unless somebody has said another.
    asked = ("evaluate", "--stimuli=pets", f"--classifier=export:{out}")
    call_command(*asked, stdout=told)
    call_command(*asked, "--name=said", "--kind=supervised", stdout=told)
    kinds = {one.name: one.kind for one in EvaluationRun.objects.all()}
    assert kinds == {"robust": "corruptions", "said": "supervised"}


def test_with_people_there_are_indices_and_no_original_is_on_both_sides(
    stimulus_set: StimulusSet, network: str, tmp_path: Path
) -> None:
    recipe = Recipe(epochs=1, batch=8)
    row = describe(Wanted(stimulus_set=stimulus_set, spec=network, out=tmp_path / "out.pt2", recipe=recipe))
    report = train_and_compare(row, people_on(stimulus_set), quiet)
    accuracy = [entry for entry in report["rows"] if entry["property"] == "accuracy"]
    assert all(set(entry["interval"]) == {"area", "hmri", "mrsi"} for entry in accuracy)
    assert report["originals"] == 4


def test_the_command_compares_with_the_people_of_a_study(
    stimulus_set: StimulusSet, network: str, tmp_path: Path
) -> None:
    """Nobody has judged the sessions before: the command has it done, as an analysis does."""
    study = make_study(stimulus_set=stimulus_set)
    out, told = tmp_path / "robust.pt2", StringIO()
    asked = ("retrain", "--stimuli=pets", f"--classifier={network}", f"--out={out}", "--epochs=1", "--batch=8")
    call_command(*asked, f"--study={study.slug}", stdout=told)
    row = Retraining.objects.get()
    assert row.people_of == study.slug
    accuracy = [entry for entry in row.report["rows"] if entry["property"] == "accuracy"]
    assert len(accuracy) == 2 and all(0.5 < entry["human_area"] < 1 for entry in accuracy)
    for entry in accuracy:
        low, high = entry["interval"]["hmri"]
        assert low <= entry["difference"]["hmri"] <= high
    assert "HMRI" in told.getvalue() and "MRSI" in told.getvalue()
    with pytest.raises(CommandError, match="saw other stimuli"):
        call_command(*asked[:-3], f"--out={tmp_path / 'b.pt2'}", f"--study={make_study(slug='others').slug}")
    study.sessions.all().delete()
    with pytest.raises(CommandError, match="No one has finished a session"):
        call_command(*asked[:-3], f"--out={tmp_path / 'b.pt2'}", f"--study={study.slug}")


class TestConsole:
    """The form: what it offers, what it starts, what it refuses, and to whom."""

    @pytest.fixture
    def shelf(self, stimulus_set: StimulusSet) -> str:
        path = media_path("classifiers/small.pt2")
        path.parent.mkdir()
        small.export_file(path)
        return "export:small.pt2"

    @pytest.fixture
    def form(self, stimulus_set: StimulusSet, shelf: str) -> dict[str, Any]:
        recipe = {
            "epochs": 1,
            "learning_rate": 0.001,
            "momentum": 0.9,
            "batch": 8,
            "share": 0.5,
            "seed": 0,
            "held_out": 0.2,
        }
        recipe["patience"] = 2
        energy = {"overhead": 1, "kg_co2_per_kwh": 0.432, "device": "cpu"}
        return {"spec": shelf, "name": "robust", "stimulus_set": stimulus_set.pk, **recipe, **energy}

    @pytest.fixture
    def study(self, stimulus_set: StimulusSet, client: Client) -> Study:
        anna = User.objects.create_user("anna")
        client.force_login(anna)
        return make_study(by=anna, stimulus_set=stimulus_set)

    def test_a_network_is_trained_from_the_form_and_can_be_evaluated(
        self, study: Study, form: dict[str, Any], client: Client
    ) -> None:
        page = client.get(FORM).content.decode()
        assert form["spec"] in page and 'value="0.001"' in page and "gaussian noise" in page and str(study) in page
        assert FORM in client.get(reverse("evaluations:classifiers")).content.decode()
        form |= {"study": study.pk, "corruptions": ["uniform_noise"], "power_w": 50}
        started = client.post(FORM, form)
        row = Retraining.objects.get()
        assert started.url == reverse("evaluations:retraining", args=[row.pk])
        assert client.post(FORM, form).url == started.url and Retraining.objects.count() == 1
        other = client.post(FORM, form | {"epochs": 2})
        assert other.status_code == 422 and "robust.pt2 is being made by another retraining" in other.content.decode()
        waiting = client.get(started.url).content.decode()
        assert "Waits for the job runner, which is silent" in waiting and "trained on 2 originals" in waiting
        runner.run_waiting(kinds=[RETRAIN])
        row.refresh_from_db()
        assert row.completed_at is not None and row.corruptions == ["uniform_noise"] and row.power["power_w"] == 50
        shown = client.get(started.url).content.decode()
        warning = "The network is trained on 2 originals, fewer than 320."
        for words in (
            "HMRI",
            "of blur",
            "50 W",
            "g CO₂",
            "Evaluate it on stimuli",
            "On held-out originals",
            warning,
        ):
            assert words in shown
        assert offered_specs()[-2:] == ["export:robust.pt2", form["spec"]]
        taken = client.post(FORM, form)
        assert taken.status_code == 422 and "There is a network robust already" in taken.content.decode()
        act = AuditEvent.objects.get(action="retrain")
        assert (act.subject, act.study, act.by) == ("network:robust", "blur", User.objects.get(username="anna"))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"spec": "onnx:small.onnx"}, "the console takes published networks"),
            ({"spec": "python:os:getcwd"}, "for the command line alone"),
            ({"spec": "table:x.csv"}, "the console takes published networks"),
            ({"corruptions": ["frost"]}, "Select a valid choice"),
            ({"name": "../robust"}, "letters, digits, hyphens and underscores"),
            ({"epochs": 0}, "greater than or equal to 1"),
            ({"momentum": 1}, "less than or equal to 0.999"),
            ({"held_out": 0.6}, "less than or equal to 0.5"),
        ],
    )
    def test_what_cannot_be_trained_is_refused_at_its_field(
        self, study: Study, form: dict[str, Any], client: Client, change: dict[str, Any], message: str
    ) -> None:
        reply = client.post(FORM, form | change)
        assert reply.status_code == 422 and message in reply.content.decode()
        assert not Retraining.objects.exists() and not Job.objects.filter(kind=RETRAIN).exists()

    def test_sets_that_share_pictures_are_refused_by_content(
        self, study: Study, form: dict[str, Any], client: Client
    ) -> None:
        reply = client.post(FORM, form | {"evaluation_set": made("again").pk})
        assert reply.status_code == 422
        assert "8 originals of evaluation are originals of training too" in reply.content.decode()
        assert not Retraining.objects.exists()
        (media_path("classifiers") / "small.onnx").write_bytes(b"")
        reply = client.post(FORM, form | {"spec": f"onnx:{media_path('classifiers')}/small.onnx"})
        assert "gives no gradients" in reply.content.decode()

    def test_nobody_stops_what_another_person_started_or_sees_their_people(
        self, study: Study, form: dict[str, Any], client: Client
    ) -> None:
        client.post(FORM, form | {"study": study.pk})
        row, job = Retraining.objects.get(), Job.objects.get(kind=RETRAIN)
        page = reverse("evaluations:retraining", args=[row.pk])
        viewer, stranger = User.objects.create_user("vera"), User.objects.create_user("stan")
        study.memberships.create(user=viewer, role="viewer")
        for user, seen in ((viewer, 200), (stranger, 404)):
            client.force_login(user)
            assert client.post(f"/jobs/{job.pk}/cancel/").status_code == 403
            assert client.get(page).status_code == seen
        own = make_study(by=stranger, slug="own")
        assert client.get(FORM).status_code == 200
        reply = client.post(FORM, form | {"name": "mine", "study": study.pk})
        assert reply.status_code == 422 and "Select a valid choice" in reply.content.decode()
        reply = client.post(FORM, form | {"name": "mine", "study": own.pk})
        assert reply.status_code == 422 and "saw other stimuli" in reply.content.decode()
        client.logout()
        assert client.get(FORM).status_code == 302


def test_a_cancelled_training_goes_on_after_its_last_epoch(
    stimulus_set: StimulusSet, network: str, tmp_path: Path
) -> None:
    def once(out: str, stop_at: int | None) -> tuple[Retraining, list[int]]:
        row, job = classifiers.retrain(
            stimulus_set=stimulus_set, spec=network, out=tmp_path / out, recipe=Recipe(epochs=3, batch=8)
        )
        if stop_at is not None:

            def stop(done: int, total: int, message: str = "") -> None:
                if done == stop_at:
                    raise JobCancelled

            with pytest.raises(JobCancelled):
                run_job(stop, **job.parameters)
        seen: list[int] = []
        run_job(lambda done, total, message="": seen.append(done), **job.parameters)
        row.refresh_from_db()
        return row, seen

    whole, _ = once("whole.pt2", None)
    resumed, seen = once("resumed.pt2", 5)
    assert seen[0] > 1
    assert resumed.classifier_digest == whole.classifier_digest
    assert (tmp_path / "resumed.pt2").is_file()


def test_one_that_was_stopped_does_not_replace_what_took_its_name(
    stimulus_set: StimulusSet, network: str, tmp_path: Path
) -> None:
    def asked(epochs: int) -> Job:
        recipe = Recipe(epochs=epochs, batch=8)
        return classifiers.retrain(stimulus_set=stimulus_set, spec=network, out=tmp_path / "n.pt2", recipe=recipe)[1]

    stopped = jobs.cancel(job=asked(2))
    run_job(quiet, **asked(1).parameters)
    written = (tmp_path / "n.pt2").read_bytes()
    with pytest.raises(Conflict, match="was made by another retraining"):
        run_job(quiet, **stopped.parameters)
    assert (tmp_path / "n.pt2").read_bytes() == written


def test_another_set_of_the_same_pictures_is_no_test(stimulus_set: StimulusSet, network: str, tmp_path: Path) -> None:
    same = made("again")
    with pytest.raises(OriginalsOverlap, match="8 originals of evaluation are originals of training too"):
        classifiers.retrain(
            stimulus_set=stimulus_set, evaluation_set=same, spec=network, out=tmp_path / "o.pt2", recipe=Recipe()
        )
    assert not Retraining.objects.exists()
    assert not Job.objects.filter(kind=RETRAIN).exists()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"out": "net.onnx"}, InputRefused, r"name a \.pt2 file"),
        ({"out": "nowhere/net.pt2"}, InputRefused, "there is no folder"),
        ({"corruptions": ["frost"]}, InvalidRequest, "no stimuli of frost; there are: gaussian_noise"),
        ({"spec": "resnet50"}, InvalidRequest, "names no classifier"),
        ({"share": 1.0}, InvalidInput, "between 0 and 1"),
    ],
)
def test_what_cannot_end_well_is_refused_before_anything_is_trained(
    stimulus_set: StimulusSet,
    network: str,
    tmp_path: Path,
    change: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    asked = {"spec": network, "out": "net.pt2", "recipe": Recipe(), **change}
    with pytest.raises(error, match=message):
        classifiers.retrain(stimulus_set=stimulus_set, **(asked | {"out": tmp_path / str(asked["out"])}))
    assert not Retraining.objects.exists()


def test_a_network_without_gradients_fails_with_a_sentence(stimulus_set: StimulusSet, tmp_path: Path) -> None:
    spec = f"onnx:{small.onnx_file(tmp_path / 'net.onnx')}"
    with pytest.raises(CommandError, match="gives no gradients"):
        call_command("retrain", "--stimuli=pets", f"--classifier={spec}", f"--out={tmp_path / 'out.pt2'}")
    assert not (tmp_path / "out.pt2").exists()


def test_a_retraining_that_was_queued_before_originals_were_held_out_holds_out_none(
    stimulus_set: StimulusSet, network: str, tmp_path: Path
) -> None:
    row, job = classifiers.retrain(
        stimulus_set=stimulus_set, spec=network, out=tmp_path / "old.pt2", recipe=Recipe(epochs=1, batch=8)
    )
    former = {name: value for name, value in row.recipe.items() if name not in ("held_out", "patience")}
    Retraining.objects.filter(pk=row.pk).update(recipe=former)
    run_job(quiet, **{name: value for name, value in job.parameters.items() if name != "allow_code"})
    report = Retraining.objects.get(pk=row.pk).report
    assert report["training_originals"] == 4 and report["held_out"]["curve"] == []
    assert any("nothing stops" in warning for warning in report["warnings"])


def test_the_command_trains_a_researchers_own_network(
    stimulus_set: StimulusSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "from analysis.labels.files import default_labels\n"
        "from analysis.classifiers.networks import TorchNetwork\n"
        "from analysis.classifiers.preprocessing import Preprocessing\n"
        "from tests.analysis.classifiers.small_networks import small_module\n"
        "def make(device):\n"
        "    inputs = Preprocessing(32, (0.5,) * 3, (0.25,) * 3)\n"
        "    return TorchNetwork('lab', default_labels().ids, '1' * 64, inputs, small_module())\n"
    )
    (tmp_path / "retrained_lab.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    out = tmp_path / "own.pt2"
    call_command("retrain", "--stimuli=pets", "--classifier=python:retrained_lab:make", f"--out={out}", "--epochs=1")
    assert load_classifier(f"export:{out}").labels == default_labels().ids
