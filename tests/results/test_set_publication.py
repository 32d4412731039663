"""A study as a published set: others score models on it and get its numbers, and nothing says who answered."""

from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from PIL import Image

from analysis.labels.files import default_labels
from humanexp.core.models import AuditEvent, User
from humanexp.participation.models import Response, Session, SessionState, Trial
from humanexp.screening.models import Verdict
from humanexp.screening.services import decide, judge_study
from humanexp.stimuli.models import SourceImage, SourceSet, StimulusSet
from humanexp.stimuli.services.label_sets import store_labels
from humanexp.studies.models import Origin, Population, Study, StudyState
from tests.factories import make_stimulus_set, stored_png
from tests.labels import of_the_sixteen
from tests.results.collected import CORRUPTIONS, RECEIVED_AT, make_study
from tests.results.edges import media, network, run

__all__ = ["media", "network"]
pytestmark = [pytest.mark.django_db, of_the_sixteen]


class _Undone(Exception):
    """Ends a block whose rows are forgotten."""


@contextmanager
def elsewhere(settings: Any, tmp_path: Path) -> Iterator[None]:
    """What the block makes is gone afterwards: the database and the files are those of another installation."""
    try:
        with transaction.atomic():
            yield
            raise _Undone
    except _Undone:
        settings.MEDIA_ROOT = tmp_path / "other"
        settings.MEDIA_ROOT.mkdir()
    assert not Study.objects.exists() and not SourceSet.objects.exists()


def made(by: User | None = None, **more: Any) -> Study:
    """The small study, with files of its pictures; two blurred ones, alike in visual change, are of one original."""
    stimuli = make_stimulus_set(
        "blur-pictures", per_category=4, per_function=80, functions=CORRUPTIONS, plain=(),
        picture=stored_png.__wrapped__, **more,
    )  # fmt: skip
    first, second = stimuli.stimuli.filter(corruption="gaussian_blur").order_by("visual_change")[:2]
    stimuli.stimuli.filter(pk=second.pk).update(source_image=first.source_image)
    SourceSet.objects.update(licence="CC BY 4.0")
    return make_study(by, stimulus_set=stimuli)


def publish(study: Study, folder: Path, *more: str) -> tuple[str, str]:
    out, said = StringIO(), StringIO()
    call_command("publish_set", study.slug, "--to", str(folder), *more, stdout=out, stderr=said)
    return out.getvalue(), said.getvalue()


def card(path: Path, name: str, *models: str) -> dict[str, Any]:
    """The JSON of a set, whose humans' accuracy, chance and conditions come first."""
    run("score", *models, "--on", name, "--json", path)
    (found,) = json.loads(path.read_text(encoding="utf-8"))["sets"]
    return dict(found)


def humans(found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[int, float]]]:
    (score,) = (row for row in found["scores"] if row["observer"] == "humans")
    rows = (row for row in found["conditions"] if row["observer"] == "humans")
    return score, {row["condition"]: (row["n"], row["accuracy"]) for row in rows}


def counted_again(study: Study) -> dict[str, list[bool]]:
    """Whether each answer that counts is right, by condition, from the stored rows."""
    found = defaultdict(list)
    rows = Response.objects.filter(session__study=study).exclude(set_aside=True)
    rows = rows.exclude(session__state=SessionState.WITHDRAWN).exclude(trial__role="gold")
    out = Verdict.objects.filter(study=study, is_current=True, accepted=False).values("session")
    for corruption, change, right in rows.exclude(session__in=out).values_list(
        "trial__stimulus__corruption", "trial__stimulus__visual_change", "correct"
    ):
        found["none" if corruption == "none" else f"{corruption} 0.{int(change * 10)}"].append(right)
    return found


def by_person(study: Study) -> dict[str, list[float]]:
    """Each person's share of right answers, by condition of corrupted pictures."""
    found = defaultdict(lambda: defaultdict(list))
    for corruption, change, person, right in Response.objects.filter(session__study=study).values_list(
        "trial__stimulus__corruption", "trial__stimulus__visual_change", "session__participant", "correct"
    ):
        if corruption != "none":
            found[f"{corruption} 0.{int(change * 10)}"][person].append(right)
    return {name: [float(np.mean(own)) for own in persons.values()] for name, persons in found.items()}


