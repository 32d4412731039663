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

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from tests.marketplace.server import RequesterKeys, WorkerClient, running
from tests.postgres import Cluster

DATABASES = ("sqlite", "postgres")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", default="1-20", help="like 1-20, or 3,5,9 (default: 1-20)")
    parser.add_argument("--database", choices=DATABASES, default="sqlite")
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--kill-after", type=float, default=1.0, metavar="S", help="mean life of a sender")
    parser.add_argument("--out", type=Path, help="JSON lines; seeds in it are skipped")
    chosen = parser.parse_args(arguments)
    done = _done(chosen.out, chosen.database, chosen.workers)
    waiting = [seed for seed in _seeds(chosen.seeds) if seed not in done]
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="hx-fire-") as folder, _database(chosen.database, Path(folder)) as url:
        for outcome in _rounds(waiting, chosen, url, Path(folder)):
            line = json.dumps(outcome)
            print(line, flush=True)
            if chosen.out:
                with chosen.out.open("a", encoding="utf-8") as stream:
                    stream.write(f"{line}\n")
            wrong += bool(outcome["faults"])
    return 1 if wrong else 0


def _rounds(seeds: list[int], chosen: argparse.Namespace, url: str, folder: Path) -> Iterator[dict[str, object]]:
    if not seeds:
        return
    os.environ.update(DATABASE_URL=url, MEDIA_ROOT=str(folder), DJANGO_SETTINGS_MODULE="humanexp.settings")
    import django

    django.setup()
    from benchmarks._ledger_fire import Fire
    from benchmarks._ledger_processes import in_a_process, patiently

    in_a_process(_migrate)
    with running(folder / "market") as market:
        keys = market.create_requester("A lab under fire", "9000000.00")
        _use(market.url, keys)
        with ThreadPoolExecutor(2) as pool:
            signing_up = [pool.submit(patiently, lambda: _worker(market.url)) for _ in range(chosen.workers)]
            workers = [one.result() for one in signing_up]
        shift_s = 0.0
        for seed in seeds:
            fire = Fire(
                seed=seed,
                database=chosen.database,
                market=market,
                keys=keys,
                workers=workers,
                shift_s=shift_s,
                kill_after_s=chosen.kill_after,
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

    from humanexp.recruitment.recruiters import recruiter_for

    settings.MARKETPLACE_URL = url
    settings.MARKETPLACE_ACCESS_KEY_ID = keys.access_key_id
    settings.MARKETPLACE_SECRET_ACCESS_KEY = keys.secret_access_key
    recruiter_for("marketplace")


def _migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


@contextmanager
def _database(kind: str, folder: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'platform.sqlite3'}"
        return
    # a short path: the name of a socket has at most 107 characters
    place = Path(tempfile.mkdtemp(prefix="hx-pg-"))
    place.chmod(0o755)
    cluster = Cluster(place)
    cluster.start(durable=True)
    try:
        yield cluster.create_database()
    finally:
        cluster.stop()
        shutil.rmtree(place, ignore_errors=True)


def _seeds(text: str) -> list[int]:
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
    sys.exit(main())
