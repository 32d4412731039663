"""The newcomer's walk where two web machines and a job machine have disks of their own: no page differs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from humanexp.console import sites
from tests.faults.balancer import Balancer, balanced
from tests.faults.runners import _parts
from tests.journeys import test_newcomer as walk
from tests.journeys.newcomer import Hand, draw_pictures
from tests.journeys.site import Site
from tests.journeys.test_newcomer import browser, people  # noqa: F401  fixtures
from tests.object_server import ObjectServer, environment
from tests.served import free_port

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.postgres]


class SeveralMachines(Site):
    """The same processes: two of the web, each on a disk of its own, as the job runner and the commands are."""

    def __init__(self, folder: Path, database: str, objects: ObjectServer, balancer: Balancer) -> None:
        super().__init__(folder / "desk")
        self._folder, self._database, self._objects, self._balancer = folder, database, objects, balancer
        self.addresses = replace(self.addresses, web_port=int(balancer.url.rpartition(":")[2]))

    def start(self, name: str, *, wait: bool = True) -> None:
        machines = {"web": ["web-1", "web-2"], "run_jobs": ["jobs"], "marketplace": ["desk"]}[name]
        stack = contextlib.ExitStack()
        for machine in machines:
            addresses = self.addresses
            if name == "web":
                addresses = replace(addresses, web_port=free_port())
                self._balancer.machines.append(addresses.web)
            changes = {**self._changes, "MEDIA_ROOT": str(self._folder / machine), "PUBLIC_URL": self.addresses.web}
            process = stack.enter_context(sites.started(name, addresses, changes))
        self.running[name] = stack, process

    def platform(self, query: str, *values: object) -> list[Any]:
        with psycopg.connect(**_parts(self._database), row_factory=dict_row) as database:
            return database.execute(query, values).fetchall()

    @property
    def _changes(self) -> dict[str, str]:
        return {
            **super()._changes,
            **environment(self._objects),
            **self.keys,
            "DATABASE_URL": self._database,
            "SECRET_KEY": "one key for all of them, which is long enough",
        }


@pytest.fixture
def house(tmp_path: Path, settings: Any, postgres_url: str, server: ObjectServer) -> Iterator[SeveralMachines]:
    settings.MEDIA_ROOT = tmp_path / "desk"
    settings.MEDIA_ROOT.mkdir()
    with balanced() as balancer:
        site = SeveralMachines(tmp_path, postgres_url, server, balancer)
        site.must("migrate", "--verbosity", "0")
        site.must("recruiter", "spending", "marketplace", "--limit", "none", "--everybody")
        made = f"from humanexp.core.models import User; User.objects.create_user('ada', password='{walk.PASSWORD}')"
        site.must("shell", "-c", made)
        draw_pictures(tmp_path / "pictures", per_category=4, size_px=224)
        site.must("import_images", str(tmp_path / "pictures"), "--name", "drawings", "--owner", "ada")
        with site:
            yield site
        assert len(balancer.answered) == 2, "both web machines have answered"


@pytest.mark.timeout(900)
def test_from_an_empty_console_to_a_paid_participant(house: SeveralMachines, people: tuple[Hand, Hand]) -> None:  # noqa: F811
    ada, wanda = people
    walk._signs_in(ada, house)
    walk._makes_stimuli(ada)
    walk._creates_the_study(ada, "categorisation")
    walk._checks_and_launches(ada, house)
    walk._takes_the_hit(wanda, house)
    walk._reviews_and_pays(ada, house)
    walk._sees_the_money(ada, wanda, house)
    assert ada.page.complaints == wanda.page.complaints == []
