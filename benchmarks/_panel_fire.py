"""One round of bonuses without a token under fire: a study at the panel, its people, faults, kills, and the books."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from benchmarks._ledger_lives import Lives, LivesSpent
from humanexp.core import clock
from humanexp.core.errors import RecruiterUnavailable
from tests.panel.server import Lab, PanelServer

#: Of the calls of every kind, reads among them, so many meet a fault; these are the kinds in equal parts.
FAULT_SHARE = 0.2
FAULTS = (
    "lost_before",
    "lost_after",
    "doubled",
    "delayed",
    "cut_body",
    "bad_gateway",
    "bad_gateway_after",
    "html",
    "too_many",
)
#: Longer than a client waits here.
DELAY_S, TIMEOUT_S = 4, 2.5
#: Before the next write after one without an answer. The real service is given a second, twice that and so on: clock
#: time in which nothing happens, and longer than a sender lives here.
BREATH_S = 0.02
PATIENCE_S = 900
#: After so many of its lives, the panel's process is killed, too.
PANEL_DIES = 0.05
REWARD_CENTS = 37
DAY_S = 86_400


@dataclass
class Outcome(LivesSpent):
    """What one seed came to."""

    people: int = 0
    fault_share: float = FAULT_SHARE
    panel_kills: int = 0
    calls_to_pay: int = 0
    bonuses: int = 0
    #: bonuses and rewards that a machine left to a person, the first time
    parked: int = 0
    parked_rewards: int = 0
    #: of these, paid in truth
    parked_and_paid: int = 0
    decisions: int = 0
    #: people whom a doubled call has paid twice: each is a difference in the books, which a person adopts
    paid_twice: int = 0
    paid_cents: int = 0
    charged_cents: int = 0

    @property
    def parked_share(self) -> float:
        return self.parked / self.bonuses if self.bonuses else 0.0


class PanelFire(Lives):
    """A seed's round. `said` is the file that every process writes its log to."""

    environment, bonus_share = "panel", 1.0
    outcome: Outcome

    def __init__(
        self, *, seed: int, people: int, panel: PanelServer, lab: Lab, share: float, said: Path, kill_after_s: float
    ) -> None:
        super().__init__(seed=seed, people=people, shift_s=0.0, kill_after_s=kill_after_s)
        self.panel, self.lab, self.share, self.said = panel, lab, share, said
        self.outcome = Outcome(seed=seed, people=people, fault_share=share)
        self.ids: list[tuple[str, str]] = []

    def run(self) -> Outcome:
        """From the launch to the books."""
        begun, outcome = time.monotonic(), self.outcome
        before = self.lab.balance()[0]
        self._arm()
        self._process(self._launch)
        self._live([self._send], left=self._waiting)
        study, code = self._process(self._study_there)
        self._take_part(study, code)
        self._live([self._keep_books, self._send, self._send], left=self._unsettled)
        outcome.parked, outcome.parked_rewards = self._process(self._count_parked)
        self._decide_all()
        self._control("clear", seed=self.seed)
        self.advance(DAY_S)  # whatever is late has come
        adopted = self._process(self._adopt_all)
        books = self._process(self._books)
        self._compare_twice(adopted)
        self._compare(books, spent=before - self.lab.balance()[0])
        self._search_for_ids(books)
        outcome.seconds = round(time.monotonic() - begun, 1)
        return outcome

    # Weather ----------------------------------------------------------------------------------------------------

    def _arm(self) -> None:
        self._control("clear", seed=self.seed)
        if not self.share:
            return
        for operation in OPERATIONS:
            each, met = self.share / len(FAULTS), 0.0
            for kind in FAULTS:  # one after the other draws: equal parts of all calls
                fault = {"operation": operation, "kind": kind, "share": each / (1 - met)}
                self._control("faults", **fault, times=10**9, seconds=DELAY_S)
                met += each

    def advance(self, seconds: float) -> None:
        if self.share and self.random.random() < PANEL_DIES:
            port = self.panel.port
            self.panel.kill()
            self.panel.start(port)
            self.outcome.panel_kills += 1
            self._arm()  # faults live in its memory
        self._control("clock", advance_seconds=seconds)
        self.shift_s += seconds

    def _control(self, name: str, **wanted: Any) -> Any:
        answer = requests.post(f"{self.panel.url}/control/{name}/", json=wanted, timeout=PATIENCE_S)
        answer.raise_for_status()
        return answer.json()

    # What the platform does -------------------------------------------------------------------------------------

    def _launch(self) -> None:
        from humanexp.ledger.budgets import set_month_cap
        from humanexp.recruiters.models import DAY_S
        from humanexp.recruiting.launch import LaunchTerms, publish
        from humanexp.studies.models import Study
        from tests.recruitment.studies import make_study

        study = make_study(self.slug)
        Study.objects.filter(pk=study.pk).update(planned_sessions=self.people)
        study.refresh_from_db()
        terms = LaunchTerms(
            to=self.environment,
            assignments=self.people,
            reward_cents=REWARD_CENTS,
            estimated_minutes=3,
            title=f"Under fire {self.seed}",
            cap_cents=10_000_000,
            lifetime_s=300 * DAY_S,
            contact="ada@example.org",
        )
        set_month_cap(environment=self.environment, cap_cents=None, by=None)
        while True:
            # Like whoever reads "Nothing was launched. Try again when it answers."
            with suppress(RecruiterUnavailable):
                publish(study=study, terms=terms, skip_preflight=True)
                return

    def _study_there(self) -> tuple[str, str]:
        from humanexp.recruiters.models import Hit

        hit = Hit.objects.get(campaign__study=self._study())
        return hit.hit_id, hit.campaign.site.codes["finished"].code

    def _take_part(self, study: str, code: str) -> None:
        """Everybody does the work there; here they have done it before, as far as they ever came by."""
        came = self._control("act", study_id=study, people=self.people, code=code)["submissions"]
        self.ids = [(one["participant_id"], one["submission_id"]) for one in came]
        self._process(lambda: self._consent([(person, study, submission) for person, submission in self.ids]))

    def _unsettled(self) -> int:
        """People who are not approved, bonuses that are neither proved nor left to a person, and what else waits."""
        from humanexp.ledger.models import Payment
        from humanexp.recruiters.models import Assignment

        study = self._study()
        approved = Assignment.objects.filter(campaign__study=study, state="approved").count()
        settled = Payment.objects.filter(campaign__study=study, kind="bonus", state__in=["confirmed", "parked"])
        return 2 * self.people - approved - settled.count() + self._waiting()

    def _count_parked(self) -> tuple[int, int]:
        from humanexp.ledger.models import Payment

        parked = Payment.objects.filter(campaign__study=self._study(), state="parked")
        return parked.filter(kind="bonus").count(), parked.filter(kind="reward").count()

    # What a person does -----------------------------------------------------------------------------------------

    def _decide_all(self) -> None:
        """Somebody looks on the recruiter's own site, and says what each is; faults go on meanwhile."""
        while sum(self._process(self._count_parked)):
            paid = self._paid_there()
            found, again = self._process(lambda paid=paid: self._decide(paid))
            self.outcome.decisions += found + again
            self.outcome.parked_and_paid += found
            self._live([self._send], left=self._unsettled)

    def _decide(self, paid: dict[str, list[int]]) -> tuple[int, int]:
        from humanexp.core.models import User
        from humanexp.ledger.decisions import found_paid, pay_again
        from humanexp.ledger.models import Payment

        study = self._study()
        by = User.objects.get_or_create(username="olga", defaults={"is_staff": True})[0]
        parked = list(Payment.objects.filter(campaign__study=study, state="parked").select_related("assignment"))
        found = [row.pk for row in parked if row.amount_cents in paid.get(row.assignment.assignment_id, [])]
        again = [row.pk for row in parked if row.pk not in found]
        if found:
            found_paid(study=study, payments=found, note="Listed on their site.", by=by)
        if again:
            pay_again(study=study, payments=again, note="Not listed on their site.", by=by)
        return len(found), len(again)

    def _adopt_all(self) -> list[list[Any]]:
        """Whose books differ, and what is paid there and not here: the ledger takes it over."""
        from humanexp.core.models import User
        from humanexp.ledger.decisions import resolve_difference
        from humanexp.ledger.models import DifferenceKind
        from humanexp.ledger.reconciliation import open_differences, reconcile

        reconcile(environment=self.environment)
        by = User.objects.get_or_create(username="olga", defaults={"is_staff": True})[0]
        found = list(open_differences(self._study()).filter(kind=DifferenceKind.NOT_HERE))
        for one in found:
            resolve_difference(
                difference=one,
                resolution="adopted",
                note="The call came twice.",
                by=by,
                shown=(one.ours_cents, one.theirs_cents),
                is_confirmed=True,
            )
        return [[one.listed_as, one.theirs_cents] for one in found]

    def _paid_there(self, kind: str = "bonus") -> dict[str, list[int]]:
        """By submission, what the panel has paid or will pay, as its own books say."""
        mine = {submission for _, submission in self.ids}
        found: dict[str, list[int]] = {}
        for one in self.panel.shown("books")["payments"]:
            if one["kind"] == kind and one["submission_id"] in mine:
                found.setdefault(one["submission_id"], []).append(one["amount_cents"])
        return found

    # The truth ----------------------------------------------------------------------------------------------------

    def _books(self) -> dict[str, Any]:
        """The ledger's side of it, and everything that is written down where no id may be."""
        from humanexp.core.models import AuditEvent
        from humanexp.core.pages.rendering import Table
        from humanexp.jobs.models import Job
        from humanexp.ledger.models import Difference, Payment
        from humanexp.ledger.pages.ledger import COLUMNS
        from humanexp.ledger.payments import ledger
        from humanexp.ledger.reconciliation import reconcile
        from humanexp.recruiting.polling import sync

        study = self._study()
        sync(study=study)
        [book] = reconcile(environment=self.environment)
        rows = Payment.objects.filter(campaign__study=study).select_related("assignment")
        bonuses: dict[str, list[int]] = {}
        for row in rows:
            if row.kind == "bonus":
                bonuses.setdefault(row.assignment.assignment_id, []).append(row.amount_cents)
        export = b"".join(Table(COLUMNS, ledger(study)).file("ledger.csv")).decode()
        said = [*Payment.objects.values_list("last_error", flat=True), export]
        said += [str(facts) for facts in AuditEvent.objects.values_list("facts", flat=True)]
        said += [f"{error} {result}" for error, result in Job.objects.values_list("error", "result")]
        return {
            "rows": [[row.kind, row.state, row.assignment.assignment_id, row.cost_cents] for row in rows],
            "bonuses": bonuses,
            "adds_up": book.adds_up,
            "differences": [*book.differences[:5], *book.remarks],
            "open": Difference.objects.filter(state="open").count(),
            "unproved": Payment.objects.filter(look_at__isnull=False).count(),
            "calls": Payment.objects.exclude(handle="").values("handle").distinct().count(),
            "at": str(clock.now()),
            "said": said,
        }

    def _compare_twice(self, adopted: list[list[Any]]) -> None:
        """Whoever was paid twice, as their books say, is known here by a difference of that amount, and nobody else."""
        there = self._paid_there()
        twice = [[one, cents[0]] for one, cents in there.items() if len(cents) == 2 and cents[0] == cents[1]]
        self.outcome.paid_twice = len(twice)
        if sorted(twice) != sorted(adopted):
            self.outcome.faults.append(f"{len(twice)} were paid twice there, and {len(adopted)} differences were found")

    def _compare(self, books: dict[str, Any], *, spent: int) -> None:
        """Their books and their balance against the ledger, to the penny."""
        outcome, wrong = self.outcome, self.outcome.faults
        submissions = {submission for _, submission in self.ids}
        rewards, bonuses = self._paid_there("reward"), self._paid_there()
        once, twice = self.people - outcome.paid_twice, outcome.paid_twice
        for name, found, wanted in (
            ("rewards", rewards, Counter({1: self.people})),
            ("bonuses", bonuses, +Counter({1: once, 2: twice})),
        ):
            times = Counter(len(found.get(one, [])) for one in submissions)
            if times != wanted:
                wrong.append(f"{name} by how often they were paid: {dict(times)}")
        if books["bonuses"] != bonuses:
            wrong.append("bonuses of other amounts than the ledger says")
        states = Counter((row[0], row[1]) for row in books["rows"])
        if states != {("reward", "confirmed"): self.people, ("bonus", "confirmed"): self.people + twice}:
            wrong.append(f"the ledger: {dict(states)}")
        if not books["adds_up"] or books["open"] or books["unproved"]:
            wrong.append(f"{books['open']} differences, {books['unproved']} unproved: {books['differences']}")
        outcome.bonuses, outcome.calls_to_pay = len(books["bonuses"]), books["calls"]
        outcome.charged_cents, outcome.paid_cents = spent, sum(row[3] for row in books["rows"])
        if outcome.charged_cents != outcome.paid_cents:
            wrong.append(f"charged {spent}, the ledger says {outcome.paid_cents}")
        if outcome.parked_rewards or outcome.parked_share > (0.12 if self.share else 0):
            wrong.append(f"{outcome.parked} bonuses and {outcome.parked_rewards} rewards were left to a person")

    def _search_for_ids(self, books: dict[str, Any]) -> None:
        said = self.said.read_text(errors="replace") + "\n".join(books["said"])
        named = sum(person in said or submission in said for person, submission in self.ids)
        if named:
            self.outcome.faults.append(f"{named} ids stand in logs, records, exports or error texts")


OPERATIONS = (
    "workspaces.GET",
    "balance.GET",
    "projects.GET",
    "studies-of-project.GET",
    "studies.POST",
    "study.GET",
    "study.PATCH",
    "study.DELETE",
    "study-transition.POST",
    "cost.GET",
    "counts.GET",
    "cost-calculator.POST",
    "filters.GET",
    "groups.GET",
    "groups.POST",
    "members.POST",
    "submissions.GET",
    "bulk-approve.POST",
    "bonus-plans.POST",
    "submission.GET",
    "submission-transition.POST",
    "bonus-payment.POST",
)
