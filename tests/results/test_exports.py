from __future__ import annotations

import hashlib
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from analysis.tables import SCHEMAS
from humanexp.experiments.models import Participant, Study
from humanexp.results import selectors
from humanexp.results.models import AnalysisRun

pytestmark = pytest.mark.django_db


def export(study: Study, folder: Path) -> dict:
    call_command("export", study.slug, "--to", str(folder), stdout=StringIO())
    return json.loads((folder / "datapackage.json").read_text())


def test_the_package_describes_every_file_that_it_holds(study: Study, analysed: AnalysisRun, tmp_path: Path) -> None:
    package = export(study, tmp_path / "out")
    described = {resource["path"]: resource for resource in package["resources"]}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*described, "datapackage.json"}
    assert described.keys() == {
        "trials.csv", "trials.parquet", "predictions.csv", "predictions.parquet", "stimuli.csv", "stimuli.parquet",
        "findings.json", "coverage.json", "coverage.svg", "timing_certificate.json", "timing_certificate.svg",
    }  # fmt: skip
    for name, resource in described.items():
        content = (tmp_path / "out" / name).read_bytes()
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    columns = [field["name"] for field in described["trials.csv"]["schema"]["fields"]]
    assert columns == (tmp_path / "out/trials.csv").read_text().splitlines()[0].split(",")


def test_the_coverage_comes_beside_the_published_one(study: Study, analysed: AnalysisRun, tmp_path: Path) -> None:
    export(study, tmp_path)
    coverage = json.loads((tmp_path / "coverage.json").read_text())["functions"]
    stimuli = SCHEMAS["stimuli"].read(tmp_path / "stimuli.csv")
    corrupted = stimuli[stimuli["corruption"] != "none"]
    assert {name: one["n"] for name, one in coverage.items()} == corrupted["corruption"].value_counts().to_dict()
    figure = (tmp_path / "coverage.svg").read_text()
    assert "published" in figure
    assert "0.974" in figure


def test_the_timing_certificate_comes_with_the_answers(study: Study, analysed: AnalysisRun, tmp_path: Path) -> None:
    export(study, tmp_path)
    certificate = json.loads((tmp_path / "timing_certificate.json").read_text())
    trials = SCHEMAS["trials"].read(tmp_path / "trials.csv")
    assert certificate["study"] == study.slug and certificate["rule"] == "timing-2"
    assert certificate["all"]["trials"] == len(trials)
    assert set(certificate["participants"]) == set(trials["participant"])
    assert "within half a frame" in (tmp_path / "timing_certificate.svg").read_text()


@pytest.mark.parametrize("name", ["trials", "predictions", "stimuli"])
def test_csv_and_parquet_read_back_alike(study: Study, analysed: AnalysisRun, tmp_path: Path, name: str) -> None:
    export(study, tmp_path)
    csv, parquet = (SCHEMAS[name].read(tmp_path / f"{name}.{suffix}") for suffix in ("csv", "parquet"))
    assert csv.equals(parquet) and len(csv) > 0


def test_the_findings_can_be_computed_again_from_the_export(
    study: Study, analysed: AnalysisRun, tmp_path: Path
) -> None:
    from analysis.findings import analyse

    export(study, tmp_path)
    stored = json.loads((tmp_path / "findings.json").read_text())
    assert stored == selectors.findings(analysed)
    again = analyse(
        SCHEMAS["trials"].read(tmp_path / "trials.parquet"),
        SCHEMAS["predictions"].read(tmp_path / "predictions.parquet"),
        study=study.slug,
        seed=analysed.seed,
        n_bootstrap=analysed.n_bootstrap,
        sessions=stored["sessions"],
    )
    assert json.loads(json.dumps(again)) == stored


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
