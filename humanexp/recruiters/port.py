"""The port to whoever finds people. Every recruiter passes tests/recruitment/test_recruiter_contract.py.

An offer is so many places at one price, a ticket what somebody brings along who has answered to it, a submission one
person's go at one place, a payment what the person gets for it: a reward, or a bonus beside it. A qualification is a
mark on people from whom an offer can be hidden. What a recruiter does not have it refuses (`Capabilities`) or
leaves empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal, Protocol

from analysis.study.terms import NO_REQUIREMENTS, WorkerRequirements
from humanexp.recruiters.money import BonusCalls, FeeTable
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiters.tickets import Outcome

#: What becomes of a write that comes twice: nothing further; nothing further while the recruiter remembers its token;
#: or it may take effect twice, so that one of unknown fate is asked about, and never sent again unasked.
Repeat = Literal["safe", "token", "never"]


class CalledInTransaction(RuntimeError):
    """A recruiter was called inside a database transaction: it would hold the writer's lock while the network waits."""


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """How often each write may be sent."""

    publish: Repeat = "token"
    extend: Repeat = "token"
    #: close, and stay open longer
    until: Repeat = "safe"
    approve: Repeat = "safe"
    reject: Repeat = "safe"
    bonus: Repeat = "token"
    mark: Repeat = "safe"
    message: Repeat = "never"


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a recruiter can do, known before there are keys. Whoever needs to know asks this, never which one it is."""

    #: There is another side. It lists who has submitted, and until then an id in an address proves nothing; money and
    #: messages go through it, it keeps marks on people, and adds places to its offers. Elsewhere offers and submissions
    #: are our own rows, who has finished has submitted, and approve, reject and bonus are refused.
    vouches: bool = True
    #: an approval there pays the person; elsewhere it is the lab's debt, which is paid out in the lab's own way
    pays_out: bool = False
    #: Its lists name people who are at work, and who gave a place back or ran out of time: the first can be asked to
    #: give it back, and a bonus reaches the others.
    lists_in_progress: bool = False
    #: A campaign is one offer, to which places are added, and which is closed for a while and opened again; elsewhere
    #: places can be split into several offers, each of which ends at a time.
    pauses: bool = False
    #: approvals of many submissions go in one call, and are believed once its lists say so
    approves_in_bulk: bool = False
    #: nobody's money is at stake but our own house's: a rehearsal there may go unchecked, and scripted people take part
    is_own_ground: bool = False
    #: no stranger comes, and no real money moves
    is_sandbox: bool = False
    #: its campaigns are listed on the installation's public page, where anybody may begin; no id comes with people, and
    #: the mark that a session leaves in the browser is all that tells them apart
    is_public: bool = False
    #: it could be used now, as far as settings tell
    is_set_up: bool = True
    #: whoever runs it has closed it for good
    is_closed: bool = False
    #: ISO code of the money of its rewards
    currency: str = "USD"
    repeats: Repeats = Repeats()

    @property
    def needs_https(self) -> bool:
        """It takes people to https addresses alone."""
        return self.vouches and not self.is_own_ground

    @property
    def asks_for_total(self) -> bool:
        """Money is real: the total is typed before anything is promised there."""
        return self.needs_https and not self.is_sandbox

    @property
    def is_play(self) -> bool:
        """An approval pays with money that a site of our own house has made up: nobody is owed any."""
        return self.is_own_ground and self.pays_out

    @property
    def reopens(self) -> bool:
        """A campaign that was stopped can be opened again: its offer is our own row, and no money was promised."""
        return not self.vouches


@dataclass(frozen=True, kw_only=True)
class OfferTerms:
    """What offers of one group share."""

    title: str
    description: str
    keywords: str
    reward_cents: int
    assignment_duration_s: int
    auto_approval_s: int
    requirements: WorkerRequirements = NO_REQUIREMENTS
    #: id of the qualification that hides the work from who has it
    hidden_from: str = ""
    #: what people are told it takes; 0: its description says so
    minutes: int = 0
    #: phones and tablets will not do
    needs_computer: bool = False


@dataclass(frozen=True, kw_only=True)
class WayBackCode:
    """With which code people of an outcome go back, and what the recruiter is to do with them then."""

    outcome: Outcome
    code: str
    #: a person looks at them; else they are asked to give the place back
    is_reviewed: bool


@dataclass(frozen=True, kw_only=True)
class OfferOrder:
    """One offer to publish. The same token never makes a second one."""

    #: of the group, as `publish_terms` names it
    terms_id: str
    places: int
    lifetime_s: int
    url: str
    #: finds the offer again
    annotation: str
    token: str
    #: 0: as tall as the window
    frame_height_px: int = 0
    #: for recruiters that keep no groups of offers
    terms: OfferTerms | None = None
    codes: tuple[WayBackCode, ...] = ()
    #: what all places may cost; None: whatever they do
    most_cents: int | None = None


@dataclass(frozen=True, kw_only=True)
class QualificationOrder:
    """A qualification of our own. The name is unique among ours; the same name never makes a second one."""

    name: str
    #: people read it
    description: str


@dataclass(frozen=True, kw_only=True)
class OfferReport:
    """An offer as the recruiter describes it."""

    offer_id: str
    annotation: str
    #: somebody can still take a place
    is_open: bool
    places: int
    #: nobody has taken them
    available: int
    #: taken, and not submitted
    pending: int
    #: approved or rejected
    completed: int
    expires_at: datetime | None
    #: its state in the recruiter's own word, where it has one
    word: str = ""
    #: nobody can take a place unless it is opened again, where offers have no time at which they end
    is_over: bool = False
    #: places that were given back and that nobody is offered until it is opened again
    withheld: int = 0
    #: submissions by the recruiter's own words for their states, where it counts them
    counts: Mapping[str, int] = field(default_factory=dict)
    #: those of these words from which submissions move on, in one of which they are at work
    moving: frozenset[str] = frozenset()
    #: nobody is at work for longer; None: it does not say, as a list of offers may not
    time_limit: timedelta | None = field(default=None, compare=False)

    @property
    def submitted(self) -> int:
        """Submissions that its list names, decided ones among them."""
        return self.places - self.available - self.pending


@dataclass(frozen=True, kw_only=True)
class SubmissionReport:
    """A submission the recruiter vouches for: submitted, approved or rejected.

    Where it lists people at work, also one under way, given back, or out of time.
    """

    submission_id: str
    person_id: str
    offer_id: str
    state: AssignmentState
    submitted_at: datetime
    auto_approves_at: datetime | None = None
    decided_at: datetime | None = None
    #: fields of the submitted form; empty when they could not be read
    answers: Mapping[str, str] = field(default_factory=dict)
    #: with which the person came back, where people do with a code
    code: str = ""
    #: the person was asked to give the place back
    is_return_requested: bool = False


class Proof(StrEnum):
    """What the recruiter's lists say of an order that may have been carried out."""

    PAID = "paid"
    NOT_PAID = "not-paid"
    #: they cannot tell this payment from others: a person looks
    UNCLEAR = "unclear"


