"""Models through the console: recognised by content, tried out apart, on the shelf by a name; pickles never."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from analysis.classifiers import quarantine
from analysis.errors import ClassifierUnavailable
from analysis.labels.files import default_labels
from humanexp.core.models import AuditEvent, User
from humanexp.core.storage import media_path
from humanexp.evaluations import specs
from humanexp.evaluations.models import EvaluationRun, UploadedModel
from humanexp.evaluations.services import evaluations, uploads
from humanexp.jobs import runner
from humanexp.stimuli.models import StimulusSet
from tests.analysis.classifiers import small_networks as small
from tests.evaluations.sets import picture_set

pytestmark = pytest.mark.django_db(transaction=True)
PAGE, LIST = "evaluations:upload_model", "evaluations:classifiers"
FORM: dict[str, Any] = {
    "name": "mine", "architecture": "", "outputs": "logits", "labels": "categories", "input_px": 32,
    "mean": "0.5, 0.5, 0.5", "std": "0.25, 0.25, 0.25",
}  # fmt: skip


@pytest.fixture
def stimulus_set(settings, tmp_path: Path, db: None) -> StimulusSet:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"
    return picture_set(originals={"cat": 2, "dog": 2}, count=4)


@pytest.fixture
def lab(client: Client, stimulus_set: StimulusSet) -> Iterator[Client]:
    client.force_login(User.objects.create_user("lab", is_staff=True))
    yield client


def sent(lab: Client, content: bytes, file: str = "net.bin", **changes: Any) -> Any:
    return lab.post(reverse(PAGE), {**FORM, **changes, "model": SimpleUploadedFile(file, content)})


def checked() -> UploadedModel:
    runner.run_waiting(kinds=[uploads.CHECK_KIND])
    return UploadedModel.objects.latest("pk")


def leftovers() -> list[str]:
    waiting = media_path("evaluations/models")
    return [path.name for path in waiting.iterdir()] if waiting.is_dir() else []


def weights(n_labels: int = 16) -> bytes:
    from analysis.classifiers.weights import import_torchvision

    import_torchvision()
    import timm
    from safetensors.torch import save

    return bytes(save(timm.create_model("test_vit", num_classes=n_labels).state_dict()))


@pytest.mark.process
@pytest.mark.parametrize("kind", ["export", "onnx", "safetensors"])
def test_a_model_is_checked_and_then_stands_on_the_shelf_by_its_name(
    kind: str, lab: Client, stimulus_set: StimulusSet, tmp_path: Path
) -> None:
    content, changes, expected = {
        "export": lambda: (small.export_file(tmp_path / "a.pt2").read_bytes(), {}, "export:mine.pt2"),
        "onnx": lambda: (small.onnx_file(tmp_path / "a.onnx").read_bytes(), {}, "onnx:mine.onnx"),
        "safetensors": lambda: (
            weights(), {"architecture": "timm:test_vit", "input_px": 160}, "timm:test_vit@mine.safetensors"
        ),
    }[kind]()  # fmt: skip
    assert sent(lab, content, "whatever.pt", **changes).url == reverse(LIST)
    assert specs.shelf_specs() == [spec for spec in specs.shelf_specs() if "mine" not in spec], "not before its check"
    assert "mine" in lab.get(reverse(LIST)).content.decode()
    row = checked()
    assert (row.refusal, row.shown_spec, row.created_by.username) == ("", expected, "lab")  # type: ignore[union-attr]
    assert leftovers() == [] and expected in specs.offered_specs()
    assert AuditEvent.objects.filter(action="upload-model", subject="model:mine").count() == 1
    page = lab.get(reverse(LIST)).content.decode()
    assert expected in page and str(media_path("")) not in page, "names, and no path of the server"
    asked = {"spec": expected, "stimulus_set": stimulus_set.pk, "name": "", "rule": "mean", "device": "cpu"}
    answer = lab.post(reverse("evaluations:new"), asked)
    assert answer.status_code == 302, answer.content.decode()
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    run = EvaluationRun.objects.get()
    assert run.completed_at and run.count == 8
    page = lab.get(reverse("evaluations:run", args=[run.pk])).content.decode()
    assert expected in page and str(media_path("")) not in page


class Sneaky:
    def __init__(self, target: str) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return (os.mkdir, (self.target,))


def pickled(kind: str, target: str) -> bytes:
    stream = io.BytesIO()
    if kind == "torch.save":
        torch.save(Sneaky(target), stream)
    elif kind == "old torch.save":
        torch.save(Sneaky(target), stream, _use_new_zipfile_serialization=False)
    else:
        stream.write(pickle.dumps(Sneaky(target)))
    return stream.getvalue()


@pytest.mark.parametrize("suffix", [".pt2", ".onnx", ".safetensors"])
@pytest.mark.parametrize("kind", ["torch.save", "old torch.save", "pickle"])
def test_a_pickle_is_refused_by_its_content_whatever_its_name(
    kind: str, suffix: str, lab: Client, tmp_path: Path
) -> None:
    answer = sent(lab, pickled(kind, str(tmp_path / "written")), f"net{suffix}")
    assert answer.status_code == 422 and "pickles are never taken" in answer.content.decode()
    assert not UploadedModel.objects.exists() and leftovers() == [] and not (tmp_path / "written").exists()


@pytest.mark.process
def test_a_pickle_inside_a_program_is_refused_by_the_check_and_not_run(lab: Client, tmp_path: Path) -> None:
    plain = small.export_file(tmp_path / "plain.pt2")
    stream = io.BytesIO()
    with zipfile.ZipFile(plain) as before, zipfile.ZipFile(stream, "w") as after:
        for name in before.namelist():
            after.writestr(name, before.read(name))
        after.writestr("plain/data/constants/opaque_obj_0", pickle.dumps(Sneaky(str(tmp_path / "written"))))
    assert sent(lab, stream.getvalue()).status_code == 302
    row = checked()
    assert "holds a pickled object" in row.refusal and str(tmp_path) not in row.refusal
    assert not (tmp_path / "written").exists() and leftovers() == []
    assert row.refusal.split(":")[0] in lab.get(reverse(LIST)).content.decode()


@pytest.mark.parametrize(
    ("content", "changes", "message"),
    [
        (b"no network at all", {}, "neither a torch.export program"),
        (b"PK\x03\x04 damaged", {}, "damaged archive"),
        (b"", {}, "empty"),
        (b"\x08\x09onnx", {"name": "a/b"}, "is no name of a model"),
        (b"\x08\x09onnx", {"name": "../up"}, "is no name of a model"),
        (b"\x08\x09onnx", {"architecture": "timm:resnet50"}, "whole program, so it needs no architecture"),
        ((2).to_bytes(8, "little") + b"{}", {}, "name the network that they belong to"),
        ((2).to_bytes(8, "little") + b"{}", {"architecture": "python:os:system"}, "names no network of a library"),
        (b"\x08\x09onnx", {"std": "1, 0, 1"}, "must be above 0"),
        (b"\x08\x09onnx", {"mean": "1, nan, 1"}, "three numbers"),
        (b"\x08\x09onnx", {"labels": "own"}, "need a mapping file"),
    ],
)
def test_what_can_be_told_at_once_is_told_in_the_form(
    content: bytes, changes: dict[str, Any], message: str, lab: Client
) -> None:
    answer = sent(lab, content, **changes)
    assert answer.status_code == 422 and message in answer.content.decode()
    assert not UploadedModel.objects.exists() and leftovers() == []


@pytest.mark.process
def test_a_model_that_does_not_answer_as_described_is_refused_and_its_name_is_free_again(
    lab: Client, tmp_path: Path
) -> None:
    content = small.export_file(tmp_path / "a.pt2").read_bytes()
    sent(lab, content, labels="imagenet")
    row = checked()
    assert "names 1000 labels" in row.refusal and not row.spec
    sent(lab, content)
    assert checked().spec
    answer = sent(lab, content)
    assert answer.status_code == 422 and "stands on the shelf already" in answer.content.decode()


def test_a_file_that_is_too_large_is_refused(lab: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_MODEL_MB", 0.00001)
    answer = sent(lab, b"\x08" * 100)
    assert answer.status_code == 422 and "larger than" in answer.content.decode() and leftovers() == []


@pytest.mark.process
def test_own_labels_come_with_a_mapping_file(lab: Client, tmp_path: Path) -> None:
    mapping = SimpleUploadedFile("labels.csv", small.mapping_file(tmp_path).read_bytes())
    sent(lab, small.onnx_file(tmp_path / "a.onnx").read_bytes(), labels="own", mapping=mapping)
    assert checked().spec
    assert json.loads(media_path("classifiers/mine.json").read_bytes())["labels"] == list(default_labels().ids)


@pytest.mark.process
def test_the_trial_ends_a_network_that_takes_too_long_or_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small.export_file(tmp_path / "a.pt2")
    with pytest.raises(ClassifierUnavailable, match="still loading after 0.1 s"):
        quarantine.try_out(f"export:{path}", 32, most_s=0.1)
    with pytest.raises(ClassifierUnavailable, match="ended the process that tried it out"):
        quarantine.try_out(f"export:{path}", -1)  # no picture has such a side
    monkeypatch.setenv("SECRET_KEY", "not to be seen")
    assert quarantine.try_out(f"export:{path}", 32).labels == 16


@pytest.mark.process
def test_the_trial_is_apart_from_the_servers_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network of python: would print the environment; the trial takes none, and this process's is not handed on."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "lab.py").write_text("def make(device): raise SystemExit('ran')\n")
    with pytest.raises(ClassifierUnavailable, match="runs code and is not allowed here"):
        quarantine.try_out("python:lab:make", 32)
