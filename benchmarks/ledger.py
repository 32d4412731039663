"""The ledger under fire: is everybody paid exactly once, whatever fails between us and the recruiter?

    nice python -m benchmarks.ledger --seeds 1-20 --database sqlite [--workers 1000] [--out FILE]

Each seed publishes a campaign, has its people submit it, settles it (a quarter of the sessions is excluded and paid all
the same), gives every second person a bonus and stops. 40 % of the sender's writes are throttled, fail, or lose their
request or their reply; two processes run at once, each a sender or one that also polls, settles and plans bonuses, and
are killed (SIGKILL) at random moments; one pair of lives in ten is followed by 25 hours in which nobody is at work.
Then the marketplace's lists and its balance are compared with the ledger.

Every seed is a line of JSON in FILE; seeds that stand there already are not run again. Ends with status 1 when a seed
went wrong.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from benchmarks._command import run
from benchmarks._pages import Database
from tests.marketplace.server import RequesterKeys, WorkerClient, running
from tests.postgres import running_cluster


def main(
    *,
    seeds: Annotated[str, "like 1-20, or 3,5,9 (default: 1-20)"] = "1-20",
    database: Database = "sqlite",
    workers: int = 1000,
    kill_after: Annotated[float, "mean life of a sender, s"] = 1.0,
    out: Annotated[Path | None, "JSON lines; seeds in it are skipped"] = None,
) -> bool:
    done = _done(out, database, workers)
    waiting = [seed for seed in seeds_in(seeds) if seed not in done]
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="hx-fire-") as folder, _database(database, Path(folder)) as url:
        os.environ.update(DATABASE_URL=url, MEDIA_ROOT=folder, DJANGO_SETTINGS_MODULE="humanexp.settings")
        for outcome in _rounds(waiting, database, workers, kill_after, Path(folder)) if waiting else ():
            line = json.dumps(outcome)
            print(line, flush=True)
            if out:
                with out.open("a", encoding="utf-8") as stream:
                    stream.write(f"{line}\n")
            wrong += bool(outcome["faults"])
    return not wrong


def _rounds(
    seeds: list[int], database: Database, workers: int, kill_after: float, folder: Path
) -> Iterator[dict[str, object]]:
    import django

    django.setup()
    from django.core.management import call_command

    from benchmarks._ledger_fire import Fire
    from benchmarks._ledger_processes import in_a_process, patiently

    in_a_process(lambda: call_command("migrate", verbosity=0))
    with running(folder / "market") as market:
        keys = market.create_requester("A lab under fire", "9000000.00")
        _use(market.url, keys)
        with ThreadPoolExecutor(2) as pool:
            signing_up = [pool.submit(patiently, lambda: _worker(market.url)) for _ in range(workers)]
            people = [one.result() for one in signing_up]
        shift_s = 0.0
        for seed in seeds:
            fire = Fire(
                seed=seed,
                database=database,
                market=market,
                keys=keys,
                workers=people,
                shift_s=shift_s,
                kill_after_s=kill_after,
            )
            yield asdict(fire.run())
            shift_s = fire.shift_s


def _worker(url: str) -> WorkerClient:
    """Somebody who keeps no connection open: a thousand idle ones would be what is measured."""
    worker = WorkerClient(url)
    worker.http.headers["Connection"] = "close"
    return worker.sign_up()


def _use(url: str, keys: RequesterKeys) -> None:
    """Point the platform at the marketplace, with its client made once, before the forks."""
    from django.conf import settings

    from humanexp.recruiters.registry import recruiter_for

    settings.MARKETPLACE_URL = url
    settings.MARKETPLACE_ACCESS_KEY_ID = keys.access_key_id
    settings.MARKETPLACE_SECRET_ACCESS_KEY = keys.secret_access_key
    recruiter_for("marketplace")


@contextmanager
def _database(kind: Database, folder: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'platform.sqlite3'}"
        return
    with running_cluster(durable=True) as cluster:
        yield cluster.create_database()


def seeds_in(text: str) -> list[int]:
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def _done(out: Path | None, database: str, workers: int) -> set[int]:
    if out is None or not out.exists():
        return set()
    lines = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    return {line["seed"] for line in lines if (line["database"], line["workers"]) == (database, workers)}


if __name__ == "__main__":
    run(main)
