from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from analysis.compute import (
    MOST_DEATHS,
    SerialExecutor,
    available_cores,
    executor,
    run_in_order_of_completion,
    setting_for,
)
from analysis.errors import ComputeUnavailable, InvalidInput
from tests.limits import LIMIT, until

ROOT = Path(__file__).parents[2]


def _double(number: int) -> int:
    return 2 * number


def _threads_of_this_child(_: int) -> tuple[int, int, str, str]:
    import cv2

    return os.getpid(), cv2.getNumThreads(), os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"]


def _fail(number: int) -> int:
    raise ValueError(f"shard {number}")


@pytest.mark.process
@pytest.mark.parametrize("setting", ["serial", "processes:2"])
def test_results_are_those_of_the_function(setting: str) -> None:
    with executor(setting) as pool:
        assert sorted(run_in_order_of_completion(pool, _double, range(9), in_flight=3)) == list(range(0, 18, 2))


@pytest.mark.process
@pytest.mark.parametrize("setting", ["serial", "processes:1"])
def test_an_error_in_a_call_reaches_the_caller(setting: str) -> None:
    with executor(setting) as pool, pytest.raises(ValueError, match=r"shard \d"):
        list(run_in_order_of_completion(pool, _fail, range(4), in_flight=2))


@pytest.mark.process
def test_children_are_other_processes_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM"):
        monkeypatch.setenv(name, "2")
    with executor("processes:1") as pool:
        pid, opencv, openblas, omp = pool.submit(_threads_of_this_child, 0).result()
    assert pid != os.getpid()
    assert (opencv, openblas, omp) == (1, "1", "1")


def test_serial_runs_here_and_at_once() -> None:
    pool = executor("serial")
    future = pool.submit(os.getpid)
    assert future.done()
    assert future.result() == os.getpid()
    pool.shutdown()
    with pytest.raises(RuntimeError, match="shutdown"):
        pool.submit(os.getpid)


class _Hesitant(SerialExecutor):
    """Holds its calls until the caller waits, and remembers how many it held."""

    def __init__(self) -> None:
        super().__init__()
        self.submitted = 0

    def submit(self, fn, /, *args, **kwargs):  # noqa: ANN001, ANN002, ANN003, ANN202
        self.submitted += 1
        return super().submit(fn, *args, **kwargs)


def test_no_more_than_the_allowed_calls_are_submitted_ahead() -> None:
    pool = _Hesitant()
    results = run_in_order_of_completion(pool, _double, iter(range(1000)), in_flight=4)
    next(results)
    assert pool.submitted == 4
    results.close()
    assert pool.submitted == 4


def test_calls_that_have_not_begun_are_cancelled_when_the_caller_stops() -> None:
    waiting: list[Future[int]] = []

    class Never(SerialExecutor):
        def submit(self, fn, /, *args, **kwargs):  # noqa: ANN001, ANN002, ANN003, ANN202
            if not waiting:
                waiting.append(Future())
                return super().submit(fn, *args, **kwargs)
            waiting.append(Future())
            return waiting[-1]

    results = run_in_order_of_completion(Never(), _double, range(3), in_flight=3)
    assert next(results) == 0
    results.close()
    assert all(future.cancelled() for future in waiting[1:])


@pytest.mark.parametrize("setting", ["", "threads", "serial:2", "processes:0", "processes:two", "dask", "dask:"])
def test_unknown_settings_are_refused(setting: str) -> None:
    with pytest.raises(InvalidInput, match="COMPUTE="):
        executor(setting)


def test_dask_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ComputeUnavailable, match="requirements/cluster.txt"):
        executor("dask:tcp://127.0.0.1:1")


def test_as_many_calls_are_in_flight_as_keep_the_executor_busy() -> None:
    for setting, expected in (("serial", 1), ("processes:3", 6), ("processes", 2 * available_cores())):
        with executor(setting) as pool:
            assert pool.in_flight == expected


def _die_once(path: str) -> str:
    """The first call kills its process; later ones, and those of other paths, live."""
    if path.endswith("fatal"):
        marker = Path(path)
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return path


def _die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@pytest.mark.process
def test_calls_of_a_killed_child_are_made_again(tmp_path: Path) -> None:
    wanted = [str(tmp_path / name) for name in ("a", "b-fatal", "c", "d-fatal", "e")]
    with executor("processes:2") as pool:
        assert sorted(run_in_order_of_completion(pool, _die_once, wanted)) == wanted


@pytest.mark.process
def test_a_call_that_always_kills_its_process_ends_in_a_sentence() -> None:
    with (
        executor("processes:1") as pool,
        pytest.raises(ComputeUnavailable, match=f"died {MOST_DEATHS + 1} times.*COMPUTE=processes:1"),
    ):
        list(run_in_order_of_completion(pool, _die, [1]))


def _sleep_between_files(folder: str) -> None:
    (Path(folder) / "begun").touch()
    time.sleep(LIMIT)
    (Path(folder) / "ended").touch()


@pytest.mark.process
def test_what_is_asked_while_waiting_can_end_the_work_at_once(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop() -> None:
        if (tmp_path / "begun").exists():
            raise Stopped

    with pytest.raises(Stopped), executor("processes:1") as pool:
        list(run_in_order_of_completion(pool, _sleep_between_files, [str(tmp_path)] * 2, tick=stop))
    assert not (tmp_path / "ended").exists(), "nobody waited for the call"


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to look at processes")
def test_children_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, time\n"
        "from analysis.compute import executor\n"
        "if __name__ == '__main__':\n"
        "    pool = executor('processes:2')\n"
        "    print(*{pool.submit(os.getpid).result() for _ in range(4)}, flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as parent:
        children = [int(pid) for pid in parent.stdout.readline().split()]
        assert children
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    until(lambda: not any(_alive(pid) for pid in children), "the children have ended")


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("setting", "device", "expected"),
    [
        ("processes", "cpu", "processes"),
        ("processes:2", "cuda", "serial"),
        ("processes", "cuda:1", "serial"),
        ("serial", "cuda", "serial"),
        ("dask:tcp://host:8786", "cuda", "dask:tcp://host:8786"),
    ],
)
def test_networks_on_an_accelerator_are_loaded_once(setting: str, device: str, expected: str) -> None:
    assert setting_for(setting, device) == expected
