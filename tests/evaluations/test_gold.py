from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from PIL import Image

from analysis.errors import DesignRefused
from analysis.labels.files import default_labels
from analysis.study.rules import load_rule_set
from analysis.study.study import StudyConfiguration
from humanexp.core.errors import InvalidRequest, SetFrozen
from humanexp.core.models import User
from humanexp.evaluations.services import prediction
from humanexp.evaluations.services.evaluations import select_gold
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli.models import SourceImage, SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.selectors.sources import agreed_originals
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder, Rating, store_ratings
from humanexp.studies.models import Study, StudyFamily
from humanexp.studies.plans import make_plan
from tests.evaluations.rule_classifier import BrightnessClassifier

BRIGHTNESS = "python:tests.evaluations.rule_classifier:make"
DOUBTER = "python:tests.evaluations.test_gold:make_doubter"
pytestmark = pytest.mark.django_db(transaction=True)


class Doubter:
    """Says cat to everything, with a fifth of all belief."""

    name = "doubter"
    labels = default_labels().ids
    label_space = 16
    digest = "1" * 64
    preprocessing = "none"

    def predict(self, images: np.ndarray) -> np.ndarray:
        shares = np.full((len(images), 16), 0.8 / 15, dtype=np.float32)
        shares[:, default_labels().ids.index("cat")] = 0.2
        return shares


def make_doubter(device: str) -> Doubter:
    return Doubter()


def quiet(done: int, total: int, message: str = "") -> None:
    pass


def write_picture(path: Path, level: int) -> None:
    """A picture of a mean grey level that the brightness classifier turns into a category."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.full((224, 224, 3), level, dtype=np.uint8)
    pixels[::2, ::2] += 2
    Image.fromarray(pixels).save(path)


def middle(category: str) -> int:
    return default_labels().ids.index(category) * 16 + 7


@pytest.fixture
def source_set(settings, tmp_path: Path) -> SourceSet:  # noqa: ANN001
    """Four cats and three dogs; one of each looks like something else."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    for number in range(4):
        write_picture(tmp_path / "pets" / "cat" / f"cat-{number}.png", middle("cat" if number else "oven") + number)
    for number in range(3):
        write_picture(tmp_path / "pets" / "dog" / f"dog-{number}.png", middle("dog" if number else "bear") + number)
    return import_images(source=tmp_path / "pets", order=ImportOrder(name="pets")).source_set


def test_the_command_stores_what_each_classifier_says(source_set: SourceSet) -> None:
    told = StringIO()
    call_command("select_gold", "--images=pets", f"--classifier={BRIGHTNESS}", f"--classifier={DOUBTER}", stdout=told)
    text = told.getvalue()
    assert f"{BRIGHTNESS}: {5 / 7:.3f} of the clean pictures named right" in text
    assert "pets: 3 of 7 pictures named right by all" in text
    assert "cat 3" in text
    found = {image.key: image for image in SourceImage.objects.all()}
    assert {key: image.classifiers_agreeing for key, image in found.items()} == {
        "cat-0": 1, "cat-1": 2, "cat-2": 2, "cat-3": 2, "dog-0": 0, "dog-1": 1, "dog-2": 1,
    }  # fmt: skip
    assert found["cat-1"].smallest_probability == pytest.approx(0.2)
    assert found["cat-0"].smallest_probability == 0.0
    assert found["dog-1"].smallest_probability == pytest.approx(0.8 / 15)
    source_set.refresh_from_db()
    assert source_set.gold_classifiers == [BRIGHTNESS, DOUBTER]
    assert agreed_originals(source_set) == {"cat-1", "cat-2", "cat-3"}


def test_an_interrupted_job_goes_on(source_set: SourceSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction, "PART", 2)
    monkeypatch.setattr(prediction, "BATCH", 2)

    def die(done: int, total: int, message: str = "") -> None:
        if done == 4:
            raise KeyboardInterrupt

    BrightnessClassifier.batches = 0
    with pytest.raises(KeyboardInterrupt):
        prediction.rate_originals(source_set, [BRIGHTNESS], die, allow_code=True, device="cpu")
    assert agreed_originals(source_set) is None
    report = prediction.rate_originals(source_set, [BRIGHTNESS], quiet, allow_code=True, device="cpu")
    assert BrightnessClassifier.batches == 5  # four, and the one that was lost
    assert (report.n_images, report.n_agreed) == (7, 5)


