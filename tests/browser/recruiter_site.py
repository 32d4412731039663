"""A recruiter's page on another site: shows a study in a frame and takes its final form, as MTurk does."""

from __future__ import annotations

import html
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

_PAGE = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Work</title>
<style>body{{margin:0}}iframe{{display:block;width:100%;height:100vh;border:0}}</style>
<iframe name="work" title="Work" {sandbox} allow="fullscreen" src="{src}"></iframe>"""
#: Who works there. Long: nothing random that is looked through for it, as a token is, contains it by chance.
WORKER = "W5F0C0FFEE0DDBA11"
#: What a frame may do where windows are blocked.
NO_WINDOWS = "allow-scripts allow-same-origin allow-forms"


@dataclass
class RecruiterSite:
    address: str
    #: forms that arrived at /mturk/externalSubmit, in order
    submitted: list[dict[str, str]] = field(default_factory=list)

    def page(self, entry_url: str, *, assignment_id: str = "A1", worker_id: str = WORKER, windows: bool = True) -> str:
        """Address of a page with the study in its frame."""
        query = urlencode(
            {"assignmentId": assignment_id, "hitId": "H1", "workerId": worker_id, "turkSubmitTo": self.address}
        )
        return f"{self.address}/?{urlencode({'src': f'{entry_url}?{query}', 'windows': int(windows)})}"


@contextmanager
def running(context: ssl.SSLContext | None = None) -> Iterator[RecruiterSite]:
    """At localhost: another site than 127.0.0.1. With a certificate's context, over HTTPS."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            sandbox = "" if query.get("windows", "1") == "1" else f'sandbox="{NO_WINDOWS}"'
            self._reply(_PAGE.format(sandbox=sandbox, src=html.escape(query.get("src", ""))))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            if urlsplit(self.path).path == "/mturk/externalSubmit":
                site.submitted.append({name: values[0] for name, values in parse_qs(body).items()})
            self._reply("<!doctype html><title>Submitted</title><h1>Your work has been submitted</h1>")

        def _reply(self, text: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        # A browser breaks its first call off before it takes a certificate that nobody knows.
        server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
    scheme = "http" if context is None else "https"
    site = RecruiterSite(address=f"{scheme}://localhost:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
