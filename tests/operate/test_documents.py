"""The commands of the pages for operators, in their order, on one machine."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.faults.test_nginx import PANEL_ID, WORKER_ID
from tests.operate.blocks import blocks_of, script_of
from tests.operate.machine import ROOT, Machine, machine
from tests.operate.shims import PROGRAMS, program
from tests.postgres import Cluster

OPERATE = ROOT / "docs/operate"
#: In the order in which they are read.
DOCUMENTS = [OPERATE / "install.md", OPERATE / "proxy.md"]
WITH_IDS = f"/take/nowhere/?workerId={WORKER_ID}&p={PANEL_ID}"
NOT_RUN = ["an authority has to reach the machine", "a container engine is needed"]


@pytest.fixture(scope="module")
def empty() -> Iterator[Machine]:
    missing = [package for package, name in PROGRAMS.items() if program(name) is None]
    if missing:
        if os.environ.get("CI") == "true":
            pytest.fail(f"not installed: {', '.join(missing)}")
        pytest.skip(f"not installed: {', '.join(missing)}")
    with machine() as made:
        yield made


# Long enough for a machine that is busy with something else; two quiet cores need less than 180 s.
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_command_works(empty: Machine) -> None:
    """From an empty machine to a green pre-flight check behind TLS, then the same site behind the other proxy."""
    install, proxy = (blocks_of(document) for document in DOCUMENTS)
    said = _succeed(empty, script_of(install))
    assert "FAILED" not in said and "green: " in said
    _answers_through_tls(empty, "etc/ssl/humanexp/fullchain.pem")
    _succeed(empty, "ls /var/backups/humanexp/*")
    _succeed(empty, "SITE=study.example.org\nWORK=work.example.org\n" + script_of(proxy))
    own = "run/.local/share/caddy/pki/authorities/local/root.crt"
    _answers_through_tls(empty, own)
    _succeed(empty, "systemctl stop humanexp-web")
    gone = _get(f"https://localhost:{empty.https}{WITH_IDS}", str(empty.root / own))
    assert gone.status_code == 502
    _holds_no_id(empty)


def _succeed(empty: Machine, script: str) -> str:
    done = empty.run(script)
    logs = "".join(f"\n-- {log.name}\n{log.read_text()[-2000:]}" for log in sorted((empty.root / "run").glob("*.log")))
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}\n{logs}"
    return done.stdout


def _answers_through_tls(empty: Machine, authority: str) -> None:
    """Ids in the address of a page, and in the referrer of what it loads, are in no log."""
    site, work = f"https://localhost:{empty.https}", f"https://localhost:{empty.work_https}"
    trusted = str(empty.root / authority)
    for path in ("/login/", WITH_IDS):
        found = _get(f"{site}{path}", trusted)
        assert found.status_code in (200, 404)
        assert found.headers["Strict-Transport-Security"] == "max-age=31536000", "once"
    assert _get(f"{work}/", trusted).status_code == 200
    _holds_no_id(empty)


def _get(url: str, trusted: str) -> requests.Response:
    """Once the proxy that has just been started is there."""
    here = {"Referer": f"https://localhost/?workerId={WORKER_ID}"}
    until = time.monotonic() + 30
    while True:
        try:
            return requests.get(url, headers=here, verify=trusted, timeout=30)
        except (requests.ConnectionError, OSError):
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def _holds_no_id(empty: Machine) -> None:
    logs = "".join(file.read_text(errors="replace") for file in empty.root.rglob("*.log"))
    assert "/take/nowhere/" in logs
    assert WORKER_ID not in logs and PANEL_ID not in logs


def test_every_substitution_is_needed(tmp_path: Path) -> None:
    """What stands in no page and no file any more is taken out of the list."""
    files = [*DOCUMENTS, *(path for path in (ROOT / "deploy").rglob("*") if path.is_file())]
    shipped = "".join(path.read_text(encoding="utf-8") for path in files)
    substitutions = Machine(tmp_path, Cluster(tmp_path), 1, 2).substitutions
    assert [place for place in substitutions if place not in shipped] == []


def test_only_named_blocks_are_left_out() -> None:
    every = [block for document in DOCUMENTS for block in blocks_of(document)]
    assert [block.not_run for block in every if block.not_run] == NOT_RUN
    assert sum(document.read_text().count("```") for document in DOCUMENTS) == 2 * len(every)


@pytest.mark.process
@pytest.mark.parametrize("broken", ["false\ntrue", "false | cat", 'echo "$NO_SUCH_NAME"', "no-such-command"])
def test_a_command_that_breaks_is_found(tmp_path: Path, broken: str) -> None:
    """In the middle of a block, in a pipe, by a name that no block has set; other blocks follow."""
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n```sh\n{broken}\n```\n\n```sh\ntrue\n```\n")
    done = subprocess.run(["bash", "-c", script_of(blocks_of(page))], capture_output=True, check=False)
    assert done.returncode != 0
    page.write_text(f"# Page\n\n<!-- not run by the tests: no reason -->\n\n```sh\n{broken}\n```\n")
    assert subprocess.run(["bash", "-c", script_of(blocks_of(page))], capture_output=True, check=False).returncode == 0
