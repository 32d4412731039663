"""A small study of real rows: pictures without files, a planned study, and people who answer it through the API."""

from __future__ import annotations

import copy
import json
import secrets
from typing import Any

from django.test import Client

from analysis.labels.files import default_labels
from analysis.study.design import DesignConfig
from analysis.study.study import StudyConfiguration
from humanexp.core.storage import media_path, write_whole
from humanexp.participation.models import Session
from humanexp.participation.sessions import session_for_token
from humanexp.recruiters.models import Campaign
from humanexp.stimuli.models import StimulusSet
from humanexp.studies import services
from humanexp.studies.models import Protocol, Study, StudyFamily
from tests.factories import make_stimulus_set, no_png

ORIGINALS = 4  # of each category
LEASE = "0123456789abcdef"
DESIGN = DesignConfig(
    sessions=24,
    main_trials=2,
    minimum_main_trials=1,
    practice_trials=0,
    gold_trials=0,
    negative_trials=0,
    consistency_pairs=0,
    clean_trials=1,
    clean_answers=1,
)


#: Studies made before, by their arguments: planning one takes longer than most tests.
_made: dict[str, tuple[Study, bytes]] = {}


def make_study(slug: str = "noise", **settings: Any) -> Study:
    """A study of three trials a session, planned by the product's own planner, once in a test run."""
    name = repr((slug, sorted(settings.items())))
    if name not in _made:
        made = _plan_study(slug, **settings)
        _made[name] = made, media_path(made.plan_file).read_bytes()
        return Study.objects.get(slug=slug)
    return _copy(*_made[name])


def _copy(made: Study, plan: bytes) -> Study:
    """A study from an earlier test: its rows with keys of this database, and its plan among the files of this test."""
    write_whole(media_path(made.plan_file), plan)
    assert made.protocol is not None
    family, _ = StudyFamily.objects.get_or_create(slug=made.family.slug)
    protocol, _ = Protocol.objects.get_or_create(
        digest=made.protocol.digest,
        defaults={"name": made.protocol.name, "configuration": made.protocol.configuration},
    )
    study = copy.copy(made)
    study.pk, study._state.adding = None, True
    study.family, study.protocol, study.stimulus_set = family, protocol, _stimulus_set(made.slug)
    study.save()
    return Study.objects.get(pk=study.pk)


def _plan_study(slug: str, *, population: str = "people", design: DesignConfig = DESIGN, **settings: Any) -> Study:
    configuration = StudyConfiguration(
        title=f"Pictures in noise ({slug})",
        slug=slug,
        stimuli=_stimulus_set(slug).name,
        population=population,
        design=design,
        rules="none",
        **settings,
    )
    made = services.create_study(configuration=configuration)
    return Study.objects.select_related("family", "protocol").get(pk=made.pk)


def _stimulus_set(name: str) -> StimulusSet:
    """Rows alone, one corrupted picture of every original."""
    return make_stimulus_set(
        name,
        per_category=ORIGINALS,
        per_function=ORIGINALS * len(default_labels().ids),
        functions=["gaussian_noise"],
        plain=(),
        size_px=224,
        picture=no_png,
    )


class Visitor:
    """A browser at the entry page and in the study's window, without cookies."""

    def __init__(
        self, campaign: Campaign, *, worker_id: str = "", assignment_id: str = "", submit_to: str = ""
    ) -> None:
        self.http = Client()
        self.campaign = campaign
        self.person = {"workerId": worker_id, "assignmentId": assignment_id, "turkSubmitTo": submit_to}
        self.token = ""
        #: made at random by the page: it may repeat its call
        self.opening = secrets.token_hex(16)

    def get(self, **query: str) -> Any:
        return self.http.get(f"/take/{self.campaign.entry}/", query)

    def open(self, **changes: Any) -> Any:
        body = {"consent": True, "opening": self.opening, **self.person, **changes}
        reply = self.http.post(f"/take/{self.campaign.entry}/open/", body, content_type="application/json")
        if reply.status_code == 201:
            self.token = reply.json()["token"]
        return reply

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        return self.http.generic(
            method,
            path,
            data=json.dumps(body or {}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.token}", "X-Lease": LEASE, **headers},
        )

    def secret(self) -> str:
        """What the study's window keeps in the browser."""
        handoff = self.call("POST", f"/take/{self.campaign.entry}/handoff/").json()["handoff"]
        kept = self.call("POST", "/api/v1/run/handoff/", {"code": handoff}).json()["resume"]
        return str(kept["secret"])

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", "/api/v1/run/status/").json()
        return found

    def fetch_all(self) -> None:
        """The pictures of these studies have no files: it is stored as a page that shows them leaves it."""
        fetched = f"{(1 << self.session.total) - 1:x}"
        Session.objects.filter(pk=self.session.pk).update(pictures_fetched=fetched)

    def answer_all(self, *, simulated: bool = False, fetches: bool = True) -> dict[str, Any]:
        """Do the whole study; returns what the last call says, the receipt among it. A script `fetches` nothing."""
        self.answer_until(self.session.total, simulated=simulated, fetches=fetches)
        done: dict[str, Any] = self.call("POST", "/api/v1/run/complete/", {"environment": {}}).json()
        return done

    def answer_until(self, end: int, *, simulated: bool = False, fetches: bool = True) -> None:
        """The trials before this position."""
        self.call("POST", "/api/v1/run/lease/", {"lease": LEASE})
        if fetches:
            self.fetch_all()
        for position in range(self.session.cursor, end):
            answer = {
                "position": position,
                "response": "cat",
                "rt_ms": 700.0,
                "clicks": [],
                "timing": {},
                "simulated": simulated,
            }
            reply = self.call("POST", "/api/v1/run/responses/", answer)
            assert reply.status_code == 201, reply.content

    @property
    def session(self) -> Session:
        return session_for_token(self.token)
