"""The real command in processes of its own: killed, it goes on; with ten times the stimuli, it takes no more memory."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.limits import LIMIT
from tests.stimuli.killing import end_lease, program, rows, run

SPEC = "python:tests.evaluations.many_stimuli:make_deadly"
#: Budget of the design, between 1,000 and 10,000 pictures.
MOST_MB = 30.0


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    media = tmp_path_factory.mktemp("many") / "media"
    run(media, "migrate", "-v0", compute="serial")
    for name, number in (("few", 1000), ("many", 10_000)):
        made = program(media, "-m", "tests.evaluations.many_stimuli", name, str(number), compute="serial")
        subprocess.run(**made, check=True, timeout=LIMIT)
    return media


def evaluate(media: Path, name: str, **environment: str) -> tuple[int, float]:
    """Exit status, and peak of resident memory in MB."""
    arguments = program(
        media, "manage.py", "evaluate", "--stimuli", name, "--classifier", SPEC, "--name", "deadly", compute="serial"
    )
    arguments["env"] = {**arguments["env"], **environment}  # type: ignore[dict-item]
    arguments |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(**arguments)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss / 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is told in kilobytes on Linux alone")
def test_memory_does_not_grow_with_the_number_of_stimuli(media: Path) -> None:
    (_, few), (status, many) = evaluate(media, "few"), evaluate(media, "many")
    assert status == 0
    sys.stdout.write(f"peak memory: {few:.1f} MB for 1,000 stimuli, {many:.1f} MB for 10,000\n")  # shown by -s
    assert many - few < MOST_MB


@pytest.mark.slow
def test_a_killed_evaluation_goes_on_from_its_finished_shards(media: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(media, tmp_path / "media"))
    (copy / "batches.log").unlink(missing_ok=True)
    status, _ = evaluate(copy, "few", DIES_AT="13")  # rehearsal, 8 batches of the first shard, 4 of the second
    assert status == -signal.SIGKILL
    assert len(list((copy / "evaluations").rglob("part-*.parquet"))) == 1
    assert rows(copy, "SELECT state FROM jobs_job ORDER BY id DESC LIMIT 1") == [("running",)]
    before = (copy / "batches.log").read_text().splitlines()
    end_lease(copy)
    assert evaluate(copy, "few")[0] == 0
    assert rows(copy, "SELECT state, attempt FROM jobs_job ORDER BY id DESC LIMIT 1") == [("done", 2)]
    after = (copy / "batches.log").read_text().splitlines()[len(before) :]
    assert sum(map(int, after)) == 1 + (1000 - 512)  # the rehearsal, and the shard that was not finished
    # The measurement of memory may have made others in the folder that was copied.
    ((file,),) = rows(
        copy,
        "SELECT predictions_file FROM evaluations_evaluationrun WHERE name = 'deadly' AND stimulus_set_id = "
        "(SELECT id FROM stimuli_stimulusset WHERE name = 'few')",
    )
    table = pd.read_parquet(copy / file)
    assert table["stimulus"].tolist() == [f"s{row:06}" for row in range(1000)]