def marker_in(reason: str) -> str:
    """The end of a bonus's reason, from which its payment is known."""
    return reason[reason.rfind("[") :]


@dataclass(frozen=True, kw_only=True)
class RewardOrder:
    """Approve a submission, which pays its reward."""

    submission_id: str
    feedback: str = ""
    #: it was rejected, and a person has taken that back
    overrides_rejection: bool = False


@dataclass(frozen=True, kw_only=True)
class BonusOrder:
    """Pay money beside the reward."""

    submission_id: str
    person_id: str
    amount_cents: int
    #: ends with the marker that finds the payment again
    reason: str
    marker: str
    token: str
    #: of the submission's other bonuses that are known here
    known_markers: frozenset[str] = frozenset()

    def proof_in(self, reasons: Iterable[str]) -> Proof:
        """What these say, the reasons of all bonuses that the recruiter lists for the submission. One that nobody here
        knows may be this very payment, of a database that has forgotten it."""
        listed = {marker_in(reason) for reason in reasons}
        if self.marker in listed:
            return Proof.PAID
        return Proof.UNCLEAR if listed - self.known_markers else Proof.NOT_PAID


PaymentOrder = RewardOrder | BonusOrder


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """The recruiter took the order."""

    #: it says so at once; else it is carried out later, and `evidence` tells
    is_paid: bool = True


@dataclass(frozen=True, kw_only=True)
class BonusReport:
    """A bonus as the recruiter lists it."""

    submission_id: str
    person_id: str
    amount_cents: int
    reason: str
    paid_at: datetime | None = None


