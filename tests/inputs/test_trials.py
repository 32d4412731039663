"""Trial files that are well formed and mean something else than they seem to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.errors import TableRefused
from analysis.published_trials import PublishedTrials, read_published_trials
from humanexp.results.models import TrialImport
from tests.inputs.handed import handed_in

Change = Callable[[pd.DataFrame], pd.DataFrame]


def read(*paths: Path, **options: str) -> PublishedTrials:
    return read_published_trials(paths, study="x", **options)  # type: ignore[arg-type]


def trials(observers: Sequence[str] = ("subject-01",), conditions: Sequence[str] = ("0.0", "0.5")) -> pd.DataFrame:
    """Six trials of each observer in each condition, answered in about 0.8 seconds."""
    rows = [
        {
            "subj": observer,
            "session": "1",
            "trial": str(6 * place + number),
            "rt": str(0.7 + number / 20),
            "object_response": "cat" if number % 2 else "dog",
            "category": "cat",
            "condition": condition,
            "imagename": f"{number:04d}_nse_s01_{condition}_cat_10_n02123045_{number}.png",
        }
        for observer in observers
        for place, condition in enumerate(conditions)
        for number in range(6)
    ]
    return pd.DataFrame(rows)


def written(tmp_path: Path, *tables: pd.DataFrame) -> list[Path]:
    paths = [tmp_path / f"trials-{number}.csv" for number in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        table.to_csv(path, index=False)
    return paths


class TestTimes:
    def test_below_zero(self) -> None:
        with pytest.raises(TableRefused, match=r"trials\.csv, row 1, column 'rt': '-4\.720' is not a time above 0"):
            read(handed_in("trials-negative-reaction-times") / "trials.csv")

    def test_milliseconds(self) -> None:
        table = handed_in("trials-times-in-milliseconds") / "trials.csv"
        with pytest.raises(TableRefused, match=r"trials\.csv, column 'rt': half of the times .*--times-in ms"):
            read(table)
        assert 500 < read(table, times_in="ms").trials["rt_ms"].median() < 1_500

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda table: table.assign(rt="0"), "'0' is not a time above 0"),
            (lambda table: table.assign(rt=["-1", *table["rt"][1:]]), "row 1, column 'rt': '-1' is not a time above 0"),
            (lambda table: table.assign(rt="812 ms"), "'812 ms' is not a time"),
            (lambda table: table.assign(rt="00:00:01"), "'00:00:01' is not a time"),
            (
                lambda table: table.assign(rt="0.0008"),
                r"under 0\.0008 s, and nobody answers.*\. Write seconds",
            ),
            (
                lambda table: pd.concat(
                    [table, table.assign(session="2", rt=(1000 * table["rt"].astype(float)).astype(str))]
                ),
                r"session 2 of subject-01 are over .* s, .*--times-in ms",
            ),
        ],
    )
    def test_variants(self, tmp_path: Path, change: Change, said: str) -> None:
        with pytest.raises(TableRefused, match=said):
            read(*written(tmp_path, change(trials())))

    def test_seconds_are_not_taken_for_milliseconds(self, tmp_path: Path) -> None:
        with pytest.raises(TableRefused, match=r"If they are in seconds, say so: --times-in s\."):
            read(*written(tmp_path, trials()), times_in="ms")

    def test_a_long_break_is_a_long_break(self, tmp_path: Path) -> None:
        table = trials()
        table.loc[3, "rt"] = "900"
        assert read(*written(tmp_path, table)).trials["rt_ms"].max() == 900_000


class TestAnswers:
    def test_nan_is_no_answer_in_time(self) -> None:
        with pytest.raises(TableRefused, match=r"row 1, column 'object_response': 'NaN' says nothing\. Write `na`"):
            read(handed_in("trials-no-answer-written-as-NaN") / "trials.csv")

    @pytest.mark.parametrize("spelt", ["", "None", "N/A", "#N/A", " "])
    def test_variants(self, tmp_path: Path, spelt: str) -> None:
        table = trials()
        table.loc[2, "object_response"] = spelt
        with pytest.raises(TableRefused, match=r"row 3, column 'object_response': .*Write `na`"):
            read(*written(tmp_path, table))


class TestRoles:
    def test_whoever_has_times_is_a_person(self) -> None:
        found = read(handed_in("trials-people-called-P01") / "trials.csv")
        assert set(found.observers.values()) == {"human"}
        assert found.notes == (
            "Taken for people, because they have reaction times: P01, P02. --humans names people by a pattern, "
            "--classifiers says who is none.",
        )

    def test_variants(self, tmp_path: Path) -> None:
        some = trials(("observer_3", "clip-vit"))
        some.loc[some["subj"] == "clip-vit", "rt"] = "NaN"
        paths = written(tmp_path, some)
        assert read(*paths).observers == {"observer_3": "human", "clip-vit": "classifier"}
        assert read(*paths, humans="observer*").notes == ()
        timed = written(tmp_path, trials(("subject-01", "resnet50")))
        assert read(*timed, classifiers="resnet*").observers == {"subject-01": "human", "resnet50": "classifier"}
        with pytest.raises(TableRefused, match=r"--classifiers vgg\*: no observer is called so\. There"):
            read(*timed, classifiers="vgg*")
        with pytest.raises(TableRefused, match=r"'subj': 'subject-01' and 'Subject-01' differ by capitals"):
            read(*written(tmp_path, trials(), trials(("Subject-01",))))


class TestConditions:
    def test_one_number_is_one_condition(self) -> None:
        folder = handed_in("trials-one-condition-spelt-two-ways")
        found = read(folder / "people.csv", folder / "network.csv")
        assert sorted(found.trials["condition"].unique()) == ["0.0", "0.1", "0.35", "0.9"]
        by_observer = found.trials.groupby("participant")["stimulus"].agg(set)
        assert by_observer["vgg19"] == by_observer["subject-01"], "error consistency needs the same stimuli"
        assert "0.1 and 0.10 are one condition: 0.1." in found.notes

    @pytest.mark.parametrize("spelt", ["0.50", ".5", "5e-1", "+0.5", " 0.5"])
    def test_variants(self, tmp_path: Path, spelt: str) -> None:
        network = trials(("net",), ("0.0", spelt)).assign(rt="")
        found = read(*written(tmp_path, trials(), network))
        assert found.trials["condition"].nunique() == 2
        assert found.trials.groupby("stimulus")["participant"].nunique().eq(2).all()

    @pytest.mark.parametrize("spelt", ["C100", "c 100", "ｃ100"])
    def test_capitals_and_blanks_are_for_the_author_to_tell(self, tmp_path: Path, spelt: str) -> None:
        with pytest.raises(TableRefused, match="column 'condition': .* differ by capitals, blanks or the form"):
            read(*written(tmp_path, trials(conditions=("c100",)), trials(("subject-02",), (spelt,))))

    def test_conditions_that_differ_stay_apart(self, tmp_path: Path) -> None:
        found = read(*written(tmp_path, trials(conditions=("0.1", "0.11", "1", "10", "c1", "inf"))))
        assert found.trials["condition"].nunique() == 6 and found.notes == ()


class TestSpreadsheets:
    def test_semicolons_and_decimal_commas(self) -> None:
        found = read(handed_in("trials-of-a-german-excel") / "trials.csv")
        assert 500 < found.trials["rt_ms"].median() < 1_500

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
    def test_variants(self, tmp_path: Path, encoding: str) -> None:
        table = trials()
        table["rt"] = table["rt"].str.replace(".", ",")
        table.to_csv(tmp_path / "t.csv", index=False, sep="\t", encoding=encoding)
        assert 500 < read(tmp_path / "t.csv").trials["rt_ms"].median() < 1_500
        table.to_csv(tmp_path / "t.csv", index=False, encoding=encoding)
        with pytest.raises(TableRefused, match="'0,7' is not a time above 0"):
            read(tmp_path / "t.csv")


@pytest.mark.django_db
def test_the_command_says_what_it_decided_and_takes_the_unit(settings: object, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path  # type: ignore[attr-defined]
    people = str(handed_in("trials-people-called-P01") / "trials.csv")
    out = StringIO()
    call_command("import_trials", people, study="people", stdout=out)
    assert "2 people and 0 classifiers" in out.getvalue() and "Taken for people" in out.getvalue()
    times = str(handed_in("trials-times-in-milliseconds") / "trials.csv")
    with pytest.raises(CommandError, match=r"--times-in ms\. Nothing was imported"):
        call_command("import_trials", times, study="times")
    assert TrialImport.objects.count() == 1
    call_command("import_trials", times, "--times-in", "ms", study="times", stdout=out)
    assert TrialImport.objects.count() == 2
