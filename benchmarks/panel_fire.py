"""Bonuses without a token under fire: is everybody paid exactly once, or left to a person, whatever fails?

    nice python -m benchmarks.panel_fire --people 500 --seeds 1-10 [--share 0.2] [--out FILE]

Each seed publishes a study at the practice panel, has its people submit, approves them and gives each a bonus. One call
in five meets a fault: lost before or after it was carried out, doubled, answered too late, cut, 502, a page of HTML
with status 200, 429. Two processes run at once, as in `benchmarks.ledger`, and are killed (SIGKILL) at random moments;
so is the panel now and then. What nothing proves waits for a person, who looks at the panel's own books and decides.
Then these books and the balance are compared with the ledger, and logs, records, export and error texts are searched
for ids of people and submissions.

Three kinds in nine leave a call that pays undone, so that 6.7 % of the bonuses wait for a person on average. Those of
one call wait together: with two in a call, chance takes 500 people over 12 % in one seed of some hundreds; with ten, in
one of a dozen. With 40 people and two in a call, it does so in one seed of five.

A call that pays and comes twice pays twice, and no client can undo that: everybody whom it has paid twice has to show
as a difference of that amount, and nobody else; a person adopts it, and the books are equal again.

Every seed is a line of JSON in FILE; seeds that stand there already are not run again. Ends with status 1 when a seed
went wrong.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from benchmarks._command import run
from benchmarks.ledger import seeds_in
from tests.panel.server import PanelServer


def main(
    *,
    seeds: Annotated[str, "like 1-10, or 3,5,9 (default: 1-10)"] = "1-10",
    people: int = 500,
    share: Annotated[float, "of all calls, so many meet a fault"] = 0.2,
    per_call: Annotated[int, "bonuses that one call pays: they are parked together"] = 2,
    kill_after: Annotated[float, "mean life of a sender, s"] = 1.0,
    out: Annotated[Path | None, "JSON lines; seeds in it are skipped"] = None,
) -> bool:
    lines = map(json.loads, out.read_text(encoding="utf-8").splitlines()) if out is not None and out.exists() else ()
    done = {line["seed"] for line in lines if (line["people"], line["fault_share"]) == (people, share)}
    wrong = 0
    waiting = [seed for seed in seeds_in(seeds) if seed not in done]
    with tempfile.TemporaryDirectory(prefix="hx-panel-fire-") as folder:
        rounds = _rounds(waiting, people, share, per_call, kill_after, Path(folder))
        for line in rounds:
            print(line, flush=True)
            if out is not None:
                with out.open("a", encoding="utf-8") as stream:
                    stream.write(f"{line}\n")
            wrong += bool(json.loads(line)["faults"])
    return not wrong


def _rounds(
    seeds: list[int], people: int, share: float, per_call: int, kill_after: float, folder: Path
) -> Iterator[str]:
    """The outcome of each seed, which has a process, a database and a panel of its own."""
    for seed in seeds:
        own = folder / str(seed)
        own.mkdir()
        pid = os.fork()
        if not pid:
            try:
                os._exit(_round(seed, people, share, per_call, kill_after, own))
            except BaseException:  # noqa: BLE001  (it ends here, before it takes the folder of the others along)
                traceback.print_exc()
                os._exit(1)
        os.waitpid(pid, 0)
        told = own / "outcome.json"
        if not told.exists():
            raise RuntimeError((own / "said.txt").read_text(errors="replace")[-4_000:])
        yield told.read_text(encoding="utf-8")
        shutil.rmtree(own)


def _round(seed: int, people: int, share: float, per_call: int, kill_after: float, folder: Path) -> int:
    said = folder / "said.txt"
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    os.environ.update(
        DATABASE_URL=f"sqlite:///{folder / 'platform.sqlite3'}",
        MEDIA_ROOT=str(folder),
        DJANGO_SETTINGS_MODULE="humanexp.settings",
        FIRST_BONUS_CAP_CENTS="200",
        BONUSES_PER_CALL=str(per_call),
    )
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command

    from benchmarks._ledger_processes import in_a_process
    from benchmarks._panel_fire import BREATH_S, TIMEOUT_S, PanelFire
    from humanexp.recruiters.prolific import transport
    from humanexp.recruiters.prolific.recruiter import ProlificRecruiter

    migrated, database = folder.parent / "migrated.sqlite3", folder / "platform.sqlite3"
    if migrated.exists():
        shutil.copyfile(migrated, database)
    else:
        in_a_process(lambda: call_command("migrate", verbosity=0))
        with closing(sqlite3.connect(database)) as made:
            made.execute("VACUUM INTO ?", (str(migrated),))  # with what is still in its journal
    transport.TIMEOUT_S = (5, TIMEOUT_S)  # type: ignore[assignment]
    ProlificRecruiter.breath_s = BREATH_S
    panel = PanelServer(folder / "panel").start()
    try:
        lab = panel.lab(balance_cents=10_000_000)
        settings.PANEL_URL, settings.PANEL_TOKEN = panel.url, lab.token
        panel.control("switches", seed=seed, settling_s=240, late_share=0.01, wallet_s=0.01)
        fire = PanelFire(
            seed=seed, people=people, panel=panel, lab=lab, share=share, said=said, kill_after_s=kill_after
        )
        outcome = fire.run()
        found = {**asdict(outcome), "parked_share": round(outcome.parked_share, 4)}
        (folder / "outcome.json").write_text(json.dumps(found), encoding="utf-8")
    finally:
        panel.stop()
    return 0


if __name__ == "__main__":
    run(main)
