"""What stands before two web machines: each request goes to the next of them, and past one that does not answer."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.limits import LIMIT

_OF_THE_CONNECTION = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})


class Balancer:
    """Its address stays; the machines behind it may change."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.machines: list[str] = []
        #: replies by machine
        self.answered: Counter[str] = Counter()
        self._turn = itertools.count()

    def order(self) -> list[str]:
        start = next(self._turn) % len(self.machines)
        return self.machines[start:] + self.machines[:start]


@contextmanager
def balanced() -> Iterator[Balancer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.daemon_threads = True
    balancer = Balancer(server.server_port)
    server.RequestHandlerClass = _handler(balancer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield balancer
    finally:
        server.shutdown()
        server.server_close()


def _handler(balancer: Balancer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            for machine in balancer.order():
                address = urlsplit(machine)
                upstream = http.client.HTTPConnection(address.hostname or "", address.port, timeout=LIMIT)
                try:
                    upstream.request(self.command, self.path, body or None, dict(self.headers))
                    reply = upstream.getresponse()
                    content = reply.read()
                except ConnectionRefusedError:  # nothing has reached it
                    continue
                except (OSError, http.client.HTTPException):
                    self.send_error(502)
                    return
                finally:
                    upstream.close()
                balancer.answered[machine] += 1
                self.send_response(reply.status)
                for name, value in reply.getheaders():
                    if name.lower() not in _OF_THE_CONNECTION:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                with contextlib.suppress(ConnectionError):  # the browser has gone elsewhere
                    self.end_headers()
                    self.wfile.write(content)
                return
            self.send_error(502)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any

        def log_message(self, *_: object) -> None:
            """Nothing."""

    return Handler
