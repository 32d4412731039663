"""Metrics of a site with several web processes, as gunicorn serves it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from tests.faults.test_sockets import web_server
from tests.limits import LIMIT

pytestmark = pytest.mark.process


def counted(url: str, route: str) -> float:
    families = text_string_to_metric_families(requests.get(f"{url}/metrics", timeout=LIMIT).text)
    samples = [sample for family in families for sample in family.samples if sample.name == "humanexp_requests_total"]
    return sum(sample.value for sample in samples if sample.labels["route"] == route)


def test_every_process_answers_with_the_sum_of_all(tmp_path: Path, migrated_database: Path) -> None:
    with web_server(
        tmp_path, migrated_database, WEB_CONCURRENCY="3", LOG_FORMAT="json", ACCESS_LOG_LEVEL="INFO"
    ) as url:
        with ThreadPoolExecutor(16) as callers:
            replies = list(callers.map(lambda _: requests.get(f"{url}/login/", timeout=LIMIT), range(90)))
        assert {reply.status_code for reply in replies} == {200}
        # each of these goes to whichever process takes it
        assert {counted(url, "login/") for _ in range(12)} == {90.0}
        ids = {reply.headers["X-Request-ID"] for reply in replies}
        status = requests.get(f"{url}/readyz", timeout=LIMIT)
        assert status.status_code == 503 and "runner" in status.json()["checks"]  # nothing but the site was started
        assert status.json()["checks"]["storage"] == "ok"
    log = (tmp_path / "web.log").read_text()
    assert len(ids) == 90 and all(log.count(f'"request_id": "{one}"') == 1 for one in ids)
