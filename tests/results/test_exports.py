from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from analysis.findings.__main__ import main
from analysis.findings.reproduction import analyse_export
from analysis.published_trials import read_published_trials
from analysis.reporting.plan import FrozenPlan
from analysis.tables import SCHEMAS
from humanexp.participation.models import Participant, Session, SessionState
from humanexp.results import selectors
from humanexp.results.models import AnalysisRun
from humanexp.results.services import freeze_analysis_plan
from humanexp.stimuli.models import SourceImage
from humanexp.studies.models import Study
from tests.results.collected import SESSIONS

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.django_db


def export(study: Study, folder: Path) -> dict:
    call_command("export", study.slug, "--to", str(folder), stdout=StringIO())
    return json.loads((folder / "datapackage.json").read_text())


@pytest.mark.verify
def test_the_package_describes_every_file_that_it_holds(study: Study, analysed: AnalysisRun, tmp_path: Path) -> None:
    package = export(study, tmp_path / "out")
    described = {resource["path"]: resource for resource in package["resources"]}
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {path.relative_to(tmp_path / "out").as_posix() for path in files} == {*described, "datapackage.json"}
    assert described.keys() == {
        "trials.csv", "trials.parquet", "predictions.csv", "predictions.parquet", "stimuli.csv", "stimuli.parquet",
        "sessions.csv", "sessions.parquet", "findings.json", "analysis.json", "README.md",
        "curves-accuracy.pdf", "curves-consistency.pdf",
        "mixed-model/mixed_model.R", "mixed-model/mixed_model.py",
        "coverage.json", "coverage.svg", "timing_certificate.json", "timing_certificate.svg",
        *(f"model-vs-human/{name}/{name}_{who}.csv" for name in ("clean", "gaussian-blur", "uniform-noise")
          for who in ("people", "tiny-net")),
    }  # fmt: skip
    for name, resource in described.items():
        content = (tmp_path / "out" / name).read_bytes()
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    columns = [field["name"] for field in described["trials.csv"]["schema"]["fields"]]
    assert columns == (tmp_path / "out/trials.csv").read_text().splitlines()[0].split(",")


@pytest.mark.verify
def test_the_coverage_comes_beside_the_published_one(study: Study, analysed: AnalysisRun, tmp_path: Path) -> None:
    export(study, tmp_path)
    coverage = json.loads((tmp_path / "coverage.json").read_text())["functions"]
    stimuli = SCHEMAS["stimuli"].read(tmp_path / "stimuli.csv")
    corrupted = stimuli[stimuli["corruption"] != "none"]
    assert {name: one["n"] for name, one in coverage.items()} == corrupted["corruption"].value_counts().to_dict()
    figure = (tmp_path / "coverage.svg").read_text()
    assert "published" in figure
    assert "0.974" in figure


@pytest.mark.verify
def test_the_timing_certificate_comes_with_the_answers(study: Study, analysed: AnalysisRun, tmp_path: Path) -> None:
    export(study, tmp_path)
    certificate = json.loads((tmp_path / "timing_certificate.json").read_text())
    trials = SCHEMAS["trials"].read(tmp_path / "trials.csv")
    assert certificate["study"] == study.slug and certificate["rule"] == "timing-2"
    assert certificate["all"]["trials"] == len(trials)
    assert set(certificate["participants"]) == set(trials["participant"])
    assert "within half a frame" in (tmp_path / "timing_certificate.svg").read_text()


@pytest.mark.verify
@pytest.mark.parametrize("name", ["trials", "predictions", "stimuli", "sessions"])
def test_csv_and_parquet_read_back_alike(study: Study, analysed: AnalysisRun, tmp_path: Path, name: str) -> None:
    export(study, tmp_path)
    csv, parquet = (SCHEMAS[name].read(tmp_path / f"{name}.{suffix}") for suffix in ("csv", "parquet"))
    assert csv.equals(parquet) and len(csv) > 0


