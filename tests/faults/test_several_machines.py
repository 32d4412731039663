"""Two web and two job machines, each with a disk of its own; one PostgreSQL, one S3 server: any of them may go."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests

from tests.faults.balancer import Balancer, balanced
from tests.faults.runners import _parts
from tests.faults.site import Installation
from tests.journeys.newcomer import draw_pictures
from tests.journeys.site import ROOT, Heard, kill_all_of, wait_for
from tests.limits import LIMIT
from tests.object_server import ObjectServer, environment, object_server
from tests.served import answers, free_port

pytestmark = pytest.mark.process

PARTICIPANTS = 4
STUDY = Path(__file__).parents[1] / "journeys" / "flow.toml"
_MAKE = """
from humanexp.stimuli import services
from humanexp.stimuli.models import SourceSet
made = services.create_stimulus_set(services.Described(
    source_set=SourceSet.objects.get(name="drawings"), name="small", size_px=112, count=140,
    corruptions=["gaussian_noise", "gaussian_blur", "uniform_noise"]))
print(services.start_generation(stimulus_set=made).pk)
"""
_SIGN_IN = """
from django.test import Client
from humanexp.core.models import User
client = Client()
client.force_login(User.objects.get_or_create(username="ada", is_superuser=True, is_staff=True)[0])
print(client.cookies["humanexp_session"].value)
"""


@dataclass
class Site:
    """Machines by name; what they share."""

    folder: Path
    database: str
    objects: ObjectServer
    balancer: Balancer

    def machine(self, name: str) -> Installation:
        media = self.folder / name
        media.mkdir(exist_ok=True)
        shared = {
            **environment(self.objects),
            "DATABASE_URL": self.database,
            "PUBLIC_URL": self.balancer.url,
            "SECRET_KEY": "one key for all of them, which is long enough",
            "COMPUTE": "serial",
            "WEB_CONCURRENCY": "1",
        }
        return Installation(media, shared)

    def must(self, name: str, *arguments: str) -> str:
        done = self.machine(name).manage(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def rows(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(**_parts(self.database)) as database:
            return database.execute(question, values).fetchall()

    def job(self, pk: int) -> tuple[str, int, int, str]:
        """State, steps done, attempt, runner."""
        return self.rows("SELECT state, done, attempt, runner FROM jobs_job WHERE id = %s", pk)[0]

    @contextlib.contextmanager
    def running(self, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *arguments], cwd=ROOT, env=self.machine(name).environ(), stdout=log, stderr=log
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(LIMIT)

    @contextlib.contextmanager
    def web(self, name: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
        url = f"http://127.0.0.1:{free_port()}"
        bind = f"--bind={url.removeprefix('http://')}"
        with self.running(name, "-m", "gunicorn", bind, "humanexp.wsgi") as process:
            wait_until(lambda: answers(url), name, self)
            yield process, url

    def log(self) -> str:
        return "\n".join(f"== {path}\n{path.read_text()[-3000:]}" for path in self.folder.rglob("*.log"))


@pytest.fixture
def site(postgres_url: str, tmp_path: Path) -> Iterator[Site]:
    with object_server() as objects, balanced() as balancer:
        yield Site(tmp_path, postgres_url, objects, balancer)


def wait_until(holds: Callable[[], object], what: str, site: Site, patience_s: float = 120) -> None:
    try:
        wait_for(holds, what, patience_s=patience_s)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{site.log()}") from error


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.timeout(900)
def test_a_study_goes_through_the_loss_of_machines(site: Site) -> None:
    draw_pictures(site.folder / "photos", per_category=3, size_px=112)
    site.must("web-1", "migrate", "--verbosity", "0")
    site.must("web-1", "import_images", str(site.folder / "photos"), "--name", "drawings")
    with contextlib.ExitStack() as stack:
        webs = {}
        for name in ("web-1", "web-2"):
            webs[name], url = stack.enter_context(site.web(name))
            site.balancer.machines.append(url)
        runners = {
            name: stack.enter_context(site.running(name, "manage.py", "run_jobs")) for name in ("jobs-1", "jobs-2")
        }
        _stimuli_are_made_although_a_runner_dies(site, runners)
        _people_go_on_although_a_web_machine_dies_and_the_storage_is_away(site, webs)
        _results_are_seen_on_a_machine_that_had_nothing(site, stack)


def _stimuli_are_made_although_a_runner_dies(site: Site, runners: dict[str, subprocess.Popen[bytes]]) -> None:
    job = int(site.machine("web-1").python(_MAKE).split()[-1])
    wait_until(lambda: site.job(job)[1] > 60, "stimuli", site)
    killed = next(process for process in runners.values() if f":{process.pid}:" in site.job(job)[3])
    killed.send_signal(signal.SIGKILL)
    wait_until(lambda: site.job(job)[0] == "done", "the set, on the other machine", site)
    assert site.job(job)[2] == 2 and killed.wait(LIMIT) == -signal.SIGKILL
    ((count,),) = site.rows("SELECT count(*) FROM stimuli_stimulus")
    ((shared,),) = site.rows("SELECT count(*) FROM core_storedfile WHERE path LIKE %s", "stimuli/small/%.png")
    assert count == shared == 3 * 140 + 48
    site.must("web-2", "verify_stimuli", "small")


def _people_go_on_although_a_web_machine_dies_and_the_storage_is_away(
    site: Site, webs: dict[str, subprocess.Popen[bytes]]
) -> None:
    site.must("web-2", "create_study", str(STUDY))
    site.must("web-1", "publish", "flow", "--to", "link")
    heard = Heard(site.folder / "heard.jsonl")
    wanted = ("flow", "--participants", str(PARTICIPANTS), "--seed", "3")
    people = subprocess.Popen(
        [sys.executable, "-m", "tests.journeys.people", str(heard.path), *wanted],
        cwd=ROOT,
        env={**site.machine("desk").environ(), "ANSWER_S": "0.3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )

    def answered(count: int) -> None:
        wait_until(lambda: len(heard.answers()) >= count or people.poll() is not None, "answers", site)
        assert people.poll() is None, people.communicate()[0] + site.log()

    answered(10)
    assert len(site.balancer.answered) == 2, "both machines have answered"
    kill_all_of(webs["web-1"])
    answered(20)
    site.objects.go_away()
    shutil.rmtree(site.folder / "web-2" / "stimuli")
    time.sleep(6)
    waited = len(heard.answers())
    site.objects.come_back()
    said, _ = people.communicate(timeout=LIMIT)
    assert people.returncode == 0, said + site.log()
    away = [line for line in heard if line.get("status") == 503]
    assert away and waited < len(heard.answers()), "people had to wait for pictures, and went on"
    stored = {
        (session, position): response
        for session, position, response in site.rows("SELECT session_id, position, response FROM experiments_response")
    }
    assert heard.answers().items() <= stored.items() and len(heard.answers()) == len(stored)
    assert site.rows("SELECT count(*) FROM experiments_session WHERE state = 'submitted'") == [(PARTICIPANTS,)]
    assert site.rows("SELECT count(*) FROM experiments_damagedpicture") == [(0,)], "waiting is no damage"
    sys.stdout.write(f"{len(stored)} answers, 0 lost; {len(away)} calls were told to wait\n")


def _results_are_seen_on_a_machine_that_had_nothing(site: Site, stack: contextlib.ExitStack) -> None:
    """A machine in the place of the dead one begins with an empty disk."""
    evaluated = "export:fixtures/classifiers/clean.pt2"
    site.must("desk", "evaluate", "--study", "flow", "--classifier", evaluated)
    site.must("desk", "analyse", "flow", "--bootstrap", "40")
    machine = site.machine("web-3")
    _, url = stack.enter_context(site.web("web-3"))
    ready = requests.get(f"{url}/readyz", timeout=LIMIT).json()["checks"]
    assert (ready["files"], ready["storage"], ready["keys"]) == ("ok", "ok", "ok"), ready
    cookies = {"humanexp_session": machine.python(_SIGN_IN).split()[-1]}
    findings = set()
    for web in (site.balancer.machines[1], url):
        page = requests.get(f"{web}/studies/flow/results/", cookies=cookies, timeout=LIMIT)
        assert page.status_code == 200, page.text[:2000]
        findings.add(requests.get(f"{web}/studies/flow/results/findings.json", cookies=cookies, timeout=LIMIT).text)
    assert len(findings) == 1 and json.loads(findings.pop())["study"] == "flow"
    (picture,) = site.rows("SELECT id FROM stimuli_stimulus ORDER BY id LIMIT 1")[0]
    cold = requests.get(f"{url}/stimuli/pictures/{picture}/", cookies=cookies, timeout=LIMIT)
    assert cold.status_code == 200 and cold.content.startswith(b"\x89PNG")


@pytest.mark.postgres
@pytest.mark.timeout(300)
def test_a_content_that_is_uploaded_while_it_is_collected_is_there(site: Site) -> None:
    site.must("jobs-1", "migrate", "--verbosity", "0")
    machine = site.machine("jobs-1")
    done = machine.run([sys.executable, "-m", "tests.faults.uploads_beside_collecting", "150"])
    assert done.returncode == 0, done.stderr
    sys.stdout.write(done.stdout)
    _, collected, lost = (int(word) for word in done.stdout.replace(",", "").split() if word.isdigit())
    assert lost == 0
    assert collected > 10, "the two have met"
