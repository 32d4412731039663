"""Networks on pictures of other labels than the 16: decisions, uploads, golds, and what is refused."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from PIL import Image

from analysis.claims.claim import is_guessing
from analysis.errors import TableRefused
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from analysis.labels.space import OUTSIDE, Label, LabelSpace
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations import selectors
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.pages import EvaluateForm, ModelForm
from humanexp.evaluations.services import uploads
from humanexp.evaluations.services.evaluations import How, evaluate
from humanexp.evaluations.services.prediction import rate_originals
from humanexp.jobs import runner
from humanexp.stimuli.models import StimulusSet
from tests.evaluations.sets import picture_set

THOUSAND = "python:tests.evaluations.rule_classifier:make_thousand"
SIXTEEN = "python:tests.evaluations.rule_classifier:make"
WNIDS = class_ids()
#: Of a network that names class n of ImageNet at brightness n, what stands for a label; 101 to 150 stand for none.
SHADES = LabelSpace(
    name="shades",
    labels=(
        Label(id="dark", classes=(f"{WNIDS[0]}..{WNIDS[100]}",)),
        Label(id="light", classes=(f"{WNIDS[151]}..{WNIDS[255]}",)),
    ),
)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shades(settings, tmp_path: Path, db: None) -> StimulusSet:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    return picture_set("shades", {"dark": 12, "light": 12}, space=SHADES, size_px=112)


def evaluated(stimulus_set: StimulusSet, spec: str = THOUSAND, name: str = "network", **how: str) -> EvaluationRun:
    run, job = evaluate(stimulus_set=stimulus_set, spec=spec, name=name, how=How(**how))  # type: ignore[arg-type]
    runner.run_waiting()
    job.refresh_from_db()
    assert job.state == "done", job.error
    run.refresh_from_db()
    return run


def levels(stimulus_set: StimulusSet) -> dict[str, int]:
    return {
        one.key: int(np.asarray(Image.open(media_path(one.file)).convert("RGB")).mean())
        for one in stimulus_set.stimuli.all()
    }


@pytest.mark.parametrize("decide", ["among", "open"])
def test_a_network_is_decided_among_the_labels_of_the_set(shades: StimulusSet, decide: str) -> None:
    run = evaluated(shades, decide=decide)
    table = selectors.read_predictions(run).set_index("stimulus")
    between = "dark" if decide == "among" else OUTSIDE
    for key, level in levels(shades).items():
        expected = "dark" if level <= 100 else "light" if level >= 151 else between
        assert table.loc[key, "response"] == expected
        assert table.loc[key, "correct"] == (expected == table.loc[key, "category"])
    assert (table["response"] == OUTSIDE).any() == (decide == "open")
    assert set(table["label_space"]) == {2}
    assert (run.label_space, run.decide, run.labels_identity) == (2, decide, SHADES.identity)


def test_the_two_decisions_share_no_files(shades: StimulusSet) -> None:
    among = selectors.read_predictions(evaluated(shades))
    opened = evaluated(shades, decide="open")
    assert (selectors.read_predictions(opened)["response"] != among["response"]).any()
    again = evaluated(shades)
    pd.testing.assert_frame_equal(selectors.read_predictions(again), among)


def test_the_sixteen_keep_rows_and_names_of_their_files(settings, tmp_path: Path) -> None:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path
    run = evaluated(picture_set(), SIXTEEN)
    assert run.labels_identity == default_labels().identity
    assert (run.label_space, run.decide, Path(run.predictions_file).name) == (16, "among", "predictions-mean.parquet")


def test_a_network_without_an_output_for_a_label_is_refused(shades: StimulusSet) -> None:
    _run, job = evaluate(stimulus_set=shades, spec=SIXTEEN, name="sixteen")
    runner.run_waiting()
    job.refresh_from_db()
    assert job.state == "failed"
    assert "No output stands for dark, light" in job.error and "2 labels of shades" in job.error


def test_own_labels_are_refused_with_the_space_named_and_not_decided_openly(shades: StimulusSet) -> None:
    with pytest.raises(InvalidRequest, match="decide among the 2 labels of shades"):
        evaluate(stimulus_set=shades, spec=THOUSAND, how=How(own_labels=True))
    with pytest.raises(InvalidRequest, match="choose its own labels, or the open decision"):
        evaluate(stimulus_set=shades, spec=THOUSAND, how=How(own_labels=True, decide="open"))


def test_an_answer_among_the_accepted_labels_is_right(shades: StimulusSet) -> None:
    before = selectors.read_predictions(evaluated(shades)).set_index("stimulus")
    wrong = before.index[(before["corruption"] == "none") & ~before["correct"]][0]
    image = shades.stimuli.get(key=wrong).source_image
    image.accepted = ["dark", "light"]
    image.save()
    run = evaluated(shades)
    after = selectors.read_predictions(run).set_index("stimulus")
    of_it = after["original"] == image.key
    assert after.loc[of_it, "correct"].all() and (after.loc[~of_it, "correct"] == before.loc[~of_it, "correct"]).all()
    assert (after["response"] == before["response"]).all()
    assert run.accuracy_clean == pytest.approx(before.query("corruption == 'none'")["correct"].mean() + 1 / 24)


def pairs(edges: list[float]) -> tuple[list[float], list[float]]:
    return edges[:-1], edges[1:]


def test_the_command_takes_the_decision_and_counts_over_visual_change(shades: StimulusSet, tmp_path: Path) -> None:
    out = StringIO()
    asked = ("evaluate", "--stimuli", "shades", "--classifier", THOUSAND, "--decide", "open")
    call_command(*asked, "--json", str(tmp_path / "shares.json"), stdout=out)
    run = shades.evaluations.get()
    assert run.decide == "open" and f"{run.count} predictions" in out.getvalue()
    rows = selectors.read_predictions(run).query("corruption == 'gaussian_noise'")
    written = json.loads((tmp_path / "shares.json").read_text())
    (counted,) = written["shares"]
    assert counted["network"] == run.name and sum(counted["n"]) == len(rows) == 10
    for low, high, n, right in zip(*pairs(written["edges"]), counted["n"], counted["n_right"], strict=True):
        own = rows[(rows["visual_change"] >= low) & (rows["visual_change"] < high)]
        assert (n, right) == (len(own), own["correct"].sum())
    first = f"{counted['n_right'][0] / counted['n'][0]:.2f}"
    assert f"gaussian_noise  {run.name}  {first} " in out.getvalue()
    assert f"all {rows['correct'].mean():.3f}" in out.getvalue()
    with pytest.raises(CommandError, match="is no folder"):
        call_command("evaluate", "--stimuli", "shades", "--classifier", THOUSAND, "--json", str(tmp_path / "no" / "x"))
    with pytest.raises(CommandError, match="decide"):
        call_command("evaluate", "--stimuli", "shades", "--classifier", THOUSAND, "--decide", "all")


def test_the_form_takes_the_decision(shades: StimulusSet, client: Client) -> None:
    given = {"spec": "lite:0", "stimulus_set": shades.pk, "rule": "sum", "device": "cpu"}
    form = EvaluateForm({**given, "decide": "open"})
    assert form.is_valid(), form.errors
    assert (form.asked["how"].rule, form.asked["how"].decide) == ("sum", "open")
    usual = EvaluateForm(given)
    assert usual.is_valid() and usual.asked["how"].decide == "among"
    run = evaluated(shades, decide="open")
    client.force_login(User.objects.create_user("ada", password="x"))
    page = client.get(reverse("evaluations:run", args=[run.pk])).content.decode()
    assert "2 labels, by the mean" in page and "compete as well" in page and SHADES.identity in page


class TestTables:
    def table(self, tmp_path: Path, shades: StimulusSet, response: str, **more: str) -> Path:
        keys = shades.stimuli.values_list("key", flat=True)
        frame = pd.DataFrame({"stimulus": list(keys), "response": response, **more})
        frame.to_csv(tmp_path / "mine.csv", index=False)
        return tmp_path / "mine.csv"

    def examined(self, shades: StimulusSet, path: Path) -> tuple[uploads.TableReport, str]:
        return uploads.examine(stimulus_set=shades, table=SimpleUploadedFile("mine.csv", path.read_bytes()))

    def test_answers_are_labels_of_the_set(self, shades: StimulusSet, tmp_path: Path) -> None:
        report, waiting = self.examined(shades, self.table(tmp_path, shades, "dark"))
        assert report.is_usable and report.counts == {"dark": shades.stimuli.count(), "light": 0}
        run, _job = uploads.take(stimulus_set=shades, waiting=waiting, name="mine", by=None)
        runner.run_waiting()
        run.refresh_from_db()
        assert (run.label_space, run.labels_identity) == (2, SHADES.identity)
        assert set(selectors.read_predictions(run)["response"]) == {"dark"}

    def test_answers_of_other_labels_are_refused_with_the_space_named(
        self, shades: StimulusSet, tmp_path: Path
    ) -> None:
        path = self.table(tmp_path, shades, "cat")
        report, waiting = self.examined(shades, path)
        assert not waiting
        assert report.problems[0].what == (
            "'cat' is none of the 2 labels of shades: write one of dark, light; or outside for an answer that is no "
            "label, na for none."
        )
        _run, job = evaluate(stimulus_set=shades, spec=f"table:{path}", name="mine")
        runner.run_waiting()
        job.refresh_from_db()
        assert job.state == "failed" and "2 labels of shades" in job.error

    def test_answers_of_an_open_decision_come_back_as_they_were(self, shades: StimulusSet, tmp_path: Path) -> None:
        network = selectors.read_predictions(evaluated(shades, decide="open"))
        network[["stimulus", "response", "confidence"]].to_csv(tmp_path / "open.csv", index=False)
        report, waiting = self.examined(shades, tmp_path / "open.csv")
        n_outside = (network["response"] == OUTSIDE).sum()
        assert n_outside and report.is_usable and report.counts[OUTSIDE] == n_outside and "na" not in report.counts
        run, _job = uploads.take(stimulus_set=shades, waiting=waiting, name="mine", by=None)
        runner.run_waiting()
        run.refresh_from_db()
        mine = selectors.read_predictions(run)
        assert mine["response"].tolist() == network["response"].tolist()
        assert not mine.loc[mine["response"] == OUTSIDE, "correct"].any()

    def test_predictions_of_another_identity_are_refused(self, shades: StimulusSet, tmp_path: Path) -> None:
        own = self.table(tmp_path, shades, "dark", labels_identity=SHADES.identity)
        assert self.examined(shades, own)[0].is_usable
        grouped = LabelSpace(
            name="shades", labels=SHADES.labels, partitions={"kind": {"one": ("dark",), "other": ("light",)}}
        )
        other = self.table(tmp_path, shades, "dark", labels_identity=grouped.identity)
        report, waiting = self.examined(shades, other)
        assert not waiting and report.n_problems == 1
        assert grouped.identity[:8] in report.problems[0].what and "among shades" in report.problems[0].what

    def test_a_model_may_be_named_by_the_labels_of_a_space(self, shades: StimulusSet, tmp_path: Path) -> None:
        given = {
            "name": "mine", "architecture": "", "outputs": "logits", "labels": "categories", "space": "shades",
            "input_px": 32, "mean": "0,0,0", "std": "1,1,1",
        }  # fmt: skip
        form = ModelForm(given, {"model": SimpleUploadedFile("mine.pt2", b"x")})
        assert form.is_valid(), form.errors
        assert form.asked["description"]["labels"] == ["dark", "light"]
        mapping = SimpleUploadedFile("labels.csv", b"label,category\nblack,dark\nwhite,light\n")
        files = {"model": SimpleUploadedFile("mine.pt2", b"x"), "mapping": mapping}
        own = ModelForm({**given, "labels": "own"}, files)
        assert own.is_valid() and own.asked["description"]["labels"] == ["dark", "light"]
        with pytest.raises(TableRefused, match="none of|not one of"):
            uploads.uploaded_labels(SimpleUploadedFile("labels.csv", b"label,category\nblack,dark\nwhite,light\n"))


def test_runs_among_labels_that_mean_something_else_meet_no_pictures(shades: StimulusSet) -> None:
    run = evaluated(shades)
    EvaluationRun.objects.filter(pk=run.pk).update(labels_identity=default_labels().identity)
    with pytest.raises(Conflict, match="network answered among other labels .* evaluate it again"):
        selectors.predictions_for(shades)
    EvaluationRun.objects.filter(pk=run.pk).update(labels_identity="")
    assert len(selectors.predictions_for(shades)) == run.count


def test_guessing_is_judged_by_the_number_of_labels_of_the_set(shades: StimulusSet) -> None:
    run = evaluated(shades)
    # Of 24 clean pictures 12 right: what a guesser among two labels has, and hardly one among 16.
    EvaluationRun.objects.filter(pk=run.pk).update(accuracy_clean=0.5)
    run.refresh_from_db()
    assert is_guessing(12, 24, 1 / 2) and not is_guessing(12, 24, 1 / 16)
    assert run.pk in selectors.guessing([run])


def with_two_levels(stimulus_set: StimulusSet) -> None:
    """Pictures of one level cannot be shown: a corner gets another one."""
    for one in stimulus_set.source_set.images.all():
        pixels = np.array(Image.open(media_path(one.file)).convert("RGB"))
        pixels[0, 0] = pixels[0, 0] + (1 if pixels[0, 0, 0] < 255 else -1)
        Image.fromarray(pixels).save(media_path(one.file))


def test_golds_are_rated_among_the_labels_of_the_set(shades: StimulusSet) -> None:
    with_two_levels(shades)
    source_set = shades.source_set
    report = rate_originals(source_set, [THOUSAND], lambda *told: None, allow_code=True, device="cpu")
    brightness = {
        one.key: int(np.asarray(Image.open(media_path(one.file)).convert("RGB")).mean())
        for one in source_set.images.all()
    }
    right = {
        one.key: one.category == ("light" if brightness[one.key] >= 151 else "dark") for one in source_set.images.all()
    }
    assert {one.key: one.is_agreed for one in source_set.images.all()} == right
    assert set(report.n_agreed_by_category) == {"dark", "light"}
    out = StringIO()
    call_command("select_gold", "--images", "shades", "--classifier", THOUSAND, stdout=out, stderr=StringIO())
    told = ", ".join(f"{name} {report.n_agreed_by_category[name]}" for name in ("dark", "light"))
    assert f"named right by all ({told})" in out.getvalue()


def test_golds_may_be_named_by_any_accepted_label(shades: StimulusSet) -> None:
    with_two_levels(shades)
    asked = {"allow_code": True, "device": "cpu"}
    before = rate_originals(shades.source_set, [THOUSAND], lambda *_: None, **asked).n_agreed
    wrong = next(one for one in shades.source_set.images.all() if not one.is_agreed)
    wrong.accepted = ["dark", "light"]
    wrong.save()
    assert rate_originals(shades.source_set, [THOUSAND], lambda *_: None, **asked).n_agreed == before + 1


def test_golds_are_refused_where_a_network_lacks_a_label(shades: StimulusSet) -> None:
    with_two_levels(shades)
    with pytest.raises(CommandError, match="2 labels of shades"):
        call_command("select_gold", "--images", "shades", "--classifier", SIXTEEN, stderr=StringIO())
