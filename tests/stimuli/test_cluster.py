"""The same stimuli from one process, from two, and from a Dask cluster that loses a worker on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from analysis.compute import executor, run_in_order_of_completion
from analysis.errors import ComputeUnavailable
from analysis.generation.plan import plan_stimuli
from analysis.generation.shards import PilotShard, cut_into_shards, fit_pilot_shard, generate_shard
from humanexp.stimuli.models import SourceSet
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generated_sets import make_stimuli, verify_stimuli
from humanexp.stimuli.services.generation import create_stimulus_set
from tests.analysis.generation.originals import write_originals
from tests.limits import LIMIT, until

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
FUNCTIONS = ("gaussian_noise", "gaussian_blur", "uniform_noise")
SIZE_PX = 112

pytest.importorskip("distributed")


@contextmanager
def python(*arguments: str, **environment: str) -> Iterator[subprocess.Popen]:
    """A Python process that ends with the test."""
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


SCHEDULER = """
import asyncio
from distributed import Scheduler
async def serve():
    async with Scheduler(host="127.0.0.1", port=0, dashboard_address="127.0.0.1:0") as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()
asyncio.run(serve())
"""
WORKER = """
import asyncio, sys
from distributed import Worker
async def serve():
    address, folder = sys.argv[1:]
    async with Worker(address, nthreads=1, host="127.0.0.1", local_directory=folder) as worker:
        print(worker.address, flush=True)
        await worker.finished()
asyncio.run(serve())
"""


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    with python("-c", SCHEDULER) as scheduler:
        address = scheduler.stdout.readline().strip()
        assert address.startswith("tcp://")
        with (
            python("-c", WORKER, address, str(folder / "one"), PYTHONHASHSEED="1") as one,
            python("-c", WORKER, address, str(folder / "two"), PYTHONHASHSEED="2") as two,
        ):
            for worker in (one, two):
                assert worker.stdout.readline().startswith("tcp://")
            yield f"dask:{address}", [one, two]


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory):  # noqa: ANN201
    return write_originals(tmp_path_factory.mktemp("originals"), {"cat": 4, "dog": 4})


@pytest.fixture(scope="module")
def pilots(originals):  # noqa: ANN001, ANN201
    return {name: fit_pilot_shard(PilotShard(name, tuple(originals[:3]), SIZE_PX, 1)) for name in FUNCTIONS}


def shards_into(folder: Path, originals, pilots, count: int = 60):  # noqa: ANN001, ANN201
    plan = plan_stimuli(originals, pilots, corruptions=FUNCTIONS, count=count, seed=3, size_px=SIZE_PX)
    return list(cut_into_shards(plan, pilots, size_px=SIZE_PX, folder=folder))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.png")}


def made(setting: str, shards) -> dict[str, dict]:  # noqa: ANN001
    with executor(setting) as pool:
        outcomes = run_in_order_of_completion(pool, generate_shard, shards)
        return {row["stimulus"]: row for outcome in outcomes for row in outcome.rows}


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory, originals, pilots):  # noqa: ANN001, ANN201
    folder = tmp_path_factory.mktemp("serial")
    return made("serial", shards_into(folder, originals, pilots)), contents(folder)


def test_two_processes_make_the_same_in_another_order(originals, pilots, serial, tmp_path: Path) -> None:  # noqa: ANN001
    shards = shards_into(tmp_path, originals, pilots)
    assert made("processes:2", [*shards[1::2], *reversed(shards[::2])]) == serial[0]
    assert contents(tmp_path) == serial[1]


def test_a_cluster_that_loses_a_worker_makes_the_same(originals, pilots, serial, tmp_path: Path) -> None:  # noqa: ANN001
    shards = shards_into(tmp_path / "made", originals, pilots)
    with cluster(tmp_path) as (setting, workers), executor(setting) as pool:
        assert pool.in_flight == 4
        outcomes = run_in_order_of_completion(pool, generate_shard, shards)
        rows = {row["stimulus"]: row for row in next(outcomes).rows}
        workers[0].send_signal(signal.SIGKILL)
        rows |= {row["stimulus"]: row for outcome in outcomes for row in outcome.rows}
        until(lambda: pool.in_flight == 2, "the loss is noticed")
    assert workers[0].returncode is not None or workers[0].poll() is not None
    assert rows == serial[0]
    assert contents(tmp_path / "made") == serial[1]


ELSEWHERE = """
import pickle, sys
from pathlib import Path
from analysis.generation.shards import generate_shard
shards = pickle.loads(Path(sys.argv[1]).read_bytes())
rows = [row for shard in shards for row in generate_shard(shard).rows]
Path(sys.argv[1]).write_bytes(pickle.dumps(rows))
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_new_process_with_another_hash_seed_makes_the_same(threads: str, originals, pilots, serial, tmp_path) -> None:  # noqa: ANN001
    import pickle

    exchange = tmp_path / "exchange"
    exchange.write_bytes(pickle.dumps(shards_into(tmp_path / "made", originals, pilots)[::-1]))
    with python(
        "-c", ELSEWHERE, str(exchange), PYTHONHASHSEED="77", OPENBLAS_NUM_THREADS=threads, OMP_NUM_THREADS=threads
    ) as elsewhere:
        told = elsewhere.communicate(timeout=LIMIT)[0]
        assert elsewhere.returncode == 0, told
    rows = pickle.loads(exchange.read_bytes())  # noqa: S301
    assert {row["stimulus"]: row for row in rows} == serial[0]
    assert contents(tmp_path / "made") == serial[1]


def test_a_scheduler_without_workers_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.compute._CLUSTER_WAIT_S", 2.0)
    with python("-c", SCHEDULER) as scheduler:
        address = scheduler.stdout.readline().strip()
        with pytest.raises(ComputeUnavailable, match="has no workers: start some"):
            executor(f"dask:{address}")
    with pytest.raises(ComputeUnavailable, match="No Dask scheduler answers"):
        executor("dask:tcp://127.0.0.1:9")


@pytest.mark.process
@pytest.mark.django_db
def test_a_job_on_a_cluster_outlives_a_worker(source_set: SourceSet, settings, tmp_path: Path) -> None:  # noqa: ANN001
    wanted = {"corruptions": list(FUNCTIONS), "count": 60, "seed": 3, "size_px": SIZE_PX, "source_set": source_set}
    here = create_stimulus_set(Described(name="here", **wanted))
    make_stimuli(here, lambda done, total, message="": None)
    there = create_stimulus_set(Described(name="there", **wanted))
    with cluster(tmp_path) as (settings.COMPUTE, workers):

        def kill_one(done: int, total: int, message: str = "") -> None:
            if done > 30:
                workers[1].send_signal(signal.SIGKILL)

        assert make_stimuli(there, kill_one) == 3 * 60 + 8
        assert workers[1].poll() is not None
        found = verify_stimuli(there)
    columns = ("key", "source_image", "parameter", "seed", "visual_change", "evaluations", "sha256")
    assert set(there.stimuli.values_list(*columns)) == set(here.stimuli.values_list(*columns))
    assert found.passed
    assert found.stimuli.identical == found.manifest_rows == 3 * 60 + 8
    assert there.coverage == here.coverage