def test_others_get_the_numbers_of_the_study(network: str, settings: Any, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    with elsewhere(settings, tmp_path):
        user = User.objects.create_user("lab")
        study = made(user)
        judge_study(study)
        excluded = Session.objects.get(code="S-blur-2")
        decide(session=excluded, accepted=False, written_reason="was asleep for most of it", by=user)
        Session.objects.filter(code="S-blur-0").update(state=SessionState.WITHDRAWN)
        Response.objects.filter(session__code="S-blur-1", position=3).update(set_aside=True)
        Trial.objects.filter(session__code="S-blur-1", position=4).update(role="gold")
        for trial in Trial.objects.all():
            given = Response.objects.get(trial=trial).response
            right = trial.correct_response
            others = [one for one in default_labels().ids if one not in (given, right)]
            trial.options = sorted({given, right, *others[: 2 + (given == right)]})
            trial.save(update_fields=["options"])
        out, said = publish(study, folder, "--citation", "Doe 2026", "--set-version", "1.1")
        assert "blur is collecting, not stopped" in said and "of 6 participants" in out
        own = card(tmp_path / "own.json", "blur")
        again = counted_again(study)
        files = dict(study.stimulus_set.stimuli.values_list("pk", "file"))
        shown = {
            pk: np.asarray(Image.open(settings.MEDIA_ROOT / file).convert("RGB")).tobytes()
            for pk, file in files.items()
        }  # fmt: skip
        seen = Trial.objects.exclude(session__code__in=["S-blur-0", "S-blur-2"]).exclude(
            session__code="S-blur-1", position__in=[3, 4]
        )
        of_study = sorted(shown[pk] for pk in set(seen.values_list("stimulus", flat=True)))
    found = card(tmp_path / "all.json", str(folder), network)
    score, conditions = humans(found)
    right = [one for answers in again.values() for one in answers]
    assert len(right) == 6 * 26 - 2 and score["n"] == len(right)
    assert score["accuracy"] == pytest.approx(np.mean(right), abs=1e-12)
    assert conditions == {name: (len(of), pytest.approx(np.mean(of))) for name, of in again.items()}
    (chance,) = (row["accuracy"] for row in found["scores"] if row["observer"] == "chance")
    assert chance == pytest.approx(0.25)
    # The same estimates as the study's own, whose intervals know which pictures are of one original.
    own_score, own_conditions = humans(own)
    assert conditions == own_conditions and score["pictures"] == own_score["pictures"]
    assert score["interval"] == pytest.approx(own_score["interval"], abs=1e-9)
    persons = [sorted(row["accuracy"] for row in one["scores"] if row["kind"] == "human") for one in (own, found)]
    assert persons[0] == pytest.approx(persons[1]) and len(persons[0]) == 6
    assert found["about"]["Citation"] == "Doe 2026" and found["about"]["Version"] == "1.1"
    pixels = [np.asarray(Image.open(path)).tobytes() for path in (folder / "pictures").iterdir()]
    assert sorted(pixels) == of_study
    # Of all pictures, also of the two of one original under one condition.
    run("score", "--on", "blur-1-1", "--csv", tmp_path / "all.csv")
    assert len((tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()) == len(pixels) + 1


def test_nothing_in_the_folder_says_who_answered(tmp_path: Path) -> None:
    study = made()
    Study.objects.update(state=StudyState.STOPPED)
    _out, said = publish(study, tmp_path / "published")
    assert said == ""
    content = b"\n".join(path.read_bytes() for path in (tmp_path / "published").rglob("*") if path.is_file())
    for session in Session.objects.select_related("participant"):
        assert session.code.encode() not in content and session.participant.code.encode() not in content
    day = RECEIVED_AT.date().isoformat().encode()
    assert day not in content and b"P-TEST" not in content and b"S-blur" not in content
    names = sorted(path.name for path in (tmp_path / "published").iterdir())
    assert names == ["pictures", "pictures.sha256", "set.toml", "trials"]
    header = (tmp_path / "published/trials/people.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "subj,session,trial,rt,object_response,category,condition,imagename,original,visual_change"
    stated = tomllib.loads((tmp_path / "published/set.toml").read_text(encoding="utf-8"))
    lost = [name for name, shares in by_person(study).items() if np.mean(shares) <= 0.2]
    assert stated["conditions"] == {"control": ["none"], "excluded": sorted(lost)} and len(lost) == 1
    assert (stated["labels"], stated["use"], stated["licence"]) == ("entry16", "any", "CC BY 4.0")
    event = AuditEvent.objects.get(action="publish-set")
    assert (event.study, event.facts["people"], event.facts["set"]) == ("blur", 8, "blur")


def test_labels_and_factors_come_along(settings: Any, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    with elsewhere(settings, tmp_path):
        ids = default_labels().ids
        halves = {"half": {"first": ids[:8], "second": ids[8:]}}
        space = replace(default_labels(), name="mine", partitions=halves, negatives="")
        study = made(labels=store_labels(space))
        for number, image in enumerate(SourceImage.objects.order_by("key")):
            image.factors = {"ground": "sand" if number % 3 else "grass", "taken by": f"somebody {number}"}
            image.save()
        publish(study, folder, "--use", "test-only")
        own = card(tmp_path / "own.json", "blur")
    assert b"somebody" not in b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    found = card(tmp_path / "all.json", str(folder))
    assert StimulusSet.objects.get().source_set.space.name == "mine"
    by_value = [
        {one["value"]: (one["n"], one["accuracy"]) for one in both["factors"] if one["observer"] == "humans"}
        for both in (own, found)
    ]
    assert by_value[0] == by_value[1] and set(by_value[0]) == {"sand", "grass"}
    assert found["about"]["May be used"] == "for tests alone"


FORBIDDEN = 'name = "photos"\nversion = "1"\nuse = "no-redistribution"\n'
FOR_TESTS = 'name = "photos"\nversion = "1"\nuse = "test-only"\n'


@pytest.mark.parametrize(
    ("of_pictures", "of_study", "more", "sentence"),
    [
        ({"set_document": FORBIDDEN}, {}, [], "may not be passed on: its set.toml says no-redistribution"),
        ({"licence": "CC BY-ND 4.0"}, {}, [], "may not be passed on: their licence is CC BY-ND 4.0"),
        ({"set_document": FOR_TESTS}, {}, ["--use", "any"], "for tests alone: so must the set be"),
        ({"licence": ""}, {}, [], "The licence of the pictures is not recorded"),
        ({}, {"origin": Origin.IMPORTED}, [], "were published before"),
        ({}, {"configuration": {"design": {"validation": {"images": 1}}}}, [], "only a study with forced choice"),
        ({}, {"stimulus_set": None}, [], "only a study with forced choice"),
        ({}, {}, ["--citation", "x" * 2001], "citation"),
    ],
)
def test_what_cannot_be_published_is_refused_and_nothing_is_written(
    of_pictures: dict[str, Any], of_study: dict[str, Any], more: list[str], sentence: str, tmp_path: Path
) -> None:
    study = made()
    SourceSet.objects.update(**of_pictures)
    Study.objects.update(**of_study)
    with pytest.raises(CommandError, match=sentence):
        publish(study, tmp_path / "out" / "published", *more)
    assert not list(tmp_path.glob("out/*")) and not AuditEvent.objects.filter(action="publish-set").exists()


def test_other_tasks_and_studies_without_answers_are_refused(tmp_path: Path) -> None:
    study = made()
    Trial.objects.update(task="discrimination")
    with pytest.raises(CommandError, match="only a study with forced choice"):
        publish(study, tmp_path / "published")
    Trial.objects.update(task="categorisation")
    Session.objects.update(state=SessionState.WITHDRAWN)
    with pytest.raises(CommandError, match="has no answers that count yet"):
        publish(study, tmp_path / "published")


def test_a_folder_is_written_whole_or_not_at_all(settings: Any, tmp_path: Path) -> None:
    study = made()
    out = tmp_path / "out"
    (out / "full").mkdir(parents=True)
    (out / "full/notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(CommandError, match="full is not empty"):
        publish(study, out / "full")
    picture = settings.MEDIA_ROOT / Trial.objects.first().stimulus.file
    content = picture.read_bytes()
    picture.write_bytes(b"something else")
    with pytest.raises(CommandError):
        publish(study, out / "damaged")
    picture.write_bytes(content)
    # Others would refuse such times, so it is refused here.
    Response.objects.update(rt_ms=4.0)
    with pytest.raises(CommandError, match="No set can be made of these answers: people.csv, column 'rt'"):
        publish(study, out / "fast")
    assert [path.name for path in out.rglob("*")] == ["full", "notes.txt"]
    Response.objects.update(rt_ms=None)
    (out / "empty").mkdir()
    publish(study, out / "empty")
    assert (out / "empty/set.toml").is_file()


def test_scripted_participants_are_called_so(tmp_path: Path) -> None:
    study = made()
    Study.objects.update(population=Population.SCRIPTED)
    _out, said = publish(study, tmp_path / "published", "--licence", "CC0")
    assert "Scripted participants answered, not people" in said
    stated = tomllib.loads((tmp_path / "published/set.toml").read_text(encoding="utf-8"))
    assert stated["trials"]["people"].startswith("scripted participants, not people")
    assert stated["licence"] == "CC0; originals: CC BY 4.0"
