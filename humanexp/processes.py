"""How processes run: the marketplace and the panel, Django projects served by waitress, and the end of a child.

A process that another one started ends with it, however that one went: nobody is left to end it later. Whoever starts
one puts its own number into the environment (`bound`); the child's entry looks after it (`watch`). A server that was
started by hand or by the system has no such variable, and watches nobody.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

#: Threads that answer; writers queue at the database anyway.
_THREADS = 12
#: A browser keeps up to six connections open between its calls: hundreds of people are thousands of idle ones.
_CONNECTIONS = 8_192
#: Files that a process needs beside its connections.
_OTHER_FILES = 128

#: What both projects ask of SQLite.
SQLITE_OPTIONS = {
    # A writer takes its lock at BEGIN, so two of them queue instead of failing half-way.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    # FULL: what was acknowledged is on the disk.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
}


def listen(
    application: Callable[..., Any], *, name: str, host: str, port: int, largest_body: int, beside: Callable[[], None]
) -> None:
    """Answer until told to stop. One line says when the site is ready; `beside` runs in a thread from then on."""
    from waitress.server import create_server

    server = create_server(
        application,
        host=host,
        port=port,
        threads=_THREADS,
        connection_limit=_connection_limit(),
        asyncore_use_poll=True,  # select() knows no file above 1,023
        max_request_body_size=largest_body,
        ident=name,
        # Whether a proxy's headers are believed, the settings decide; thrown away here, nobody could believe them.
        clear_untrusted_proxy_headers=False,
    )
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _stop)
    # "localhost" may be two sockets, one for each family.
    taken = server.effective_listen[0][1] if hasattr(server, "effective_listen") else server.effective_port
    sys.stdout.write(f"{name} ready at http://{f'[{host}]' if ':' in host else host}:{taken}\n")
    sys.stdout.flush()
    threading.Thread(target=beside, name="beside", daemon=True).start()
    server.run()


def _connection_limit() -> int:
    """As many connections as we want or the system lets us have; a server at its limit answers nobody new."""
    wanted = _CONNECTIONS + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted - _OTHER_FILES


def _stop(signal_number: int, frame: Any) -> None:
    raise SystemExit(0)


def add_arguments(parser: argparse.ArgumentParser, *, port: int) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    parser.add_argument("--port", type=int, default=port, help="0 takes a free one")


def become(site: str, *, host: str, port: int) -> NoReturn:
    """Turn this process into that site: another Django project needs a fresh interpreter with settings of its own."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": f"{site}.settings"}
    arguments = ["-m", f"{site}.serve", "--host", host, "--port", str(port)]
    os.execve(sys.executable, [sys.executable, *arguments], environment)  # noqa: S606


VARIABLE = "HUMANEXP_PARENT"
#: Between two looks.
_EVERY_S = 0.5
#: A process that was told to end, and could not, is ended after so long.
_PATIENCE_S = 30.0


def bound(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child that is to end with this process."""
    return {**environment, VARIABLE: str(os.getpid())}


def watch() -> None:
    """From now on, end as by SIGTERM when the process that started this one is gone."""
    named = os.environ.get(VARIABLE, "")
    if not named.isdecimal() or int(named) in (0, os.getpid()):
        return
    threading.Thread(target=_end_with, args=(_life_of(int(named)),), name="parent", daemon=True).start()


def _life_of(parent: int) -> Callable[[], bool]:
    """Of a direct parent the system tells the end; a shell between the two is passed over."""
    if os.getppid() == parent:
        return lambda: os.getppid() == parent
    return lambda: _is_there(parent)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _end_with(lives: Callable[[], bool]) -> None:
    while lives():
        time.sleep(_EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE_S)
    os._exit(1)
