"""A sender that stands still between looking for its study and drafting it publishes no twin of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from humanexp.recruitment import services
from humanexp.recruitment.models import HitWrite
from humanexp.recruitment.recruiters import recruiter_for
from humanexp.recruitment.recruiters.base import OfferOrder, WayBackCode
from humanexp.recruitment.recruiters.tickets import Outcome
from humanexp.recruitment.services.deliveries.hits import entry_url, terms_of
from humanexp.studies.models import Study
from tests.limits import LIMIT
from tests.panel.server import Lab, PanelServer


class Halt:
    """Stands before the panel, and holds the first draft until somebody else has done their work."""

    def __init__(self, url: str) -> None:
        self.meanwhile: Callable[[], object] | None = None
        host, _, port = url.removeprefix("http://").partition(":")
        halt = self

        class Passing(BaseHTTPRequestHandler):
            def pass_on(self) -> None:
                if self.command == "POST" and self.path.rstrip("/").endswith("/studies") and halt.meanwhile:
                    work, halt.meanwhile = halt.meanwhile, None
                    work()
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                there = HTTPConnection(host, int(port), timeout=LIMIT)
                there.request(self.command, self.path, body, {**self.headers, "Host": f"{host}:{port}"})
                reply = there.getresponse()
                content = reply.read()
                self.send_response(reply.status)
                for name, value in reply.getheaders():
                    if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                there.close()

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = pass_on

            def log_message(self, format: str, *args: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Passing)
        self.url = f"http://localhost:{self.server.server_port}"


@pytest.fixture
def halt(panel: PanelServer) -> Iterator[Halt]:
    made = Halt(panel.url)
    threading.Thread(target=made.server.serve_forever, daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_a_sender_stopped_between_looking_and_drafting_publishes_no_twin(
    lab: Lab, halt: Halt, study: Study, settings: Any
) -> None:
    terms = services.LaunchTerms(
        to="panel", assignments=2, reward_cents=120, title="Pictures halted", estimated_minutes=5
    )
    campaign = services.publish(study=study, terms=terms)
    write = HitWrite.objects.get()
    other = recruiter_for("panel")
    order = OfferOrder(
        terms_id=lab.project_id,
        places=2,
        lifetime_s=campaign.lifetime_s,
        url=entry_url(campaign),
        annotation=write.annotation,
        token=write.token,
        terms=terms_of(campaign, other),
        codes=tuple(
            WayBackCode(outcome=Outcome(row.outcome), code=row.code, is_reviewed=row.action == "review")
            for row in campaign.outcome_codes.all()
        ),
        most_cents=write.cost_cents,
    )
    settings.PANEL_URL = halt.url
    stopped = recruiter_for("panel")
    published: list[str] = []
    halt.meanwhile = lambda: published.append(other.publish(order))
    assert [stopped.publish(order)] == published
    there = [one for one in lab.get(f"projects/{lab.project_id}/studies/")["results"] if one["id"]]
    assert [one["id"] for one in there if one["internal_name"] == write.annotation] == published