@pytest.mark.parametrize(
    ("specs", "reason"),
    [
        ([], "Name one to 20 classifiers"),
        (["resnet50"], "'resnet50' names no classifier"),
        (["export:"], "'export:' names no classifier"),
        ([BRIGHTNESS], "runs code"),
    ],
)
def test_the_console_refuses_what_names_no_classifier(source_set: SourceSet, specs: list[str], reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        select_gold(source_set=source_set, specs=specs, by=User.objects.create_user("lab", is_staff=True))
    assert not Job.objects.exists()


def test_answers_on_record_are_no_network(source_set: SourceSet, tmp_path: Path) -> None:
    with pytest.raises(CommandError):
        call_command("select_gold", images="pets", classifier=["table:nowhere.csv"])
    with pytest.raises(CommandError, match="no set of pictures named 'none'"):
        call_command("select_gold", images="none", classifier=[BRIGHTNESS])


def test_the_pages_start_a_job_and_show_what_it_found(source_set: SourceSet, client: Client) -> None:
    client.force_login(User.objects.create_user("lab", is_staff=True))
    address = reverse("evaluations:select_gold", args=["pets"])
    assert client.get(address).status_code == 200
    refused = client.post(address, {"classifiers": BRIGHTNESS})
    assert refused.status_code == 422
    assert "runs code" in refused.content.decode()
    assert client.post(address, {"classifiers": "timm:nowhere\r\n\r\n"}).status_code == 302
    again = client.post(address, {"classifiers": "timm:nowhere"})
    assert "being classified already" in again.content.decode()
    page = reverse("stimuli:source_set", args=["pets"])
    assert "Easy pictures are looked for" in client.get(page).content.decode()
    runner.run_waiting()
    job = Job.objects.get()
    assert job.state == JobState.FAILED
    assert "has no network" in client.get(page).content.decode()
    prediction.rate_originals(source_set, [BRIGHTNESS, DOUBTER], quiet, allow_code=True, device="cpu")
    text = client.get(page, {"agreement": "agreed"}).content.decode()
    assert "All 2 classifiers name 3 pictures right" in text
    assert "2 of 2 right" in text
    assert "dog-1" not in text
    assert "dog-1" in client.get(page, {"agreement": "disputed"}).content.decode()


@pytest.fixture
def stimulus_set(source_set: SourceSet) -> StimulusSet:
    """Rows of a complete set over many originals; no files are needed to plan a study."""
    rows = [
        SourceImage(source_set=source_set, key=f"{category}-x{n}", category=category, file="x", sha256=f"{category}{n}")
        for category in default_labels().ids
        for n in range(20)
    ]
    SourceImage.objects.bulk_create(rows)
    made = StimulusSet.objects.create(name="pets", source_set=source_set, count_per_corruption=0, metric="m")
    stimuli_rows = []
    for number, image in enumerate(source_set.images.all()):
        for corruption, changes in (("none", [0.0]), ("gaussian_noise", [0.1, 0.3, 0.5, 0.7])):
            stimuli_rows += [
                Stimulus(
                    stimulus_set=made, key=f"{number}-{corruption}-{change}", source_image=image, corruption=corruption,
                    corruption_version="1", parameter=0, seed=0, visual_change=change, sha256="", file="x",
                )
                for change in changes
            ]  # fmt: skip
    Stimulus.objects.bulk_create(stimuli_rows)
    return made


def rate(source_set: SourceSet, agreed: set[str]) -> None:
    images = source_set.images.values_list("pk", "key")
    ratings = [Rating(pk, 2 if key in agreed else 1, 0.5) for pk, key in images]
    store_ratings(source_set=source_set, classifiers=["export:a", "export:b"], ratings=ratings)


STUDY = StudyConfiguration(title="Pets", stimuli="pets", seed=3)
RULES = load_rule_set("vcr")


def test_golds_come_from_agreed_originals_alone(source_set: SourceSet, stimulus_set: StimulusSet) -> None:
    unchecked = make_plan(configuration=STUDY, stimulus_set=stimulus_set, rules=RULES)
    assert any("nobody has checked" in note for note in unchecked.notes)
    agreed = {f"{category}-x{n}" for category in default_labels().ids[:14] for n in range(8)}
    rate(source_set, agreed)
    stimulus_set.refresh_from_db()
    plan = make_plan(configuration=STUDY, stimulus_set=stimulus_set, rules=RULES)
    assert set(plan.pools["gold"]) <= agreed
    assert len(plan.pools["gold"]) >= 14
    assert plan.pools == make_plan(configuration=STUDY, stimulus_set=stimulus_set, rules=RULES).pools
    notes = " ".join(plan.notes)
    assert "Gold pictures come from the 112 of 327 originals that all 2 classifiers named right" in notes
    assert "No picture of oven, truck is a gold candidate" in notes
    assert "nobody has checked" not in notes


def test_too_few_agreed_originals_are_refused_category_by_category(
    source_set: SourceSet, stimulus_set: StimulusSet
) -> None:
    rate(source_set, {"cat-x1", "cat-x2", "dog-x1"})
    stimulus_set.refresh_from_db()
    with pytest.raises(DesignRefused, match=r"only 3 of the gold candidates \(.*cat 2,.*dog 1.*truck 0\)"):
        make_plan(configuration=STUDY, stimulus_set=stimulus_set, rules=RULES)
    rate(source_set, set())
    with pytest.raises(DesignRefused, match="only 0 of the gold candidates"):
        make_plan(configuration=STUDY, stimulus_set=StimulusSet.objects.get(), rules=RULES)


def test_ratings_end_with_the_first_participant(source_set: SourceSet, stimulus_set: StimulusSet) -> None:
    from humanexp.core import clock

    family = StudyFamily.objects.create(slug="pets")
    study = Study.objects.create(family=family, version=1, slug="pets", title="Pets", stimulus_set=stimulus_set)
    rate(source_set, {"cat-x1"})  # a draft does not mind
    study.frozen_at = clock.now()
    study.save()
    with pytest.raises(SetFrozen, match="study that has begun"):
        rate(source_set, {"cat-x2"})
    with pytest.raises(CommandError, match="study that has begun"):
        call_command("select_gold", images="pets", classifier=[BRIGHTNESS])
    assert agreed_originals(source_set) == {"cat-x1"}
