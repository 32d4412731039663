"""Where a worker id stands on the platform's side: in one table, until the person is deleted, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

from analysis.tables.reading import read_table
from tests.journeys.site import Site, wait_for

ONE_TABLE = {"recruitment_recruitedperson"}


def the_worker_id_stands_in_one_table_until_the_person_is_deleted(site: Site, study: str, to: Path) -> None:
    """After the person has submitted: paid, exported, compared, and then deleted."""
    [(worker_id,)] = site.marketplace("SELECT worker_id FROM marketplace_worker")
    wait_for(lambda: "newly submitted" in site.manage("sync", study)[1], "the recruiter answers")
    site.must("settle", study)
    site.must("export", study, "--to", str(to))
    before = _sums(site.must("reconcile"))
    assert tables_with(site, worker_id) == ONE_TABLE
    assert files_with(site, worker_id, to) == []

    [(code,)] = site.platform("SELECT code FROM experiments_participant")
    site.must("delete_participant", code, "--yes")
    assert tables_with(site, worker_id) == set()
    assert not site.platform("SELECT 1 FROM experiments_participant")
    assert _sums(site.must("reconcile")) == before
    # polling does not bring the person back
    site.must("sync", study)
    assert tables_with(site, worker_id) == set()
    assert files_with(site, worker_id, to) == []


def tables_with(site: Site, text: str) -> set[str]:
    """Names of the platform's tables with a row in which this text occurs, in whatever column."""
    names = [row["name"] for row in site.platform("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert set(names) >= ONE_TABLE
    return {
        name
        for name in names
        if any(text in str(tuple(row)) for row in site.platform(f'SELECT * FROM "{name}"'))  # noqa: S608
    }


def files_with(site: Site, text: str, exported: Path) -> list[str]:
    """Logs, plans, results, keys and exports; the marketplace, being the other party, keeps its own."""
    places = [path for path in site.media_root.rglob("*") if path.is_file() and not _is_theirs(path)]
    places = [path for path in places if not path.name.startswith("humanexp.sqlite3")]
    files = [path for path in exported.rglob("*") if path.is_file()]
    assert any(path.parent.name == "logs" and path.stat().st_size for path in places), "nothing was logged"
    assert {".csv", ".parquet"} <= {path.suffix for path in files}
    return [str(path) for path in (*places, *files) if text in _content(path)]


def _is_theirs(path: Path) -> bool:
    return path.name.startswith("marketplace") or "marketplace" in path.parts


def _content(path: Path) -> str:
    if path.suffix == ".parquet":
        return str(read_table(path).to_csv())
    return path.read_bytes().decode("utf-8", errors="replace")


def _sums(said: str) -> list[str]:
    """Payments and amounts of both sides."""
    return re.findall(r"\d+ payments, ledger \$[\d.]+, recruiter \$[\d.]+", said)
