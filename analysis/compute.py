"""Where long work runs: in this process, in child processes, or on a Dask cluster, by one setting.

Light on purpose: a child process imports this module first, and settles its number of threads before numpy is loaded.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from analysis.errors import ComputeUnavailable, InvalidInput, install

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from types import TracebackType

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

#: Read by the libraries under numpy and torch when they are loaded.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
#: So often a call is made again whose process has died; then it is the call that kills.
MOST_DEATHS = 4
#: While calls run, the caller hears from `run_in_order_of_completion` this often.
TICK_S = 0.25
_CLUSTER_WAIT_S = 10.0


class SerialExecutor(Executor):
    """Runs each call at once, in the thread that submits it.

    Linear algebra takes one thread meanwhile, as in a child process: with two, sums are rounded in another order.
    """

    #: calls worth submitting ahead
    in_flight = 1

    def __init__(self) -> None:
        self._closed = False

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Run the call; its outcome stands in the future that comes back."""
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[R] = Future()
        future.set_running_or_notify_cancel()
        from threadpoolctl import threadpool_limits

        try:
            with threadpool_limits(1, user_api="blas"):
                future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  an executor hands every outcome to its future
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Refuse further calls."""
        self._closed = True


class ProcessExecutor(Executor):
    """Child processes with one thread each; after one of them has died, the next call finds new ones.

    Left by an exception, it does not wait for what its children are doing: they end at once.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool, self._lifeline = self._start()

    @property
    def in_flight(self) -> int:
        """Calls worth submitting ahead: no child waits while the caller stores a result."""
        return 2 * self._workers

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Hand the call to a child."""
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except BrokenExecutor:
            self._lifeline.close()
            self._pool, self._lifeline = self._start()
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Refuse further calls; end the children when they have done what they were given."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            self._lifeline.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._lifeline.close()
        self.shutdown(wait=True, cancel_futures=error is not None)

    def _start(self) -> tuple[ProcessPoolExecutor, Connection]:
        from multiprocessing import get_context

        # Not fork: a child would inherit locks and connections in whatever state they are.
        context = get_context("spawn")
        ending, lifeline = context.Pipe(duplex=False)
        pool = ProcessPoolExecutor(
            max_workers=self._workers, mp_context=context, initializer=_start_child, initargs=(ending,)
        )
        return pool, lifeline


class DaskExecutor(Executor):
    """Calls on a Dask cluster, whose scheduler hands the calls of a dead worker to another one."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError as error:
            raise ComputeUnavailable(f"COMPUTE=dask: needs the package distributed: {install('cluster')}.") from error
        try:
            self._client = Client(address, timeout=_CLUSTER_WAIT_S)
        except (OSError, ValueError) as error:
            raise ComputeUnavailable(f"No Dask scheduler answers at {address}: {error}") from error
        try:
            self._client.wait_for_workers(1, timeout=_CLUSTER_WAIT_S)
        except TimeoutError as error:
            self._client.close()
            raise ComputeUnavailable(
                f"The Dask scheduler at {address} has no workers: start some (dask worker {address}), then try again."
            ) from error
        self._executor: Executor = self._client.get_executor(pure=False)

    @property
    def in_flight(self) -> int:
        """Calls worth submitting ahead, by the threads that the cluster has now."""
        threads: dict[str, int] = self._client.nthreads()
        return max(2, 2 * sum(threads.values()))

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Send the call to the cluster."""
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let go of the cluster, which stays up."""
        self._executor.shutdown(wait=wait and not cancel_futures)
        self._client.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.shutdown(cancel_futures=error is not None)


AnyExecutor = SerialExecutor | ProcessExecutor | DaskExecutor


