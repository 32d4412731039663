from __future__ import annotations

import os
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from analysis.tables.trials import TRIALS
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.participation.models import Participant, Session
from humanexp.results.models import TrialImport
from humanexp.studies.models import Origin, Study, StudyFamily
from humanexp.studies.permissions import members_of
from tests.labels import of_the_sixteen

pytestmark = pytest.mark.django_db

HEADER = "subj,session,trial,rt,object_response,category,condition,imagename\n"
FIRST = HEADER + "subject-01,1,1,0.5,dog,dog,0.10,a.png\nsubject-01,1,2,0.6,na,cat,0.10,b.png\n"
SECOND = HEADER + "vgg,1,1,NaN,dog,dog,0.10,a.png\n"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, text in (("first.csv", FIRST), ("second.csv", SECOND)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [tmp_path / "first.csv", tmp_path / "second.csv"]


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("import_trials", *map(str, arguments), stdout=out)
    return out.getvalue()


def stored() -> tuple[int, ...]:
    folder = media_path("results/imports")
    parquet = len(list(folder.glob("*"))) if folder.exists() else 0
    return (Study.objects.count(), StudyFamily.objects.count(), TrialImport.objects.count(), parquet)


def test_makes_one_study_one_row_one_file_and_no_sessions(files: list[Path]) -> None:
    before = stored()
    said = run(*files, "--study", "Noise")
    assert "3 trials of 1 people and 1 classifiers" in said and "analyse noise" in said
    assert tuple(now - then for now, then in zip(stored(), before, strict=True)) == (1, 1, 1, 1)
    assert Session.objects.count() == Participant.objects.count() == 0
    study = Study.objects.get(slug="noise")
    assert (study.origin, study.title) == (Origin.IMPORTED, "Noise")
    trials = TRIALS.read(media_path(study.trial_import.trials_file))
    assert trials["response"].tolist() == ["dog", "na", "dog"]


def test_an_owner_is_named_by_account(files: list[Path]) -> None:
    before = stored()
    with pytest.raises(CommandError, match="No one here has an account 'ada'"):
        run(*files, "--study", "noise", "--owner", "ada")
    assert stored() == before
    run(*files, "--study", "noise", "--owner", User.objects.create_user("ada"))
    assert [member.role for member in members_of(Study.objects.get())] == ["owner"]


def test_the_same_files_again_change_nothing_and_say_so(files: list[Path]) -> None:
    run(*files, "--study", "noise")
    before = stored()
    said = run(*reversed(files), "--study", "noise")
    assert "already" in said and "Nothing was changed" in said
    assert stored() == before


@pytest.mark.parametrize("arguments", [["first.csv"], ["first.csv", "second.csv", "--humans", "v*"]])
def test_other_files_or_observers_under_the_same_name_are_refused(files: list[Path], arguments: list[str]) -> None:
    run(*files, "--study", "noise")
    before = stored()
    given = [files[0].parent / name if name.endswith(".csv") else name for name in arguments]
    with pytest.raises(CommandError, match="another name"):
        run(*given, "--study", "noise")
    assert stored() == before


def test_a_study_collected_here_is_never_touched(files: list[Path]) -> None:
    Study.objects.create(family=StudyFamily.objects.create(slug="mine"), slug="mine", title="Mine")
    with pytest.raises(CommandError, match="collected here"):
        run(*files, "--study", "mine")
    assert not TrialImport.objects.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FIRST.replace("cat,0.10", "wolf,0.10"), r"bad\.csv, row 2, column 'category': 'wolf'"),
        (FIRST.replace("subj,", "who,"), r"bad\.csv: column 'subj' is missing"),
        ("", r"bad\.csv is empty"),
    ],
)
def test_one_bad_file_refuses_all_and_writes_nothing(files: list[Path], text: str, said: str) -> None:
    bad = files[0].with_name("bad.csv")
    bad.write_text(text, encoding="utf-8")
    before = stored()
    with pytest.raises(CommandError, match=said + r".*Nothing was imported\."):
        run(files[1], bad, "--study", "noise")
    assert stored() == before


def test_a_missing_file_is_an_error_of_the_command(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no such file"):
        run(tmp_path / "gone.csv", "--study", "noise")


def test_a_name_without_letters_is_refused(files: list[Path]) -> None:
    with pytest.raises(CommandError, match="no name for a study"):
        run(*files, "--study", "!!")


@of_the_sixteen
@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with published trials")
def test_the_published_experiment_is_imported_whole() -> None:
    folder = Path(os.environ["REFERENCE_DATA"]) / "published" / "noise-experiment"
    assert "33280 trials of 5 people and 3 classifiers" in run(*sorted(folder.glob("*.csv")), "--study", "noise")
