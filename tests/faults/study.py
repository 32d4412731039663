"""A paid study from its first participant to the last cent, while something is done to the machine it runs on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.journeys.books import check_answers, check_money
from tests.journeys.site import Heard, Site, wait_for
from tests.journeys.test_crashes import BONUS_CENTS, begin_people, settle_until_done
from tests.limits import LIMIT

ANSWERS_BEFORE = 12


def study_through(
    site: Site,
    folder: Path,
    *,
    during_answers: Callable[[], object],
    during_payments: Callable[[], object],
    before_checks: Callable[[], object] = lambda: None,
    participants: int = 4,
) -> str:
    """No answer lost or doubled, everybody paid once, and no process stopped; returns the figures."""
    began_at, processes = time.monotonic(), {name: process for name, (_stack, process) in site.running.items()}
    site.must("publish", "flow", "--to", "marketplace", "--assignments", str(participants), "--cap", "100.00")
    heard = Heard(folder / "heard.jsonl")
    people = begin_people(site, heard.path, participants, seed=3)
    wait_for(
        lambda: len(heard.replies(r"/responses/$")) >= ANSWERS_BEFORE or people.poll() is not None,
        "answers",
        patience_s=120,
    )
    assert people.poll() is None, people.communicate()[0]
    during_answers()
    said, _ = people.communicate(timeout=LIMIT)
    assert people.returncode == 0, said
    site.must("sync", "flow")
    check_answers(site, heard, complete=participants)

    settle_until_done(site, hurry=False)
    status, said = site.run("-m", "tests.journeys.bonuses", "flow", str(BONUS_CENTS))
    assert status == 0, said
    during_payments()
    wait_for(
        lambda: len(site.marketplace("SELECT id FROM marketplace_bonuspayment")) >= participants,
        "bonuses that the job runner pays",
        patience_s=120,
    )
    before_checks()
    check_money(site, heard, paid=participants, bonus_cents=BONUS_CENTS)
    for name, process in processes.items():
        assert process.poll() is None, f"{name} has stopped: {site.log(name)[-2000:]}"
    return (
        f"{len(heard.answers())} answers acknowledged, 0 lost, 0 doubled; {2 * participants} payments, 0 twice, "
        f"0 unpaid; 0 of {len(processes)} processes stopped; {time.monotonic() - began_at:.0f} s"
    )
