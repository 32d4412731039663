"""Where long work runs: in this process, in child processes, or on a Dask cluster, by one setting.

Light on purpose: a child process imports this module first, and settles its number of threads before numpy is loaded.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from typing import Any, ParamSpec, TypeVar

from analysis.errors import ComputeUnavailable, InvalidInput

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

#: Read by the libraries under numpy and torch when they are loaded.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class SerialExecutor(Executor):
    """Runs each call at once, in the thread that submits it."""

    def __init__(self) -> None:
        self._closed = False

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Run the call; its outcome stands in the future that comes back."""
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[R] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  an executor hands every outcome to its future
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Refuse further calls."""
        self._closed = True


class DaskExecutor(Executor):
    """Calls on a Dask cluster; a call whose worker dies is made again, twice."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise ComputeUnavailable(
                "COMPUTE=dask: needs the package distributed: pip install -r requirements/cluster.txt."
            ) from error
        try:
            self._client = Client(address, timeout=10)
        except (OSError, ValueError) as error:
            raise ComputeUnavailable(f"No Dask scheduler answers at {address}: {error}") from error
        self._executor: Executor = self._client.get_executor(retries=2)

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Send the call to the cluster."""
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let go of the cluster, which stays up."""
        self._executor.shutdown(wait=wait, cancel_futures=cancel_futures)
        self._client.close()


def executor(setting: str) -> Executor:
    """Executor named by a setting.

    Parameters
    ----------
    setting : str
        ``serial``, ``processes`` (one a core), ``processes:<n>``, or ``dask:tcp://host:port``.

    Returns
    -------
    concurrent.futures.Executor
        To be closed by the caller (``with``).

    Raises
    ------
    InvalidInput
        If the setting is none of these.
    ComputeUnavailable
        If Dask is not installed, or nobody answers.
    """
    kind, _, rest = setting.strip().partition(":")
    if kind == "serial" and not rest:
        return SerialExecutor()
    if kind == "processes":
        return _processes(setting, rest)
    if kind == "dask" and rest:
        return DaskExecutor(rest)
    raise InvalidInput(f"COMPUTE={setting} is not known: use serial, processes, processes:<n> or dask:tcp://host:port.")


def worker_count(setting: str) -> int:
    """Calls that run at the same time under a setting; shards in flight are kept to a small multiple of it."""
    kind, _, rest = setting.strip().partition(":")
    if kind == "serial":
        return 1
    if kind == "processes" and rest.isdecimal():
        return max(1, int(rest))
    return available_cores() if kind == "processes" else 64


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def run_in_order_of_completion(
    pool: Executor, function: Callable[[T], R], arguments: Iterable[T], *, in_flight: int
) -> Generator[R, None, None]:
    """Results of ``function`` over ``arguments``, as they come; never more than ``in_flight`` submitted calls at once.

    When the consumer stops early, calls that have not begun are cancelled.
    """
    pending: set[Future[R]] = set()
    queue = iter(arguments)
    try:
        while True:
            while len(pending) < in_flight:
                try:
                    argument = next(queue)
                except StopIteration:
                    break
                pending.add(pool.submit(function, argument))
            if not pending:
                return
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()
    finally:
        for future in pending:
            future.cancel()


def _processes(setting: str, rest: str) -> ProcessPoolExecutor:
    from multiprocessing import get_context

    if rest and not (rest.isdecimal() and int(rest) > 0):
        raise InvalidInput(f"COMPUTE={setting}: the number of processes must be a whole number from 1.")
    # Not fork: a child would inherit locks and connections in whatever state they are.
    return ProcessPoolExecutor(
        max_workers=int(rest) if rest else available_cores(), mp_context=get_context("spawn"), initializer=_start_child
    )


def _start_child() -> None:
    """One thread a process, deaf to Ctrl-C (the parent decides), and no life after the parent's."""
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = "1"
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    import cv2

    cv2.setNumThreads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    from multiprocessing import parent_process

    parent: Any = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