#: Runs a module in a Python that has neither Django nor the project.
ALONE = """
import runpy, sys
for name in ("django", "rest_framework", "humanexp"):
    sys.modules[name] = None
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def alone(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ALONE, "analysis.findings", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.gate
@pytest.mark.promise(6)
@pytest.mark.process
def test_a_python_without_the_project_computes_the_identical_numbers_from_the_export(
    study: Study, analysed: AnalysisRun, tmp_path: Path
) -> None:
    export(study, tmp_path)
    stored = json.loads((tmp_path / "findings.json").read_text())
    assert stored == {**selectors.findings(analysed).to_json(), "payments": stored["payments"]}
    found = alone(str(tmp_path), "--json", str(tmp_path / "again.json"), "--check")
    assert (found.returncode, found.stderr) == (0, "")
    assert "Identical" in found.stdout
    again = (tmp_path / "again.json").read_text()
    assert json.dumps(json.loads(again)) == json.dumps(stored)


@pytest.mark.process
def test_csv_files_alone_give_the_identical_numbers_too(study: Study, analysed: AnalysisRun, tmp_path: Path) -> None:
    export(study, tmp_path)
    for path in tmp_path.glob("*.parquet"):
        path.unlink()
    again = json.loads(json.dumps(analyse_export(tmp_path)))
    assert again == json.loads((tmp_path / "findings.json").read_text())


@pytest.mark.process
def test_a_folder_that_is_no_export_is_refused_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main([str(tmp_path)]) == 2
    assert "is no exported study" in capsys.readouterr().err


def test_formulas_are_guarded_in_csv_and_come_back_as_they_were(study: Study, tmp_path: Path) -> None:
    evil = "=HYPERLINK(A1)"
    SourceImage.objects.filter(pk=SourceImage.objects.first().pk).update(key=evil)
    export(study, tmp_path)
    rows = list(csv.reader(StringIO((tmp_path / "trials.csv").read_text())))
    dangerous = [cell for row in rows[1:] for cell in row if cell.startswith(("=", "+", "@", "-"))]
    assert all(float(cell) is not None for cell in dangerous)
    assert any(f"'{evil}" in row for row in rows)
    assert SCHEMAS["trials"].read(tmp_path / "trials.csv").equals(SCHEMAS["trials"].read(tmp_path / "trials.parquet"))
    assert evil in set(SCHEMAS["stimuli"].read(tmp_path / "stimuli.csv")["original"])


@pytest.mark.verify
def test_the_trial_files_read_back_as_published_ones(study: Study, analysed: AnalysisRun, tmp_path: Path) -> None:
    export(study, tmp_path)
    for experiment in ("gaussian-blur", "uniform-noise"):
        published = read_published_trials(
            sorted((tmp_path / "model-vs-human" / experiment).glob("*.csv")), study=experiment
        )
        assert sum(kind == "human" for kind in published.observers.values()) == SESSIONS
        people = published.trials[published.trials["participant"].str.startswith("subject-")]
        mine = SCHEMAS["trials"].read(tmp_path / "trials.csv")
        mine = mine[mine["corruption"] == experiment.replace("-", "_")]
        assert len(people) == len(mine) and people["correct"].sum() == mine["correct"].sum()
        assert sorted(people["visual_change"]) == sorted(mine["visual_change"])
        assert sorted(people["rt_ms"]) == pytest.approx(sorted(mine["rt_ms"]))
        networks = published.trials[published.trials["participant"] == "tiny-net"]
        # The same stimulus has the same image id for people and networks.
        assert set(people["stimulus"]) <= set(networks["stimulus"])


def test_who_withdrew_is_counted_and_not_named(study: Study, tmp_path: Path) -> None:
    session = Session.objects.filter(study=study).first()
    code = session.participant.code
    Session.objects.filter(pk=session.pk).update(state=SessionState.WITHDRAWN)
    export(study, tmp_path)
    sessions = SCHEMAS["sessions"].read(tmp_path / "sessions.csv")
    assert (sessions["state"] == "withdrawn").sum() == 1 and len(sessions) == SESSIONS
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert code.encode() not in everything


def test_the_frozen_plan_goes_along_and_can_be_checked(study: Study, tmp_path: Path) -> None:
    export(study, tmp_path)
    assert json.loads((tmp_path / "analysis.json").read_text())["plan"] is None
    plan = freeze_analysis_plan(study=study)
    export(study, tmp_path)
    stored = json.loads((tmp_path / "analysis.json").read_text())["plan"]
    assert FrozenPlan.from_dict(stored).digest == plan.digest
    assert stored["frozen_at"] == plan.frozen_at.isoformat()


@pytest.mark.verify
def test_an_earlier_export_is_replaced_and_any_other_folder_is_kept(
    study: Study, analysed: AnalysisRun, tmp_path: Path
) -> None:
    export(study, tmp_path)
    export(study, tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    with pytest.raises(CommandError, match="not empty"):
        export(study, other)
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]
    with pytest.raises(CommandError, match="is a file"):
        export(study, other / "thesis.txt")


def test_participants_appear_by_code_alone(study: Study, analysed: AnalysisRun, tmp_path: Path) -> None:
    export(study, tmp_path)
    people = set(SCHEMAS["trials"].read(tmp_path / "trials.csv")["participant"])
    assert people == set(Participant.objects.values_list("code", flat=True))


def test_an_unknown_study_is_an_error(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no study 'nothing'"):
        call_command("export", "nothing", "--to", str(tmp_path))


@pytest.mark.verify
def test_an_export_clears_files_of_its_own_folder_only(study: Study, analysed: AnalysisRun, tmp_path: Path) -> None:
    """The list of files in the folder is a claim: somebody may have written another one."""
    folder, beside = tmp_path / "out", tmp_path / "thesis.txt"
    export(study, folder)
    beside.write_text("years of work")
    (folder / "notes.txt").write_text("kept")
    (folder / "old.csv").write_text("of an earlier version")
    package = json.loads((folder / "datapackage.json").read_text())
    package["resources"] += [{"path": path} for path in ("../thesis.txt", str(beside), "old.csv")]
    (folder / "datapackage.json").write_text(json.dumps(package))
    export(study, folder)
    assert beside.read_text() == "years of work" and (folder / "notes.txt").read_text() == "kept"
    assert not (folder / "old.csv").exists()
