"""Do the pages of a study with two million answers stay quick, and what do the counts behind them cost?

    python -m benchmarks.large_study [--answers 2000000] [--repeats 3] [--kept FOLDER] [--people-only] [--pages-only]

Some sessions are written as in benchmarks.console, with the record of their frames, some of them under way, withdrawn,
rejected, paid a bonus or judged by hand, and copied by SQL until there are so many answers (SQLite; some minutes, some
GB of disk; `--kept` leaves the database in a folder, and another run goes on with it). First the counts over all
answers, as jobs make them; then every page of the study as Django's test client sees it, template included. `times` is
what the count takes, which the page did itself before, in units of what the page takes now; `of limit` is a page's core
time over the 150 ms of one core that no page may exceed.

`--people-only` copies everything but trials and answers, in seconds: what pages take without the counts, as they read
no answers of the many. `--pages-only` leaves the counts out, which a kept database holds from an earlier run.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import Annotated, Any

from benchmarks._command import run
from benchmarks._pages import signed_in, site, timed, write
from benchmarks.console import GOLDS, LIMIT_MS, MAIN, PAGES, STUDY, fill

SEED_SESSIONS = 500
COUNTED = {"timing": "timing/", "golds": "review/golds/", "answers": "monitor/answers/", "sessions": "sessions/"}
OTHERS = ("", "timing/", "sessions/", "members/", "audit/", "preflight/", "results/")
#: What the browser measures of a trial, as engine 2.0 sends it.
TIMING = {
    "t_refresh_median_ms": 16.67, "t_refresh_mad_ms": 0.04, "frames_target": 12, "frames_shown": 12,
    "dur_stim_ms": 200.1, "dur_mask_ms": 200.0, "dur_fix_ms": 300.1, "isi_frames": 0, "dur_stim_taken_ms": 200.3,
    "max_frame_gap_ms": 16.9, "n_long_frames": 0, "n_ramp_steps_missed": 0, "n_onset_waits": 0,
    "callback_lag_max_ms": 1.2, "lag_stim_on_ms": 0.4, "lag_stim_off_ms": 0.5, "visible_whole_trial": True,
    "focused_whole_trial": True, "fullscreen": True, "resized": False, "dpr": 2.0, "css_px": 256.0, "canvas_px": 512,
    "decode_ok": True, "n_clicks": 1, "engine_version": "2.1",
}  # fmt: skip


def main(
    *,
    answers: int = 2_000_000,
    repeats: int = 3,
    kept: Annotated[Path | None, "folder in which the database stays"] = None,
    people_only: Annotated[bool, "no answers of the copies, and no counts"] = False,
    pages_only: Annotated[bool, "no counts"] = False,
) -> bool:
    with site("large", kept=kept):
        return measure(answers, repeats, people_only=people_only, counts=not (people_only or pages_only))


def measure(answers: int, repeats: int, *, people_only: bool, counts: bool) -> bool:
    from django.core.cache import cache

    from humanexp.core.models import User
    from humanexp.participation.models import Session
    from humanexp.participation.tallies import make_tally
    from humanexp.studies.models import Study

    user = User.objects.filter(username="benchmark").first() or User.objects.create_superuser("benchmark")
    client = signed_in(user)
    if not Study.objects.exists():
        began = time.perf_counter()
        write_study(answers, user, people_only=people_only)
        write(f"{Session.objects.count():,} sessions, written in {time.perf_counter() - began:.0f} s")
    study = Study.objects.get(slug="large")
    counting_ms = {}
    for name, path in COUNTED.items() if counts else ():
        worked = time.process_time()
        tally = make_tally(study=study, name=name, report=lambda done, total: None)
        counting_ms[path] = 1000 * (time.process_time() - worked)
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        seconds = counting_ms[path] / 1000
        write(f"counting {name}: {tally.answers:,} answers, {seconds:.1f} s of a core, peak memory {peak_mb:.0f} MB")
    write(f"{'page':<68}{'first, ms':>10}{'ms':>7}{'core, ms':>10}{'kB':>6}{'times':>8}{'of limit':>10}")
    slow = []
    for path in dict.fromkeys((*OTHERS, *PAGES)):
        took = timed(client, STUDY + path, repeats=repeats, beforehand=cache.clear)
        times = f"{counting_ms[path] / took.core_ms:.0f}" if path in counting_ms else ""
        line = f"{path or '(overview)':<68}{took.first_ms:>10.0f}{took.ms:>7.0f}{took.core_ms:>10.0f}"
        is_over = took.core_ms > LIMIT_MS
        write(
            f"{line}{took.kilobytes:>6.0f}{times:>8}{took.core_ms / LIMIT_MS:>10.2f}  {'over' if is_over else 'PASS'}"
        )
        if is_over:
            slow.append(f"{path or '(overview)'} {took.core_ms:.0f} ms")
    write(f"over {LIMIT_MS} ms of one core: {', '.join(slow) or 'none'}")
    return not slow


def write_study(answers: int, user: Any, *, people_only: bool) -> None:
    from humanexp.participation.models import Response, Trial
    from humanexp.participation.openings import keep_working_times

    fill(SEED_SESSIONS, user)
    Response.objects.update(timing=TIMING)
    vary(user)
    keep_working_times()
    copy(
        answers // (SEED_SESSIONS * (GOLDS + MAIN)) - 1,
        without=(Trial, Response) if people_only else (),
    )


def vary(user: Any) -> None:
    """A few of the first sessions, of the few that are not paid yet, and of the others become what most are not."""
    from django.utils import timezone

    from humanexp.ledger.models import Payment
    from humanexp.participation.models import Response, Session, SessionState
    from humanexp.recruiters.models import Assignment
    from humanexp.recruiters.states import AssignmentState, WriteState
    from humanexp.screening.services import append_verdict

    now, sessions = timezone.now(), Session.objects.order_by("slot")
    under_way, withdrawn, rejected, unmatched = (range(first, 500, 100) for first in (10, 30, 50, 70))
    Session.objects.filter(slot__in=under_way).update(
        state=SessionState.OPEN, completed_at=None, submitted_at=None, cursor=MAIN // 2, lease="tab"
    )
    Response.objects.filter(session__slot__in=under_way, position__gte=MAIN // 2).delete()
    Session.objects.filter(slot__in=withdrawn).update(
        state=SessionState.WITHDRAWN, withdrawn_from=SessionState.SUBMITTED, withdrawn_at=now
    )
    for session in sessions.filter(slot__in=under_way):
        session.verdicts.all().delete()
    for slots, facts in (
        (under_way, {"state": AssignmentState.OPENED, "evidence": "", "submitted_at": None}),
        (withdrawn, {"state": AssignmentState.RETURNED, "evidence": "", "submitted_at": None}),
        (rejected, {"state": AssignmentState.REJECTED, "decided_at": now, "rejection_reason": "Keys at random."}),
        (unmatched, {"evidence": "unknown"}),
    ):
        Assignment.objects.filter(session__slot__in=slots).update(**facts)
    for session in sessions.filter(slot__in=range(7, 500, 50)):
        Payment.objects.create(
            environment="marketplace", state=WriteState.CONFIRMED, token=f"bonus-{session.slot}", kind="bonus",
            assignment=session.assignment, campaign=session.assignment.campaign, cause="care", amount_cents=25,
            fee_cents=5, reason="Thank you.", confirmed_at=now,
        )  # fmt: skip
    for session in sessions.filter(slot__in=range(13, 500, 100)):
        append_verdict(
            session=session, accepted=False, reasons=[], rule_set="vcr", rule_version="1", decided_by=user,
            written_reason="Wrote that somebody else sat there.",
        )  # fmt: skip


def copy(copies: int, *, without: tuple[Any, ...] = ()) -> None:
    """Every row of the first sessions so many times more; keys and codes are told apart by the number of the copy."""
    from django.db import connection

    from humanexp.ledger.models import Payment
    from humanexp.participation.models import Participant, Response, Session, Trial
    from humanexp.recruiters.models import Assignment, RecruitedPerson
    from humanexp.screening.models import Verdict

    models: tuple[Any, ...] = (Participant, RecruitedPerson, Session, Trial, Response, Verdict, Assignment, Payment)
    named = {"code", "worker_id", "assignment_id", "token"}
    with connection.cursor() as cursor:
        for pragma in ("foreign_keys=OFF", "synchronous=OFF"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.execute("CREATE TEMP TABLE number AS WITH RECURSIVE n(c) AS "
                       "(SELECT 1 UNION ALL SELECT c + 1 FROM n WHERE c < %s) SELECT c FROM n", [copies])  # fmt: skip
        strides = {model: model.objects.order_by("-pk").first().pk for model in models}
        for model in [model for model in models if model not in without]:
            columns, values = [], []
            for field in model._meta.concrete_fields:
                column = f'"{field.column}"'
                moved = model if field.primary_key else field.related_model if field.is_relation else None
                columns.append(column)
                if moved in strides:
                    values.append(f"{column} + c * {strides[moved]}")
                elif field.name == "slot":
                    values.append(f"{column} + c * {SEED_SESSIONS}")
                elif field.name in named:
                    values.append(f"{column} || '-' || c")
                else:
                    values.append(column)
            table = model._meta.db_table
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} "  # noqa: S608  names of ours
                f"FROM (SELECT * FROM {table} WHERE id <= {strides[model]}), number"
            )
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("ANALYZE")


if __name__ == "__main__":
    run(main)
