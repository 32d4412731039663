"""What monitors are told: each fault turns a signal red, strangers learn whether and not why, ids follow their work."""

from __future__ import annotations

import io
import json
import logging
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from humanexp.core import clock, metrics, probes, request_ids, storage
from humanexp.core.models import PseudonymKey, StorageMark
from humanexp.core.request_ids import JsonLines
from humanexp.jobs import registry, runner, services as jobs
from humanexp.jobs.models import Job, Runner
from tests.clocks import HandClock
from tests.served import ROOT

pytestmark = pytest.mark.django_db
ELSEWHERE = {"REMOTE_ADDR": "203.0.113.9"}


@pytest.fixture(autouse=True)
def a_runner(db: None) -> None:
    now = clock.now()
    Runner.objects.create(name="here:1:a", started_at=now, beat_at=now, prompt_at=now, long_at=now)


def ready(client: Client, **more: Any) -> tuple[int, dict[str, Any]]:
    reply = client.get("/readyz", **more)
    return reply.status_code, reply.json()


class TestReadiness:
    def test_all_is_well(self, client: Client) -> None:
        storage.mark_folder()
        status, told = ready(client)
        assert (status, told["status"]) == (200, "ready")
        assert set(told["checks"]) == {"migrations", "keys", "storage", "disk", "runner"}
        assert set(told["checks"].values()) == {"ok"}

    def test_a_silent_runner(self, client: Client) -> None:
        Runner.objects.update(prompt_at=clock.now() - timedelta(minutes=2))
        status, told = ready(client)
        assert status == 503 and told["checks"]["runner"] == "The job runner is silent: no one is paid."

    def test_other_files_than_those_of_this_database(self, client: Client, settings: Any, tmp_path: Path) -> None:
        storage.mark_folder()
        settings.MEDIA_ROOT = tmp_path / "another"
        (tmp_path / "another").mkdir()
        status, told = ready(client)
        assert status == 503 and "is not the folder" in told["checks"]["storage"]
        storage.mark_folder()  # a start does not make the wrong folder the right one
        assert ready(client)[0] == 503

    def test_files_that_came_back_from_a_backup_are_believed(self, client: Client, settings: Any) -> None:
        storage.mark_folder()
        StorageMark.objects.all().delete()
        storage.mark_folder()
        assert ready(client)[0] == 200 and StorageMark.objects.count() == 1

    def test_a_migration_that_is_missing(self, client: Client) -> None:
        app, name = max(one for one in probes._newest_migrations() if one[0] == "recruitment")
        MigrationRecorder.Migration.objects.filter(app=app, name=name).delete()
        status, told = ready(client)
        assert status == 503 and "migrations to apply" in told["checks"]["migrations"]

    def test_another_key(self, client: Client) -> None:
        PseudonymKey.objects.update_or_create(pk=1, defaults={"sealed": "x", "check_value": "0" * 64})
        status, told = ready(client)
        assert status == 503 and "SECRET_KEY is not the key" in told["checks"]["keys"]

    def test_a_full_disk(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(probes, "FREE_MB", 1e12)
        status, told = ready(client)
        assert status == 503 and "MB are free" in told["checks"]["disk"]

    def test_a_stranger_learns_whether_and_not_why(self, client: Client) -> None:
        Runner.objects.all().delete()
        assert ready(client, **ELSEWHERE) == (503, {"status": "not ready"})
        assert ready(client, headers={"X-Forwarded-For": "203.0.113.9"}) == (503, {"status": "not ready"})
        assert client.get("/livez", **ELSEWHERE).json() == {"status": "ok"}


class TestMetrics:
    def test_they_are_for_this_machine_and_for_the_token(self, client: Client, settings: Any) -> None:
        assert client.get("/metrics", **ELSEWHERE).status_code == 403
        assert client.get("/metrics", headers={"Authorization": "Bearer "}, **ELSEWHERE).status_code == 403
        settings.METRICS_TOKEN = "a-token-of-some-length"
        assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}, **ELSEWHERE).status_code == 403
        token = {"Authorization": "Bearer a-token-of-some-length"}
        assert client.get("/metrics", headers=token, **ELSEWHERE).status_code == 200
        assert client.get("/metrics", headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 403

    def test_routes_are_counted_and_no_code_is_named(self, client: Client) -> None:
        before = value("humanexp_requests_total", route="studies/<slug:slug>/", method="GET", status="302")
        client.get("/studies/secret-name/")
        after = value("humanexp_requests_total", route="studies/<slug:slug>/", method="GET", status="302")
        assert after == before + 1
        client.generic("MADEUP", "/studies/secret-name/")
        assert "secret-name" not in metrics.exposition().decode() and "MADEUP" not in metrics.exposition().decode()

    def test_a_waiting_job_and_its_age(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(clock, "system_clock", HandClock(clock.now()))
        Job.objects.create(kind="tests.waits")
        Job.objects.update(created_at=clock.now() - timedelta(minutes=5))
        assert value("humanexp_jobs", state="queued") == 1
        assert value("humanexp_job_oldest_wait_seconds") == 300
        assert value("humanexp_runner_silence_seconds", lane="prompt") < 60

    @pytest.mark.process
    def test_processes_are_added_up(self, tmp_path: Path) -> None:
        count = "from humanexp.core import metrics; metrics.ANSWERS.inc({}); print(metrics.exposition().decode())"
        env = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "PATH": "/usr/bin", "PYTHONPATH": str(Path.cwd())}
        for number in (2, 3):
            call = [sys.executable, "-c", count.format(number)]
            told = subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout
        assert "humanexp_answers_total 5.0" in told


def value(name: str, **labels: str) -> float:
    for family in text_string_to_metric_families(metrics.exposition().decode()):
        for sample in family.samples:
            if sample.name == name and sample.labels == labels:
                return sample.value
    return 0.0


class TestRequestIds:
    def test_an_answer_tells_its_id_and_takes_over_a_good_one(self, client: Client) -> None:
        assert len(client.get("/login/")["X-Request-ID"]) == 32
        assert client.get("/login/", headers={"X-Request-ID": "proxy-0123456789"})["X-Request-ID"] == "proxy-0123456789"
        for bad in ("short", "a" * 65, "line\tbreak-0123", "<script>alert(1)"):
            assert client.get("/login/", headers={"X-Request-ID": bad})["X-Request-ID"] != bad

    def test_a_job_works_under_the_id_of_the_request_that_asked_for_it(self) -> None:
        seen: list[str] = []

        @registry.handler("tests.seen")
        def see(progress: Any) -> None:
            seen.append(request_ids.current())

        try:
            with request_ids.within("proxy-0123456789"):
                job = jobs.submit("tests.seen")
            runner.run_waiting(kinds=["tests.seen"])
        finally:
            del registry.HANDLERS["tests.seen"]
        assert job.request_id == "proxy-0123456789" and seen == ["proxy-0123456789"]
        assert request_ids.current() == ""

    def test_lines_are_objects(self) -> None:
        stream = io.StringIO()
        handler = logging.StreamHandler(stream)
        handler.setFormatter(JsonLines())
        logger = logging.Logger("humanexp.test")
        logger.addHandler(handler)
        with request_ids.within("proxy-0123456789"):
            logger.info("%s of %s", 1, "two\nlines", extra={"status": 200})
        try:
            raise ValueError("no")
        except ValueError:
            logger.exception("it failed")
        first, second = (json.loads(line) for line in stream.getvalue().splitlines())
        assert first["message"] == "1 of two\nlines" and first["request_id"] == "proxy-0123456789"
        assert first["status"] == 200 and "request_id" not in second
        assert second["exception"].endswith("ValueError: no")


def test_the_questions_are_few(client: Client, django_assert_max_num_queries: Any) -> None:
    storage.mark_folder()
    client.get("/readyz")
    with django_assert_max_num_queries(10):
        client.get("/readyz")
    with django_assert_max_num_queries(12):
        client.get("/metrics")


def test_rules_and_dashboard_name_metrics_that_there_are(client: Client) -> None:
    told = (ROOT / "docs" / "operate" / "monitoring.md").read_text()
    named = {"humanexp_open_payments", "humanexp_account_paused", "humanexp_last_poll_age_seconds"}  # with money alone
    named |= set(
        re.findall(r"^(humanexp_\w+?)(?:_bucket|_sum|_count|_created)?(?:\{| )", exposed(client), re.MULTILINE)
    )
    for file in ("alerts.yaml", "dashboard.json"):
        used = set(
            re.findall(r"humanexp_[a-z_]+?(?=_bucket|[^a-z_])", (ROOT / "deploy" / "monitoring" / file).read_text())
        )
        assert used and used <= named, file
        assert all(name in told for name in used), file


def exposed(client: Client) -> str:
    client.get("/login/")
    return metrics.exposition().decode()
