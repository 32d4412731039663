"""A recruiter without another side: everything that it knows is held in this process.

It keeps every promise of the port, lists its offers and submissions in pages, and counts its calls. What people do
there is done by calling `accept` and `submit`. It is the example of an adapter, and what tests of the platform's own
logic recruit through; it is registered by whoever wants it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeVar

from humanexp.core import clock
from humanexp.core.errors import AlreadyDone, InsufficientFunds, InvalidRequest, NotAtRecruiter, StateRefused
from humanexp.recruiters.money import FeeTable
from humanexp.recruiters.mturk.kinds import FIELDS
from humanexp.recruiters.port import (
    BonusOrder,
    BonusReport,
    Capabilities,
    OfferOrder,
    OfferReport,
    OfferTerms,
    PaymentOrder,
    Proof,
    QualificationOrder,
    Receipt,
    Recruiter,
    Repeats,
    RewardOrder,
    SubmissionReport,
)
from humanexp.recruiters.registry import Account, Kind
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiters.tickets import Ticket

Row = TypeVar("Row")
#: Most that one call gives.
PAGE = 100
FEES = FeeTable(base_percent=10, large_hit_percent=0, masters_percent=0, minimum_cents=1)
CAPABILITIES = Capabilities(
    is_own_ground=True,
    repeats=Repeats(extend="safe"),
)


@dataclass
class Offer:
    """An offer as it is now."""

    offer_id: str
    order: OfferOrder
    terms: OfferTerms
    places: int
    expires_at: datetime
    #: submission id -> person, of places that are taken and not submitted
    taken: dict[str, str] = field(default_factory=dict)
    submissions: dict[str, SubmissionReport] = field(default_factory=dict)

    def report(self) -> OfferReport:
        available = self.places - len(self.taken) - len(self.submissions)
        decided = sum(one.state != AssignmentState.SUBMITTED for one in self.submissions.values())
        return OfferReport(
            offer_id=self.offer_id,
            annotation=self.order.annotation,
            is_open=available > 0 and self.expires_at > clock.now(),
            places=self.places,
            available=available,
            pending=len(self.taken),
            completed=decided,
            expires_at=self.expires_at,
        )


class MemoryRecruiter:
    """One account, with money in it."""

    capabilities = CAPABILITIES
    bonus_calls = None
    breath_s = 0.0
    token_memory = timedelta(hours=24)
    fees = FEES

    def __init__(self, environment: str = "memory", *, balance_cents: int = 1_000_000) -> None:
        self.environment = environment
        self.held_cents = balance_cents
        #: calls by what was asked; a list counts once for each of its pages
        self.calls: Counter[str] = Counter()
        self._terms: dict[str, OfferTerms] = {}
        self._offers: dict[str, Offer] = {}
        self._bonuses: list[BonusReport] = []
        self._tokens: set[str] = set()
        self._marks: dict[str, set[str]] = {}
        self._names: dict[str, str] = {}
        self._numbers = itertools.count(1)

    # What people do ---------------------------------------------------------------------------------------------

    def accept(self, offer_id: str, person_id: str) -> Ticket:
        """Take a place; the ticket that the entry page's address carries."""
        offer = self._offer(offer_id)
        if not offer.report().is_open:
            raise StateRefused("No place is free.")
        submission_id = self._new("S")
        offer.taken[submission_id] = person_id
        return Ticket(submission=submission_id, person=person_id, offer=offer_id)

    def submit(self, submission_id: str, *, receipt: str = "") -> None:
        """Say that it is done."""
        offer = next(one for one in self._offers.values() if submission_id in one.taken)
        now = clock.now()
        offer.submissions[submission_id] = SubmissionReport(
            submission_id=submission_id,
            person_id=offer.taken.pop(submission_id),
            offer_id=offer.offer_id,
            state=AssignmentState.SUBMITTED,
            submitted_at=now,
            auto_approves_at=now + timedelta(seconds=offer.terms.auto_approval_s),
            answers={"receipt": receipt},
        )

    # Offers -----------------------------------------------------------------------------------------------------

    def balance_cents(self) -> int | None:
        self.calls["balance"] += 1
        return self.held_cents

    def publish_terms(self, terms: OfferTerms) -> str:
        self.calls["publish_terms"] += 1
        known = next((terms_id for terms_id, same in self._terms.items() if same == terms), None)
        terms_id = known or self._new("T")
        self._terms[terms_id] = terms
        return terms_id

    def publish(self, order: OfferOrder) -> str:
        self.calls["publish"] += 1
        with self._once(order.token):
            offer_id = self._new("O")
            ends = clock.now() + timedelta(seconds=order.lifetime_s)
            self._offers[offer_id] = Offer(offer_id, order, self._terms[order.terms_id], order.places, ends)
        return offer_id

    def find(self, annotation: str) -> OfferReport | None:
        found = (one for one in self._paged("find", self._offers.values()) if one.order.annotation == annotation)
        return next((one.report() for one in found), None)

    def offer(self, offer_id: str) -> OfferReport:
        self.calls["offer"] += 1
        return self._offer(offer_id).report()

    def offers(self, offer_ids: Collection[str]) -> Iterator[OfferReport]:
        wanted = set(offer_ids)
        for one in self._paged("offers", self._offers.values()):
            if one.offer_id in wanted:
                yield one.report()

    def change(self, offer_id: str, *, places: int | None = None, until: datetime | None = None, token: str) -> None:
        self.calls["change"] += 1
        offer = self._offer(offer_id)
        offer.places = max(offer.places, places or 0)
        offer.expires_at = until or offer.expires_at

    def close(self, offer_id: str) -> None:
        self.calls["close"] += 1
        offer = self._offer(offer_id)
        offer.expires_at = min(offer.expires_at, clock.now())

    # Submissions and money --------------------------------------------------------------------------------------

    def submissions(
        self, offer_id: str, *, states: Collection[str] = (), since: datetime | None = None
    ) -> Iterator[SubmissionReport]:
        yield from self._paged("submissions", self._offer(offer_id).submissions.values())

    def submission(self, submission_id: str) -> SubmissionReport | None:
        self.calls["submission"] += 1
        found = self._submitted(submission_id)
        return found.submissions[submission_id] if found else None

    def pay(self, order: PaymentOrder) -> Receipt:
        self.calls["pay"] += 1
        offer = self._submitted(order.submission_id)
        if offer is None:
            raise NotAtRecruiter(f"There is no submission {order.submission_id}.")
        if isinstance(order, BonusOrder):
            with self._once(order.token):
                self._spend(order.amount_cents + self.fees.bonus_fee_cents(order.amount_cents))
                self._bonuses.append(
                    BonusReport(
                        submission_id=order.submission_id,
                        person_id=order.person_id,
                        amount_cents=order.amount_cents,
                        reason=order.reason,
                        paid_at=clock.now(),
                    )
                )
            return Receipt()
        found = offer.submissions[order.submission_id]
        if found.state == AssignmentState.APPROVED:
            raise AlreadyDone("It is approved.")
        if found.state == AssignmentState.REJECTED and not order.overrides_rejection:
            raise StateRefused("It is rejected.")
        reward = offer.terms.reward_cents
        self._spend(reward + self.fees.reward_fee_cents(reward, hit_size=offer.places))
        self._decide(offer, found, AssignmentState.APPROVED)
        return Receipt()

    def evidence(self, order: PaymentOrder) -> Proof:
        self.calls["evidence"] += 1
        if isinstance(order, RewardOrder):
            offer = self._submitted(order.submission_id)
            state = offer.submissions[order.submission_id].state if offer else None
            return Proof.PAID if state == AssignmentState.APPROVED else Proof.NOT_PAID
        return order.proof_in(one.reason for one in self._bonuses if one.submission_id == order.submission_id)

    def bonuses(self, offer_id: str) -> Iterator[BonusReport]:
        here = self._offer(offer_id).submissions
        yield from self._paged("bonuses", [one for one in self._bonuses if one.submission_id in here])

    def reject(self, submission_id: str, *, reason: str, category: str = "") -> None:
        self.calls["reject"] += 1
        offer = self._submitted(submission_id)
        if offer is None:
            raise NotAtRecruiter(f"There is no submission {submission_id}.")
        found = offer.submissions[submission_id]
        if found.state == AssignmentState.APPROVED:
            raise StateRefused("It is approved.")
        self._decide(offer, found, AssignmentState.REJECTED)

    # People -----------------------------------------------------------------------------------------------------

    def publish_qualification(self, order: QualificationOrder) -> str:
        self.calls["publish_qualification"] += 1
        if order.name not in self._names:
            self._names[order.name] = self._new("Q")
            self._marks[self._names[order.name]] = set()
        return self._names[order.name]

    def grant(self, type_id: str, person_id: str) -> None:
        self.calls["grant"] += 1
        self._marks[type_id].add(person_id)

    def revoke(self, type_id: str, person_id: str, *, reason: str) -> None:
        self.calls["revoke"] += 1
        self._marks[type_id].discard(person_id)

    def holds(self, type_id: str, person_id: str) -> bool:
        self.calls["holds"] += 1
        return person_id in self._marks.get(type_id, set())

    def visible_to(self, person_id: str) -> list[str]:
        """Groups of offers that this person is shown."""
        open_now = {one.order.terms_id for one in self._offers.values() if one.report().is_open}
        hidden = {
            terms_id for terms_id, one in self._terms.items() if person_id in self._marks.get(one.hidden_from, ())
        }
        return [terms_id for terms_id in self._terms if terms_id in open_now - hidden]

    def ask_for_hints(self, terms_id: str) -> None:
        return

    def hints(self) -> list[str]:
        return []

    def notify(self, person_ids: list[str], *, subject: str, text: str, offer_id: str = "") -> list[str]:
        self.calls["notify"] += 1
        known = {one.person_id for offer in self._offers.values() for one in offer.submissions.values()}
        return [person_id for person_id in person_ids if person_id not in known]

    # The account ------------------------------------------------------------------------------------------------

    def _new(self, letter: str) -> str:
        return f"{letter}{next(self._numbers):010d}"

    def _offer(self, offer_id: str) -> Offer:
        if offer_id not in self._offers:
            raise NotAtRecruiter(f"There is no offer {offer_id}.")
        return self._offers[offer_id]

    def _submitted(self, submission_id: str) -> Offer | None:
        return next((one for one in self._offers.values() if submission_id in one.submissions), None)

    def _decide(self, offer: Offer, found: SubmissionReport, state: AssignmentState) -> None:
        offer.submissions[found.submission_id] = replace(found, state=state, decided_at=clock.now())

    def _spend(self, cents: int) -> None:
        if cents > self.held_cents:
            raise InsufficientFunds("The account does not hold that much.")
        self.held_cents -= cents

    @contextmanager
    def _once(self, token: str) -> Iterator[None]:
        if token in self._tokens:
            raise AlreadyDone("This request has been carried out before.")
        yield
        self._tokens.add(token)

    def _paged(self, what: str, rows: Iterable[Row]) -> Iterator[Row]:
        """One call for every page that is read."""
        self.calls[what] += 1
        for number, row in enumerate(list(rows)):
            if number and number % PAGE == 0:
                self.calls[what] += 1
            yield row


class Memory(Kind):
    """Where its people come and go; every one of these has an account of its own."""

    code, name, namespace = "memory", "in-memory recruiter", "memory"
    fields = FIELDS

    def __init__(self) -> None:
        self.accounts: dict[str, MemoryRecruiter] = {}

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    @property
    def fees(self) -> FeeTable:
        return FEES

    def recruiter(self, account: Account) -> Recruiter:
        return self.of(account.code)

    def of(self, code: str = code) -> MemoryRecruiter:
        """The other side of an account."""
        return self.accounts.setdefault(code, MemoryRecruiter(code))

    def ticket(self, query: Mapping[str, str]) -> Ticket:
        return Ticket(
            submission=query.get("submission", ""),
            person=query.get("person", ""),
            offer=query.get("offer", ""),
            is_preview=not query.get("submission"),
        )

    def check_submission(self, submission: str) -> None:
        if not submission:
            raise InvalidRequest("This is a preview: take a place to take part.")
