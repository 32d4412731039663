"""What stands outside every study, attacked over HTTP by an account that no owner gave a role."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from humanexp.core.models import User
from humanexp.evaluations.models import EvaluationRun
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli.models import SourceSet, StimulusSet
from tests.factories import configuration, draft_study, make_stimulus_set

pytestmark = pytest.mark.django_db


@pytest.fixture
def stimulus_set() -> StimulusSet:
    """Another team's pictures and stimuli, in a study of theirs, with a network's predictions."""
    found = make_stimulus_set()
    team = User.objects.create_user("team")
    SourceSet.objects.filter(pk=found.source_set_id).update(created_by=team, frozen_at=None)
    StimulusSet.objects.filter(pk=found.pk).update(created_by=team)
    draft_study(by=team)
    EvaluationRun.objects.create(stimulus_set=found, name="net", spec="table:x", created_by=team)
    found.refresh_from_db()
    return found


@pytest.fixture(params=["without a study", "with a study of their own on the set", "who invited the team to it"])
def stranger(request: pytest.FixtureRequest, client: Client, stimulus_set: StimulusSet) -> Client:
    """Anybody may make a study on any stimuli, and may invite anybody to it: neither says what the team wants."""
    client.force_login(User.objects.create_user("stranger"))
    if request.param != "without a study":
        text = configuration(title="Mine", slug="mine", family="mine").to_toml()
        assert client.post("/studies/new/", {"text": text})["Location"] == "/studies/mine/design/"
    if request.param == "who invited the team to it":
        sent = {"username": "team", "role": "owner"}
        assert client.post("/studies/mine/members/", sent).status_code == 302
    return client


@pytest.mark.promise(3)
@pytest.mark.parametrize("name", ["net", "another"])
def test_no_predictions_are_replaced_or_added(stranger: Client, stimulus_set: StimulusSet, name: str) -> None:
    keys = stimulus_set.stimuli.values_list("key", flat=True)
    table = "\n".join(["stimulus,response", *(f"{key},cat" for key in keys)])
    file = SimpleUploadedFile("predictions.csv", table.encode())
    page = stranger.post(
        "/classifiers/upload/", {"stimulus_set": stimulus_set.pk, "name": name, "table": file}
    ).content.decode()
    waiting = page.partition('name="waiting" value="')[2].partition('"')[0]
    reply = stranger.post(
        "/classifiers/upload/take/", {"stimulus_set": stimulus_set.pk, "name": name, "waiting": waiting}
    )
    assert reply.status_code == 403 and "belongs to team" in reply.content.decode()
    assert not Job.objects.filter(kind="evaluations.evaluate").exists()
    assert [run.name for run in EvaluationRun.objects.all()] == ["net"]


def test_no_evaluation_is_started(stranger: Client, stimulus_set: StimulusSet) -> None:
    reply = stranger.post(
        "/classifiers/new/",
        {
            "stimulus_set": stimulus_set.pk,
            "spec": "hf:microsoft/resnet-50",
            "name": "net",
            "rule": "mean",
            "device": "cpu",
        },
    )
    assert reply.status_code == 422 and "belongs to team" in reply.content.decode()
    assert not Job.objects.exists()


@pytest.mark.parametrize("act", ["freeze", "delete", "notes", "gold"])
def test_no_set_of_pictures_is_changed(stranger: Client, stimulus_set: StimulusSet, act: str) -> None:
    source_set = stimulus_set.source_set
    before = SourceSet.objects.filter(pk=source_set.pk).values().get()
    sent = {"confirm": source_set.name, "licence": "mine", "classifiers": "export:fixtures/classifiers/clean.pt2"}
    assert stranger.post(f"/stimuli/sources/{source_set.name}/{act}/", sent).status_code == 403
    assert SourceSet.objects.filter(pk=source_set.pk).values().get() == before
    assert not Job.objects.exists()


def test_no_stimuli_are_made_from_it_or_deleted(stranger: Client, stimulus_set: StimulusSet) -> None:
    """Making stimuli freezes their pictures for good."""
    reply = stranger.post(
        "/stimuli/new/",
        {
            "source_set": stimulus_set.source_set_id, "name": "mine", "sampling": "even", "framing": "whole",
            "corruptions": ["gaussian_noise"], "count": 10, "size_px": 112, "seed": 0, "enlarge": "on",
        },
    )  # fmt: skip
    assert reply.status_code == 403 and "belongs to team" in reply.content.decode()
    assert StimulusSet.objects.count() == 1 and not SourceSet.objects.get().is_frozen
    for act in ("delete", "generate"):
        sent = {"confirm": stimulus_set.name}
        assert stranger.post(f"/stimuli/sets/{stimulus_set.name}/{act}/", sent).status_code == 403
    assert not Job.objects.exists()


@pytest.mark.parametrize("name", ["net", "another"])
def test_what_nobody_owns_is_no_strangers_either(stranger: Client, stimulus_set: StimulusSet, name: str) -> None:
    """Rows made by a command that named no owner: a study of one's own gives no right to them."""
    StimulusSet.objects.update(created_by=None)
    SourceSet.objects.update(created_by=None)
    EvaluationRun.objects.update(created_by=None)
    spec = "export:fixtures/classifiers/clean.pt2"
    sent = {"stimulus_set": stimulus_set.pk, "spec": spec, "name": name, "rule": "mean", "device": "cpu"}
    assert "belongs to this installation" in stranger.post("/classifiers/new/", sent).content.decode()
    run = EvaluationRun.objects.get()
    for address, confirm in (
        (f"/classifiers/{run.pk}/delete/", "net"),
        (f"/stimuli/sets/{stimulus_set.name}/delete/", stimulus_set.name),
        (f"/stimuli/sources/{stimulus_set.source_set.name}/freeze/", stimulus_set.source_set.name),
    ):
        reply = stranger.post(address, {"confirm": confirm})
        assert reply.status_code == 403 and "belongs to this installation" in reply.content.decode(), address
    assert EvaluationRun.objects.get() == run and not SourceSet.objects.get().is_frozen
    assert not Job.objects.exists()


def test_no_payments_are_stopped(stranger: Client) -> None:
    """Jobs that talk with a recruiter pay people of every study: a study of one's own gives no say in them."""
    job = jobs.submit("recruitment.send", subject="recruiter:production", environment="production")
    assert stranger.post(f"/jobs/{job.pk}/cancel/").status_code == 403
    job.refresh_from_db()
    assert job.state == JobState.QUEUED and not job.cancel_requested