def executor(setting: str) -> AnyExecutor:
    """Executor named by a setting.

    Parameters
    ----------
    setting : str
        ``serial``, ``processes`` (one a core), ``processes:<n>``, or ``dask:tcp://host:port``.

    Returns
    -------
    SerialExecutor, ProcessExecutor or DaskExecutor
        To be closed by the caller (``with``). ``in_flight`` says how many calls are worth submitting ahead.

    Raises
    ------
    InvalidInput
        If the setting is none of these.
    ComputeUnavailable
        If Dask is not installed, nobody answers, or the cluster has no workers.
    """
    kind, _, rest = setting.strip().partition(":")
    if kind == "serial" and not rest:
        return SerialExecutor()
    if kind == "processes":
        return _processes(setting, rest)
    if kind == "dask" and rest:
        return DaskExecutor(rest)
    raise InvalidInput(f"COMPUTE={setting} is not known: use serial, processes, processes:<n> or dask:tcp://host:port.")


def setting_for(setting: str, device: str) -> str:
    """Where networks on a device run: as the setting says on the processor, in this process on an accelerator.

    Child processes would each load every network into the memory of the one accelerator. A cluster's workers have
    their own.

    Parameters
    ----------
    setting : str
        As `executor` takes it.
    device : str
        ``cpu``, ``cuda`` or ``cuda:<n>``.
    """
    return setting if device == "cpu" or setting.strip().startswith("dask:") else "serial"


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def run_in_order_of_completion(
    pool: Executor,
    function: Callable[[T], R],
    arguments: Iterable[T],
    *,
    in_flight: int | None = None,
    tick: Callable[[], None] | None = None,
) -> Generator[R, None, None]:
    """Results of ``function`` over ``arguments``, as they come; arguments are taken when they are needed.

    When the consumer stops early, calls that have not begun are cancelled. A call whose process dies is made again.

    Parameters
    ----------
    pool : Executor
    function : callable
        Of one argument; both must travel to another process.
    arguments : iterable
        May be endless, or read from a database: no more than ``in_flight`` are held.
    in_flight : int, optional
        Submitted calls at once; by default as many as keep the executor busy.
    tick : callable, optional
        Called every `TICK_S` while calls run; what it raises ends the work.

    Raises
    ------
    ComputeUnavailable
        When a call has lost its process more than `MOST_DEATHS` times.
    """
    pending: dict[Future[R], tuple[T, int]] = {}
    queue = iter(arguments)
    again: list[tuple[T, int]] = []
    is_exhausted = False
    try:
        while True:
            most = in_flight if in_flight is not None else getattr(pool, "in_flight", 2)
            while len(pending) < most and (again or not is_exhausted):
                if again:
                    argument, deaths = again.pop()
                else:
                    try:
                        argument, deaths = next(queue), 0
                    except StopIteration:
                        is_exhausted = True
                        break
                pending[pool.submit(function, argument)] = argument, deaths
            if not pending:
                return
            finished, _ = wait(pending, timeout=TICK_S if tick else None, return_when=FIRST_COMPLETED)
            for future in finished:
                argument, deaths = pending.pop(future)
                try:
                    result = future.result()
                except _process_deaths() as error:
                    if deaths == MOST_DEATHS:
                        raise ComputeUnavailable(
                            f"The process that did a piece of this work died {deaths + 1} times. If memory ran out, "
                            "take fewer processes (COMPUTE=processes:1); then start again: what is done stays done."
                        ) from error
                    again.append((argument, deaths + 1))
                    continue
                yield result
            if tick:
                tick()
    finally:
        for future in pending:
            future.cancel()


def _process_deaths() -> tuple[type[BaseException], ...]:
    """Errors that speak of a lost process, not of the call."""
    scheduler = sys.modules.get("distributed.scheduler")
    return (BrokenExecutor, scheduler.KilledWorker) if scheduler else (BrokenExecutor,)


def _processes(setting: str, rest: str) -> ProcessExecutor:
    if rest and not (rest.isdecimal() and int(rest) > 0):
        raise InvalidInput(f"COMPUTE={setting}: the number of processes must be a whole number from 1.")
    return ProcessExecutor(int(rest) if rest else available_cores())


def _start_child(ending: Connection) -> None:
    """One thread a process, deaf to Ctrl-C (the parent decides), and no life after the parent's."""
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = "1"
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    import cv2

    cv2.setNumThreads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(ending,), daemon=True).start()


def _end_with(ending: Connection) -> None:
    """Wait until the other end of the pipe is closed: by the executor, or by the death of its process."""
    ending.poll(None)
    os._exit(1)
