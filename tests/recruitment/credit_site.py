"""A site that grants course credit, as a server of its own over HTTP: it answers what a test tells it to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

PATH = "/services/SonaAPI.svc/WebstudyCredit"
NAMESPACE = 'xmlns="http://schemas.datacontract.org/2004/07/emsdotnet.sonasystems"'
GRANTED = f"<Answer {NAMESPACE}><Errors/><Result><credit_status>G</credit_status></Result></Answer>"
ALREADY = f"<Answer {NAMESPACE}><Errors><Error>Credit was already granted.</Error></Errors><Result/></Answer>"
REFUSED = f"<Answer {NAMESPACE}><Errors><Error>No sign-up for {{person}} with {{token}}.</Error></Errors></Answer>"
#: Entities that grow to gigabytes.
BOMB = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><Answer><credit_status>&c;G</credit_status></Answer>'


@dataclass
class CreditSite:
    """What it does next, and what it was asked."""

    address: str = ""
    answer: str = GRANTED
    status: int = 200
    #: the connection is cut after the credit was given
    loses_answer: bool = False
    calls: list[dict[str, str]] = field(default_factory=list)
    credited: list[str] = field(default_factory=list)


@contextmanager
def credit_site() -> Iterator[CreditSite]:
    site = CreditSite()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = dict(parse_qsl(parts.query))
            site.calls.append(asked)
            person = asked.get("survey_code", "")
            is_new = person not in site.credited
            if parts.path == PATH and site.answer == GRANTED and is_new:
                site.credited.append(person)
            if site.loses_answer:
                self.close_connection = True
                self.connection.close()
                return
            answer = site.answer if is_new or site.answer != GRANTED else ALREADY
            body = answer.replace("{person}", person).replace("{token}", asked.get("credit_token", "")).encode()
            self.send_response(site.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
