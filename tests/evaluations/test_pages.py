"""The console's pages of classifiers: what is there, evaluating, uploading, deleting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations.models import EvaluationRun, Retraining
from humanexp.evaluations.services import evaluations, uploads
from humanexp.evaluations.services.evaluations import evaluate
from humanexp.evaluations.shares import shares_of
from humanexp.jobs import runner
from humanexp.jobs.models import Job
from humanexp.stimuli.models import Stimulus, StimulusSet
from tests.evaluations.sets import picture_set
from tests.markup import markup, words

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "evaluations:classifiers"


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


def table_of(stimulus_set: StimulusSet, response: str = "cat", *, leave_out: int = 0, header: str = "") -> bytes:
    keys = list(stimulus_set.stimuli.order_by("key").values_list("key", flat=True))[leave_out:]
    return ((header or "stimulus,response") + "\n" + "".join(f"{key},{response}\n" for key in keys)).encode()


def sent(lab: Client, stimulus_set: StimulusSet, content: bytes, name: str = "mine.csv") -> tuple[int, str]:
    table = SimpleUploadedFile(name, content)
    response = lab.post(reverse("evaluations:upload"), {"stimulus_set": stimulus_set.pk, "table": table, "name": ""})
    return response.status_code, response.content.decode()


def test_the_empty_page_says_what_to_do_and_lists_the_papers_networks(lab: Client) -> None:
    text = lab.get(reverse(LIST)).content.decode()
    assert "No model has been evaluated yet" in text
    assert "Standard_R50" in text
    assert "torchvision:resnet50@IMAGENET1K_V1" in text
    assert f"{reverse('evaluations:new')}?spec=torchvision%3Aresnet50%40IMAGENET1K_V1" in text


def test_pages_ask_for_a_login(client: Client, stimulus_set: StimulusSet) -> None:
    for name in ("classifiers", "new", "upload"):
        assert client.get(reverse(f"evaluations:{name}")).status_code == 302


def test_a_table_is_shown_then_taken_whole(lab: Client, stimulus_set: StimulusSet) -> None:
    status, text = sent(lab, stimulus_set, table_of(stimulus_set))
    assert status == 200
    assert "answers 8 of 8 stimuli of pets" in words(text)
    assert not EvaluationRun.objects.exists()
    (waiting,) = media_path("evaluations/uploads").glob("*.csv")
    address = reverse("evaluations:take")
    taken = lab.post(address, {"stimulus_set": stimulus_set.pk, "name": "mine", "waiting": waiting.name})
    run = EvaluationRun.objects.get()
    assert taken.url == reverse("evaluations:run", args=[run.pk])
    assert "waiting" in lab.get(reverse(LIST)).content.decode()
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    run.refresh_from_db()
    assert (run.name, run.count, run.accuracy_clean) == ("mine", 8, 0.5)
    page = lab.get(taken.url).content.decode()
    assert "predictions recorded elsewhere" in page
    assert "0.500 right on clean pictures" in page
    # The share of each function, over all stretches of visual change.
    assert "Right over visual change" in page
    for one in shares_of([run]):
        assert f'<th scope="row">{one.corruption}</th>' in page and f"{one.overall:.3f}" in page
    assert "complete" in lab.get(reverse(LIST)).content.decode()
    again = lab.post(address, {"stimulus_set": stimulus_set.pk, "name": "mine", "waiting": waiting.name})
    assert again.status_code == 404


def test_a_table_with_problems_is_kept_nowhere_and_all_of_them_are_listed(
    lab: Client, stimulus_set: StimulusSet
) -> None:
    status, text = sent(lab, stimulus_set, table_of(stimulus_set, "lion", leave_out=1))
    assert status == 422
    assert "mine.csv cannot be used: 8 problems" in text
    assert "1 of 8 stimuli of the set have no row" in text
    assert text.count("is none of the 16 categories") == 7
    assert list(media_path("evaluations").rglob("*.csv")) == []
    assert not Job.objects.filter(kind=evaluations.JOB_KIND).exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("mine.xlsx", b"PK", ".csv or .parquet files"),
        ("mine.parquet", b"PAR1", "cannot be read as Parquet"),
        ("mine.csv", b"stimulus\n\xe9\n", "is not UTF-8"),
        ("mine.csv", b"", "empty"),
    ],
)
def test_what_is_no_table_is_refused_with_a_sentence(
    lab: Client, stimulus_set: StimulusSet, name: str, content: bytes, message: str
) -> None:
    status, text = sent(lab, stimulus_set, content, name)
    assert status == 422
    assert message in text


def test_a_set_that_changed_between_looking_and_taking_is_looked_at_again(
    lab: Client, stimulus_set: StimulusSet
) -> None:
    sent(lab, stimulus_set, table_of(stimulus_set))
    (waiting,) = media_path("evaluations/uploads").glob("*.csv")
    waiting.write_bytes(table_of(stimulus_set, leave_out=2))
    taken = lab.post(
        reverse("evaluations:take"), {"stimulus_set": stimulus_set.pk, "name": "mine", "waiting": waiting.name}
    )
    assert taken.status_code == 422
    assert not EvaluationRun.objects.exists()


@pytest.mark.parametrize("waiting", ["../../db.sqlite3", "gone.csv", "/etc/passwd"])
def test_nothing_but_a_waiting_table_can_be_taken(lab: Client, stimulus_set: StimulusSet, waiting: str) -> None:
    address = reverse("evaluations:take")
    assert lab.post(address, {"stimulus_set": stimulus_set.pk, "name": "x", "waiting": waiting}).status_code == 404


def test_a_table_that_nobody_takes_is_forgotten(
    lab: Client, stimulus_set: StimulusSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(lab, stimulus_set, table_of(stimulus_set))
    monkeypatch.setattr(uploads, "_KEPT_S", -1)
    sent(lab, stimulus_set, table_of(stimulus_set, "lion"))
    assert list(media_path("evaluations/uploads").iterdir()) == []


def test_evaluating_takes_safe_strings_alone(lab: Client, stimulus_set: StimulusSet) -> None:
    address = reverse("evaluations:new")
    form = {"stimulus_set": stimulus_set.pk, "rule": "mean", "device": "cpu"}
    for spec in ("python:os:getcwd", "export:/srv/net.pt2", "nonsense"):
        refused = lab.post(address, form | {"spec": spec})
        assert refused.status_code == 422, spec
    page = lab.get(address, {"spec": "timm:resnet50.a1_in1k"}).content.decode()
    assert 'value="timm:resnet50.a1_in1k"' in page
    assert "export:fixtures/classifiers/clean.pt2" in page
    started = lab.post(address, form | {"spec": "export:fixtures/classifiers/clean.pt2", "rule": "sum"})
    run = EvaluationRun.objects.get()
    assert started.url == reverse("evaluations:run", args=[run.pk])
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    run.refresh_from_db()
    assert (run.rule, run.label_space, run.count) == ("sum", 16, 8)
    assert run.versions["torch"]


def test_a_failed_evaluation_says_why(lab: Client, stimulus_set: StimulusSet) -> None:
    run, _job = evaluate(stimulus_set=stimulus_set, spec="timm:nowhere")
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    page = lab.get(reverse("evaluations:run", args=[run.pk])).content.decode()
    assert "timm has no network" in page
    assert "failed" in lab.get(reverse(LIST)).content.decode()


def test_the_kind_of_a_network_is_known_or_said(lab: Client, stimulus_set: StimulusSet) -> None:
    run, _job = evaluate(stimulus_set=stimulus_set, spec="export:fixtures/classifiers/clean.pt2")
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    page, address = reverse("evaluations:run", args=[run.pk]), reverse("evaluations:kind", args=[run.pk])
    assert "<dd>not known" in markup(lab.get(page).content)
    assert lab.post(address, {"kind": "cnn"}).status_code == 422
    assert lab.post(address, {"kind": "adversarial"}).url == page
    assert "<dd>adversarially trained" in markup(lab.get(page).content)
    run.refresh_from_db()
    assert (run.kind, run.network_kind) == ("adversarial", "adversarial")
    assert lab.post(address, {"kind": ""}).url == page
    EvaluationRun.objects.update(spec="timm:resnet18.fb_swsl_ig1b_ft_in1k")
    assert "semi-weakly supervised, as known from its name" in words(lab.get(page).content)


def test_a_kind_said_with_the_evaluation_stays_when_it_is_repeated(stimulus_set: StimulusSet) -> None:
    spec = "export:fixtures/classifiers/clean.pt2"
    run, job = evaluate(stimulus_set=stimulus_set, spec=spec, how=evaluations.How(kind="vit"))
    assert "kind" not in job.parameters, "it decides no prediction"
    evaluate(stimulus_set=stimulus_set, spec=spec)
    run.refresh_from_db()
    assert run.kind == "vit"
    with pytest.raises(InvalidRequest, match="no kind of networks 'cnn'"):
        evaluate(stimulus_set=stimulus_set, spec=spec, how=evaluations.How(kind="cnn"))


def test_deleting_asks_for_the_name(lab: Client, stimulus_set: StimulusSet) -> None:
    run, _job = evaluate(stimulus_set=stimulus_set, spec="export:fixtures/classifiers/clean.pt2")
    address = reverse("evaluations:delete", args=[run.pk])
    assert "already: wait" in lab.post(address, {"confirm": "clean"}).content.decode()
    runner.run_waiting(kinds=[evaluations.JOB_KIND])
    assert lab.post(address, {"confirm": "wrong"}).status_code == 422
    assert EvaluationRun.objects.exists()
    assert lab.post(address, {"confirm": "clean"}).url == reverse(LIST)
    assert not EvaluationRun.objects.exists()
    assert lab.get(address).status_code == 404


def test_a_retraining_shows_before_and_after(lab: Client, stimulus_set: StimulusSet) -> None:
    quantities = {"area": 0.5, "hmri": 0.6, "mrsi": 0.0}
    interval = {name: [0.01, 0.2] for name in quantities}
    row = {"corruption": "gaussian_noise", "property": "accuracy", "stimuli": 40, "trained_on": True}
    row |= {"before": quantities, "after": quantities, "difference": quantities, "interval": interval}
    recipe = {"epochs": 5, "learning_rate": 0.001, "momentum": 0.9, "batch": 32, "seed": 0}
    energy = {"seconds": 12.0, "power_w": 100.0, "kwh": 0.0003, "kg_co2": 0.0001, "kg_co2_per_kwh": 0.432}
    report = {
        "rows": [row], "clean": {"before": 0.9, "after": 0.88, "n": 40}, "originals": 40, "recipe": recipe,
        "energy": energy, "training_stimuli": 80, "training_originals": 40,
    }  # fmt: skip
    retrained = Retraining.objects.create(
        stimulus_set=stimulus_set, name="clean", spec="export:clean.pt2", out="/out.pt2", report=report
    )
    page = words(lab.get(reverse("evaluations:retraining", args=[retrained.pk])).content)
    assert "0.900 of the clean pictures were right before and 0.880 after" in page
    assert "HMRI" in page
    assert "0.010 to 0.200" in page
    assert "12 s at 100 W" in page
    assert reverse("evaluations:retraining", args=[retrained.pk]) in lab.get(reverse(LIST)).content.decode()
    assert lab.get(reverse("evaluations:retraining", args=[retrained.pk + 1])).status_code == 404


def test_the_list_asks_the_database_no_more_for_many_runs(
    lab: Client,
    stimulus_set: StimulusSet,
    django_assert_max_num_queries,  # noqa: ANN001
) -> None:
    for number in range(12):
        evaluate(stimulus_set=stimulus_set, spec="timm:nowhere", name=f"net {number}")
    with django_assert_max_num_queries(10):
        lab.get(reverse(LIST))


@pytest.mark.parametrize(("right", "is_said"), [(1, True), (8, False)])
def test_a_network_that_guesses_is_said_to_wherever_it_is_shown(
    lab: Client, stimulus_set: StimulusSet, right: int, is_said: bool
) -> None:
    clean = list(stimulus_set.stimuli.filter(corruption="none"))
    for number in range(16 - len(clean)):
        Stimulus.objects.create(**{**_fields_of(clean[0]), "key": f"more{number}", "file": f"more{number}.png"})
    run = EvaluationRun.objects.create(
        stimulus_set=stimulus_set, name="net", spec="table:x", completed_at=timezone.now(), accuracy_clean=right / 16
    )
    said = f"net names {right} of 16 clean pictures right, no more than by guessing"
    assert (said in lab.get(reverse("evaluations:run", args=[run.pk])).text) is is_said
    assert (said in lab.get(reverse(LIST)).text) is is_said


def _fields_of(stimulus: Stimulus) -> dict[str, object]:
    return {field.attname: getattr(stimulus, field.attname) for field in Stimulus._meta.concrete_fields[1:]}