class Recruiter(Protocol):
    """Reads may be repeated freely. A write is sent once: OutcomeUnknown means that it may have taken effect.

    Writes raise AlreadyDone when the same request was carried out before, InsufficientFunds, KeysRefused,
    NotAtRecruiter, StateRefused, another RecruiterError when it was refused for good, and RecruiterUnavailable when
    it certainly was not carried out. No method may be called inside a database transaction.
    """

    environment: str
    capabilities: Capabilities
    #: how long to wait before the next try after it was too busy
    breath_s: float
    #: for so long the same token is carried out once; later it is carried out anew
    token_memory: timedelta
    fees: FeeTable

    @property
    def bonus_calls(self) -> BonusCalls | None:
        """How bonuses are paid where a repeat would pay twice (`Repeats.bonus` is never); None: each by `pay`."""

    def balance_cents(self) -> int | None:
        """Money in the account, None where there is none to hold. Raises KeysRefused: the cheapest test of the keys."""

    def publish_terms(self, terms: OfferTerms) -> str:
        """Id of the group of offers with these terms; the same terms give the same id."""

    def publish(self, order: OfferOrder) -> str:
        """Publish, and return the id of the offer."""

    def find(self, annotation: str) -> OfferReport | None:
        """The offer that carries this annotation, looked for among all offers."""

    def offer(self, offer_id: str) -> OfferReport:
        """Raises NotAtRecruiter."""

    def offers(self, offer_ids: Collection[str]) -> Iterator[OfferReport]:
        """These offers in as few calls as the recruiter's largest page allows; one that is gone is left out."""

    def change(self, offer_id: str, *, places: int | None = None, until: datetime | None = None, token: str) -> None:
        """So many places in all, taken until then. Twice is once: `offer` tells whether it took effect."""

    def close(self, offer_id: str) -> None:
        """Nobody can take a place from now on; who has one may finish. Twice is once."""

    def submissions(
        self, offer_id: str, *, states: Collection[str] = (), since: datetime | None = None
    ) -> Iterator[SubmissionReport]:
        """Every listed submission to an offer, all pages.

        `states`: at least those in these, where `counts` has any; `since`: who moves on and began before it may be left
        out.
        """

    def submission(self, submission_id: str) -> SubmissionReport | None:
        """None while the recruiter does not vouch for it."""

    def pay(self, order: PaymentOrder) -> Receipt:
        """Pay a reward or a bonus."""

    def evidence(self, order: PaymentOrder) -> Proof:
        """Whether it was carried out. UNCLEAR is never sent again without a person."""

    def bonuses(self, offer_id: str) -> Iterator[BonusReport]:
        """Every bonus paid on an offer, all pages."""

    def reject(self, submission_id: str, *, reason: str, category: str = "") -> None:
        """Refuse the reward; the reason is shown to the person."""

    def publish_qualification(self, order: QualificationOrder) -> str:
        """Id of the qualification with this name; made when there is none."""

    def grant(self, type_id: str, person_id: str) -> None:
        """Give it to a person, silently. Twice is once."""

    def revoke(self, type_id: str, person_id: str, *, reason: str) -> None:
        """Take it back; the person sees the reason. Twice is once."""

    def holds(self, type_id: str, person_id: str) -> bool:
        """Whether a person has it."""

    def ask_for_hints(self, terms_id: str) -> None:
        """Have events of these offers told to `hints`; nothing where no queue is set up. Twice is once."""

    def hints(self) -> list[str]:
        """Ids of offers of which something was told since the last call. They may be late, doubled, lost or made up."""

    def notify(self, person_ids: list[str], *, subject: str, text: str, offer_id: str = "") -> list[str]:
        """Write to people about an offer; returns those who could not be reached."""


class Pausing(Recruiter, Protocol):
    """What a recruiter does beyond that which `pauses`, `approves_in_bulk` and `lists_in_progress`."""

    def pause(self, offer_id: str) -> None:
        """Nobody can take a place until `resume`; who has one goes on. Twice is once."""

    def resume(self, offer_id: str) -> None:
        """Places can be taken again, those that were given back among them. Twice is once."""

    def approve(self, submission_ids: Sequence[str]) -> None:
        """Have these paid; its lists tell when that has happened. Twice is once."""

    def ask_for_return(self, submission_id: str, *, reason: str) -> None:
        """Ask a person to give a place back. A repeat is sent again."""
