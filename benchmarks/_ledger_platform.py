"""What the platform does in a round of the ledger under fire; each method runs in a process of its own."""

from __future__ import annotations

import random
import secrets
from typing import Any

from humanexp.core import clock

REWARD_CENTS, MOST_BONUS_CENTS = 37, 200
POLLS_ONE_IN = 6


class PlatformSide:
    """Holds no connection and no row: only what tells one round from another."""

    #: where people are found, and which part of them earns a bonus
    environment, bonus_share = "marketplace", 0.5

    def __init__(self, *, seed: int, people: int) -> None:
        self.seed, self.people, self.slug = seed, people, f"fire-{seed}"

    def _launch(self) -> None:
        from humanexp.ledger.budgets import set_month_cap
        from humanexp.recruiters.models import DAY_S
        from humanexp.recruiting.launch import LaunchTerms, publish
        from humanexp.studies.models import Study
        from tests.recruitment.studies import make_study

        study = make_study(self.slug)
        Study.objects.filter(pk=study.pk).update(planned_sessions=self.people)
        study.refresh_from_db()
        set_month_cap(environment=self.environment, cap_cents=None, by=None)
        publish(
            study=study,
            terms=LaunchTerms(
                to=self.environment,
                assignments=self.people,
                reward_cents=REWARD_CENTS,
                title=f"Under fire {self.seed}",
                cap_cents=10_000_000,
                lifetime_s=300 * DAY_S,
                # with even seeds time approves some of it
                auto_approval_s=(1 if self.seed % 2 == 0 else 30) * DAY_S,
                contact="ada@example.org",
            ),
            skip_preflight=True,
        )

    def _send(self) -> None:
        from humanexp.ledger.sender import send

        for _ in range(20):
            send(environment=self.environment)
            if not self._waiting():
                return

    def _leases_run_out(self) -> int:
        """Of senders that were killed."""
        from humanexp.recruiters.models import RecruiterAccount

        return RecruiterAccount.objects.update(holder="")

    def _keep_books(self) -> None:
        """Poll, settle, clear, plan bonuses, send: all of it again in every life, and each of it once in the end."""
        from humanexp.core.models import User
        from humanexp.ledger.payments import unmatched
        from humanexp.ledger.settlement import clear, plan_bonus, settle
        from humanexp.recruiters.models import Assignment
        from humanexp.recruiting.polling import sync

        study, by = self._study(), User.objects.get_or_create(username="ada", defaults={"is_staff": True})[0]
        # Everything of a thousand people is listed by hundreds of calls: once it was, most lives have other work.
        if self._unlisted(study) or secrets.randbelow(POLLS_ONE_IN) == 0:
            sync(study=study)
        submitted = Assignment.objects.filter(campaign__study=study, state="submitted")
        if submitted.exclude(calls__kind="reward").exists():
            settle(study=study)
            for row in unmatched(study):
                clear(assignment=row, by=by)
        known = set(Assignment.objects.filter(calls__kind="bonus").values_list("pk", flat=True))
        for row in Assignment.objects.filter(campaign__study=study, state__in=["submitted", "approved"]):
            cents = self.bonus_cents(row.assignment_id)
            if cents and row.pk not in known:
                plan_bonus(assignment=row, amount_cents=cents, cause="care", reason="For your care.")
        self._send()

    def bonus_cents(self, assignment_id: str) -> int:
        """The same, whoever asks and however often."""
        chance = random.Random(f"{self.seed}-{assignment_id}")  # noqa: S311
        return chance.randint(1, MOST_BONUS_CENTS) if chance.random() < self.bonus_share else 0

    def _waiting(self) -> int:
        from humanexp.ledger.sender import count_waiting

        return count_waiting(self.environment)

    def _unpaid(self) -> int:
        """People who are not approved, bonuses that are not confirmed, and whatever else waits."""
        from humanexp.ledger.models import Payment
        from humanexp.recruiters.models import Assignment

        study = self._study()
        approved = Assignment.objects.filter(campaign__study=study, state="approved").count()
        bonuses = Payment.objects.filter(assignment__campaign__study=study, kind="bonus", state="confirmed").count()
        names = Assignment.objects.filter(campaign__study=study).values_list("assignment_id", flat=True)
        earned = sum(bool(self.bonus_cents(name)) for name in names)
        return self.people - approved + earned - bonuses + self._waiting()

    def _places(self) -> list[str]:
        from humanexp.recruiters.models import Hit

        hits = Hit.objects.filter(campaign__study=self._study()).order_by("pk")
        return [hit.hit_id for hit in hits for _ in range(hit.max_assignments)]

    def _consent(self, taken: list[tuple[str, str, str]]) -> dict[str, str]:
        """Rows of people who did everything here; one in fifty never came by, one in four is excluded afterwards."""
        from humanexp.participation.models import Session
        from humanexp.participation.openings import receipt_for
        from humanexp.recruiters.models import Assignment, Campaign, Hit
        from humanexp.recruiters.people import person_for
        from humanexp.screening.models import Verdict

        study = self._study()
        campaign, hits = Campaign.objects.get(study=study), {hit.hit_id: hit for hit in Hit.objects.all()}
        receipts, now = {}, clock.now()
        for slot, (worker_id, hit_id, assignment_id) in enumerate(taken):
            if slot % 50 == 7:
                continue
            person = person_for(environment=self.environment, worker_id=worker_id, family=study.family)
            session = Session.objects.create(
                study=study,
                participant=person.participant,
                code=f"S-{self.seed}-{slot}",
                slot=slot,
                state="completed",
                total=3,
                cursor=3,
                token_nonce="n",  # noqa: S106
                opened_at=now,
                completed_at=now,
            )
            Assignment.objects.create(
                campaign=campaign,
                hit=hits[hit_id],
                environment=self.environment,
                assignment_id=assignment_id,
                person=person,
                session=session,
                opened_at=now,
            )
            is_out = slot % 4 == 3
            Verdict.objects.create(
                session=session,
                study=study,
                accepted=not is_out,
                reasons=["gold trials failed"] if is_out else [],
                rule_set="none",
                rule_version="1",
                decided_at=now,
            )
            receipts[assignment_id] = receipt_for(session=session)
        return receipts

    def _stop(self) -> None:
        from humanexp.recruiting.extension import stop

        stop(study=self._study())

    def _books(self) -> dict[str, Any]:
        """The ledger's side of the truth."""
        from humanexp.ledger.models import Payment
        from humanexp.ledger.reconciliation import reconcile
        from humanexp.recruiters.models import Hit
        from humanexp.recruiting.polling import sync

        study = self._study()
        sync(study=study)
        [book] = reconcile(environment=self.environment)
        rows = Payment.objects.filter(assignment__campaign__study=study).select_related("assignment__session")
        paid_out = [row for row in rows if row.kind == "reward" and _is_excluded(row)]
        by_time = [row for row in rows if row.kind == "reward" and not row.attempts]
        return {
            "adds_up": book.adds_up,
            "differences": book.differences[:5],
            "hits": list(Hit.objects.filter(campaign__study=study).values_list("hit_id", flat=True)),
            "rows": [
                [row.kind, row.state, row.assignment.assignment_id, row.amount_cents, row.cost_cents] for row in rows
            ],
            "attempts": sum(row.attempts for row in rows),
            "excluded": len(paid_out),
            "by_time": len(by_time),
        }

    def _study(self) -> Any:
        from humanexp.studies.models import Study

        return Study.objects.select_related("family").get(slug=self.slug)

    def _unlisted(self, study: Any) -> bool:
        from humanexp.recruiters.models import Assignment
        from humanexp.recruiters.states import LISTED

        return Assignment.objects.filter(campaign__study=study, state__in=LISTED).count() < self.people


def _is_excluded(row: Any) -> bool:
    session = row.assignment.session
    return session is not None and session.verdicts.filter(accepted=False).exists()
