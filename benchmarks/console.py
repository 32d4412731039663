"""Do the pages of a large crowd study stay quick? Server times of recruit, monitor, review and ledger.

    python -m benchmarks.console [--sessions 10000] [--repeats 5]

A study of so many finished sessions is written into a database of this run's own: each with a listed assignment, a
reward in the ledger, a verdict with evidence, eight golds and forty corrupted pictures, all answered (that takes some
two minutes). Medians of the whole request as Django's test client sees it, template included. Wanted: no page above
150 ms of one core.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from benchmarks._command import run
from benchmarks._pages import signed_in, site, timed, write

LIMIT_MS = 150
GOLDS, MAIN, BATCH = 8, 40, 500
ROUND = 8
BLOCKS = [
    {"index": n, "kind": "main", "task": "categorisation", "first": ROUND * n, "last": ROUND * n + 7, "feedback": False}
    for n in range((GOLDS + MAIN) // ROUND)
]
STUDY = "/studies/large/"
PAGES = (
    "recruit/",
    "recruit/price/?to=marketplace&assignments=100&reward=1.20&hits=small",
    "monitor/",
    "monitor/answers/",
    "recruit/exclusions/",
    "monitor/ledger/",
    "monitor/ledger/?state=confirmed&page=50",
    "monitor/top-up/",
    "review/",
    "review/?show=excluded",
    "review/?show=flagged&page=20",
    "review/?show=gold trials failed",
    "review/?page=200",
    "review/S-000005/",
    "review/golds/",
)
#: Shown after the page they belong to, by a request of their own.
AFTERWARDS = ("review/golds/", "monitor/answers/")


@site("console")
def main(*, sessions: int = 10_000, repeats: int = 5) -> bool:
    from django.core.cache import cache

    from humanexp.core.models import User

    user = User.objects.create_superuser("benchmark")
    client = signed_in(user)
    fill(sessions, user)
    write(f"{sessions:,} sessions, median of {repeats}; first = with an empty cache")
    write(f"{'page':<68}{'first, ms':>10}{'ms':>7}{'core, ms':>10}{'kB':>6}")
    slowest = 0.0
    for path in PAGES:
        took = timed(client, STUDY + path, repeats=repeats, beforehand=cache.clear)
        write(f"{path:<68}{took.first_ms:>10.0f}{took.ms:>7.0f}{took.core_ms:>10.0f}{took.kilobytes:>6.0f}")
        if path not in AFTERWARDS:
            slowest = max(slowest, took.core_ms)
    write(f"slowest page {slowest:.0f} ms of one core, wanted {LIMIT_MS}")
    return slowest <= LIMIT_MS


def fill(count: int, user: Any) -> None:
    from django.utils import timezone

    from analysis.study.rules import load_rule_set
    from humanexp.recruiters.models import Campaign, Hit
    from humanexp.recruiters.states import HitState
    from humanexp.studies.models import Protocol, Study, StudyFamily, StudyState
    from tests.factories import configuration, make_stimulus_set

    now = timezone.now()
    chosen = configuration()
    stimuli = make_stimulus_set()
    study = Study.objects.create(
        family=StudyFamily.objects.create(slug="large"),
        slug="large",
        title="A large study",
        state=StudyState.COLLECTING,
        protocol=Protocol.objects.create(name="vcr", configuration=chosen.protocol.to_dict(), digest="0"),
        stimulus_set=stimuli,
        configuration=chosen.to_dict(),
        rule_set=load_rule_set("vcr").to_dict(),
        planned_sessions=2 * count,
        created_by=user,
        frozen_at=now,
    )
    campaign = Campaign.objects.create(
        study=study,
        environment="marketplace",
        entry="entry",
        title="Pictures",
        description="Pictures",
        reward_cents=120,
        assignments=count + 100,
        assignments_per_hit=9,
        estimated_minutes=8,
        assignment_duration_s=1800,
        lifetime_s=86_400,
        quoted_cents=144 * (count + 100),
        cap_cents=200 * (count + 100),
        launched_at=now - timedelta(days=2),
        synced_at=now,
    )
    hits = Hit.objects.bulk_create(
        Hit(
            campaign=campaign,
            number=number + 1,
            environment="marketplace",
            hit_id=f"HIT{number}",
            state=HitState.OPEN,
            max_assignments=9,
        )
        for number in range(-(-(count + 100) // 9))
    )
    pictures = list(stimuli.stimuli.order_by("pk").select_related("source_image"))
    for first in range(0, count, BATCH):
        _fill_batch(range(first, min(first + BATCH, count)), study, campaign, hits, pictures, now)


def _fill_batch(numbers: range, study: Any, campaign: Any, hits: list[Any], pictures: list[Any], now: Any) -> None:
    from humanexp.ledger.models import Payment
    from humanexp.participation.models import Participant, Response, Session, SessionState, Trial
    from humanexp.recruiters.models import Assignment, RecruitedPerson
    from humanexp.recruiters.states import AssignmentState, WriteState
    from humanexp.screening.models import Verdict
    from humanexp.studies.plans import blocks_digest

    people = Participant.objects.bulk_create(
        Participant(family=study.family, code=f"P-{number:06d}") for number in numbers
    )
    recruited = RecruitedPerson.objects.bulk_create(
        RecruitedPerson(environment="marketplace", worker_id=f"W{person.code}", family=study.family, participant=person)
        for person in people
    )
    begun = [now - timedelta(days=2) + timedelta(seconds=15 * number) for number in numbers]
    sessions = Session.objects.bulk_create(
        Session(
            study=study,
            participant=person,
            code=f"S-{number:06d}",
            slot=number,
            state=SessionState.SUBMITTED,
            total=GOLDS + MAIN,
            cursor=GOLDS + MAIN,
            blocks=BLOCKS,
            blocks_digest=blocks_digest(BLOCKS),
            token_nonce=str(number),
            opened_at=at,
            completed_at=at + _took(number),
            submitted_at=at + timedelta(minutes=11),
            last_seen_at=at + timedelta(minutes=10),
        )
        for number, person, at in zip(numbers, people, begun, strict=True)
    )
    trials = Trial.objects.bulk_create(
        [
            Trial(
                session=session,
                position=position,
                block=position // ROUND,
                task="categorisation",
                role="gold" if position < GOLDS else "main",
                stimulus=pictures[(session.slot * 7 + position * 13) % (96 if position < GOLDS else len(pictures))],
                correct_response="cat",
                mask_seed=position,
            )
            for session in sessions
            for position in range(GOLDS + MAIN)
        ],
        batch_size=5_000,
    )
    Response.objects.bulk_create(
        [
            Response(
                session_id=trial.session_id,
                trial=trial,
                position=trial.position,
                response="cat",
                correct=(trial.pk % 11) > 0,
                rt_ms=600.0 + trial.pk % 500,
                timing={"n_long_frames": 0},
                timing_ok=True,
                received_at=trial.session.opened_at + _took(trial.session.slot) * (trial.position + 1) / (GOLDS + MAIN),
            )
            for trial in trials
        ],
        batch_size=5_000,
    )
    Verdict.objects.bulk_create(
        Verdict(
            session=session,
            study=study,
            accepted=bool(session.slot % 8),
            reasons=[] if session.slot % 8 else ["gold trials failed" if session.slot % 3 else "timing"],
            flags=[] if session.slot % 5 else ["favourite answer"],
            evidence=_evidence(bool(session.slot % 8)),
            rule_set="vcr",
            rule_version="1",
            decided_at=now,
        )
        for session in sessions
    )
    assignments = Assignment.objects.bulk_create(
        Assignment(
            environment="marketplace",
            assignment_id=f"A{session.slot}",
            campaign=campaign,
            hit=hits[session.slot // 9],
            person=person,
            session=session,
            state=AssignmentState.APPROVED if session.slot % 10 else AssignmentState.SUBMITTED,
            evidence="receipt",
            opened_at=session.opened_at,
            submitted_at=session.submitted_at,
            auto_approves_at=now + timedelta(days=1),
        )
        for session, person in zip(sessions, recruited, strict=True)
    )
    Payment.objects.bulk_create(
        Payment(
            environment="marketplace",
            state=WriteState.CONFIRMED,
            token=f"token-{assignment.assignment_id}",
            kind="reward",
            assignment=assignment,
            campaign=campaign,
            cause="submission",
            amount_cents=120,
            fee_cents=24,
            confirmed_at=now,
        )
        for assignment in assignments
        if assignment.state == AssignmentState.APPROVED
    )


def _took(number: int) -> timedelta:
    """From six to ten minutes, at a constant pace."""
    return timedelta(minutes=6, seconds=number % 240)


def _evidence(passed: bool) -> list[dict[str, Any]]:
    kinds = ("sentinels", "timing", "one_key", "fast", "misses", "entropy", "timing_unknown")
    return [
        {
            "reason": "gold trials failed" if kind == "sentinels" else kind,
            "kind": kind,
            "severity": "gate",
            "value": 7.0 if passed else 3.0,
            "threshold": 6.0,
            "passed": passed or kind != "sentinels",
            "trials": GOLDS,
            "positions": [] if passed else [1, 3, 5],
            "sessions": 1,
        }
        for kind in kinds
    ]


if __name__ == "__main__":
    run(main)
