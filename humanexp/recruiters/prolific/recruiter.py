"""Prolific behind the port: an offer is a study, a submission is one, and a place is a place.

The service knows no tokens. What is created is looked for by its internal name before anything is sent again; numbers
of places are absolute; every move of a study or a submission is read back. A word for a state that is not known here
means that something is in motion: it is asked about again, and nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain

from django.db import connection

from analysis.study.terms import NO_REQUIREMENTS, WorkerRequirements
from humanexp.core.errors import (
    AlreadyDone,
    InsufficientFunds,
    NotAtRecruiter,
    RecruiterError,
    RecruiterUnavailable,
    StateRefused,
    WrongCurrency,
)
from humanexp.recruiters import money
from humanexp.recruiters.money import FeeTable
from humanexp.recruiters.port import (
    BonusOrder,
    BonusReport,
    CalledInTransaction,
    Capabilities,
    OfferOrder,
    OfferReport,
    OfferTerms,
    PaymentOrder,
    Proof,
    QualificationOrder,
    Receipt,
    RewardOrder,
    SubmissionReport,
)
from humanexp.recruiters.presets import Preset
from humanexp.recruiters.prolific.client import MOST_APPROVALS, ProlificClient, ProlificMoney
from humanexp.recruiters.prolific.kinds import HookAddress, subscribe
from humanexp.recruiters.prolific.replies import (
    AT_WORK,
    CLOSED,
    DECIDED,
    DRAFTS,
    FINAL,
    Balance,
    StudyInList,
    Submission,
    SubmissionInList,
    offer_report,
    submission_report,
)
from humanexp.recruiters.prolific.terms import asked_filters, body_of, differences, people_filters
from humanexp.recruiters.prolific.transport import Refused


class ProlificRecruiter:
    """One account: a token, a workspace with a wallet, and a project in which its studies lie."""

    breath_s = 1.0
    token_memory = timedelta()

    def __init__(
        self,
        *,
        environment: str,
        client: ProlificClient,
        preset: Preset,
        workspace: str,
        project: str,
        fees: FeeTable,
        capabilities: Capabilities,
        currency: str,
        hooks: HookAddress | None = None,
    ) -> None:
        self.environment, self.fees, self.capabilities, self.currency = environment, fees, capabilities, currency
        self._client, self._preset, self._hooks = client, preset, hooks
        self._given_workspace, self._given_project = workspace, project

    @property
    def client(self) -> ProlificClient:
        if connection.in_atomic_block:
            raise CalledInTransaction
        return self._client

    @cached_property
    def workspace(self) -> str:
        """As set, or the account's only one."""
        if self._given_workspace:
            return self._given_workspace
        found = self.client.workspaces()
        if len(found) != 1:
            raise RecruiterError(f"{self.environment}: {len(found)} workspaces were found; set the one that is meant.")
        return found[0].id

    @cached_property
    def project(self) -> str:
        """As set, or the first of the workspace: without one the service takes the first of the account."""
        if self._given_project:
            return self._given_project
        found = self.client.projects(self.workspace)
        if not found:
            raise RecruiterError(f"{self.environment}: the workspace has no project; make one there.")
        return found[0].id

    @cached_property
    def bonus_calls(self) -> ProlificMoney:
        return ProlificMoney(self.client, self.workspace, self.currency)

    def balance_cents(self) -> int | None:
        return self._balance().total_balance

    def _balance(self) -> Balance:
        """In the currency of our books and of everything that people are told, or not at all."""
        found = self.client.balance(self.workspace)
        if found.currency_code != self.currency:
            raise WrongCurrency(
                f"{self.environment}: the account pays in {found.currency_code}, and is in {self.currency} here. Test "
                "it on the page “Recruiters”, which takes its currency over before the first launch; later, open "
                f"another account for {found.currency_code}. Until then, nothing can be launched."
            )
        return found

    def named_currency(self) -> str:
        return self.client.balance(self.workspace).currency_code

    def least_hourly_cents(self) -> int | None:
        """Less is refused there; None where it does not say. Raises WrongCurrency."""
        rates = self.client.recommendations(self.workspace, self._balance().currency_code)
        return next((one.min_reward_per_hour for one in rates if one.currency == self.currency), None)

    def fault_of(self, people: WorkerRequirements) -> str:
        """Why a study cannot be open to these people alone; empty where it can."""
        if people == NO_REQUIREMENTS:
            return ""
        known = self.client.filters(self.workspace)
        try:
            asked_filters(people, known)
        except RecruiterError as error:
            return error.message
        return ""

    # Studies

    def publish_terms(self, terms: OfferTerms) -> str:
        return self.project  # there are no groups of offers: each order brings its own terms

    def publish(self, order: OfferOrder) -> str:
        """A draft, compared with what was meant and with what may be spent, and only then open to people."""
        if order.terms is None:
            raise RecruiterError("A study here carries its own terms: without them nothing can be published.")
        self._balance()
        body = body_of(
            order,
            order.terms,
            preset=self._preset,
            project=self.project,
            filters=people_filters(
                order.terms, self.client.filters(self.workspace), kept_out=self._kept_out(order, order.terms)
            ),
            group=order.terms.hidden_from,
        )
        made = self._named(order.annotation)
        published = [one for one in made if one.status not in DRAFTS]
        if published:
            return published[0].id
        draft = self._draft([one.id for one in made], body)
        self._check_cost(order, order.terms)
        # A sender that stood still since its look may not be the only one any more: it publishes no twin.
        published = [one for one in self._named(order.annotation) if one.status not in DRAFTS]
        if published:
            if published[0].id != draft:
                self.client.delete_study(draft)
            return published[0].id
        self.client.move_study(draft, "PUBLISH")
        if self.client.study(draft).status in DRAFTS:
            raise RecruiterError("The study was not published, and the recruiter does not say why: look at its draft.")
        return draft

    def _draft(self, known: list[str], body: dict[str, object]) -> str:
        """The one draft of this name that says what was meant; others of the name are thrown away."""
        fitting = [one for one in known if not differences(self.client.study(one), body)]
        kept = fitting[0] if fitting else ""
        for other in known:
            if other != kept:
                self.client.delete_study(other)
        if kept:
            return kept
        made = self.client.create_study(body).id
        wrong = differences(self.client.study(made), body)
        if wrong:
            self.client.delete_study(made)
            raise RecruiterError(f"The recruiter's draft differs in {', '.join(wrong)}; nothing was published.")
        return made

    def _check_cost(self, order: OfferOrder, terms: OfferTerms) -> None:
        """By their own calculator, against what was promised here and what the account has."""
        asked = self.client.quote(reward_cents=terms.reward_cents, places=order.places).total_cost
        price = money.shown(asked, self.currency)
        if order.most_cents is not None and asked > order.most_cents:
            raise RecruiterError(
                f"The recruiter would charge {price} for this, and {money.shown(order.most_cents, self.currency)} were "
                "approved: correct the fees in the settings. Nothing was published."
            )
        free = self._balance().available_balance
        if asked > free:
            raise InsufficientFunds(f"This costs {price}, and {money.shown(free, self.currency)} are free there.")

    def _named(self, annotation: str) -> list[StudyInList]:
        return [one for one in self.client.studies(self.project) if one.internal_name == annotation]

    def find(self, annotation: str) -> OfferReport | None:
        """Drafts are not there yet: whoever sends the order again goes on with them."""
        found = next((one for one in self._named(annotation) if one.status not in DRAFTS), None)
        return None if found is None else self.offer(found.id)

    def offer(self, offer_id: str) -> OfferReport:
        # The study first: of submissions that come meanwhile the counts know, and the next look.
        return offer_report(self.client.study(offer_id), self.client.submission_counts(offer_id))

    def offers(self, offer_ids: Collection[str]) -> Iterator[OfferReport]:
        wanted = set(offer_ids)
        for study in self.client.studies(self.project):
            if study.id in wanted:
                yield offer_report(study, self.client.submission_counts(study.id))

    def change(self, offer_id: str, *, places: int | None = None, until: datetime | None = None, token: str) -> None:
        if until is not None:
            raise RecruiterError("A study here has no end: it is open until its places are taken or it is stopped.")
        if places is not None and self.client.study(offer_id).total_available_places < places:
            self.client.change_study(offer_id, {"total_available_places": places})

    def close(self, offer_id: str) -> None:
        self._move(offer_id, "STOP", frozenset({"ACTIVE", "PAUSED"}), CLOSED | DRAFTS)

    def pause(self, offer_id: str) -> None:
        self._move(offer_id, "PAUSE", frozenset({"ACTIVE"}), CLOSED | {"PAUSED"})

    def resume(self, offer_id: str) -> None:
        """Also a study that awaits review, whose places came free: where it reopened by itself nothing is to do."""
        self._move(offer_id, "START", frozenset({"PAUSED", "AWAITING REVIEW"}), frozenset({"ACTIVE", "COMPLETED"}))

    def _move(self, study: str, action: str, begins: Collection[str], ends: Collection[str]) -> None:
        """One move, from a state in which it is possible, and read back."""
        before = self.client.study(study).status
        if before not in begins:
            if before in ends:
                return
            raise RecruiterUnavailable(f"{self.environment}: the study is {before}; it is asked again.")
        self.client.move_study(study, action)
        after = self.client.study(study).status
        if after in begins and after not in ends:
            raise RecruiterUnavailable(f"{self.environment}: the study is still {after}; it is asked again.")

    # Submissions

    def submissions(
        self, offer_id: str, *, states: Collection[str] = (), since: datetime | None = None
    ) -> Iterator[SubmissionReport]:
        """Words from which nobody moves on have lists of their own; all others are found in the list of everybody.

        These lists only grow while their pages are read. A list of those who move on would lose rows meanwhile, and
        with each of them, from its next page, one that nobody has read.
        """
        final = set() if since is None else FINAL.intersection(states)
        lists = [self.client.submissions(offer_id, status=word) for word in sorted(final)]
        if not final or final < set(states):
            lists.append(self._who_began(offer_id, since))
        for row in chain(*lists):
            report = submission_report(row, offer_id)
            if report is not None:
                yield report

    def _who_began(self, offer_id: str, since: datetime | None) -> Iterator[SubmissionInList]:
        """Everybody, or at least those who began since then.

        Whether the latest stand first is asked for, and not believed: the list is left at the end of a page where every
        row so far has kept to that. A place that is only reserved has not begun, whatever time it bears.
        """
        began: list[datetime] = []
        for page in self.client.latest_submissions(offer_id):
            yield from page
            began += [row.started_at for row in page if row.started_at and row.status != "RESERVED"]
            if since and began and began[-1] < min(since, began[0]) and began == sorted(began, reverse=True):
                return

    def submission(self, submission_id: str) -> SubmissionReport | None:
        found = self._submission(submission_id)
        return None if found is None or found.status in AT_WORK else submission_report(found, found.study_id)

    def _submission(self, submission_id: str) -> Submission | None:
        try:
            return self.client.submission(submission_id)
        except (NotAtRecruiter, Refused):
            return None

    # Money

    def pay(self, order: PaymentOrder) -> Receipt:
        if isinstance(order, BonusOrder):
            raise RecruiterError("Bonuses have no token here: they are paid by `bonus_calls`.")
        status = self.client.submission(order.submission_id).status
        if status == "REJECTED" and order.overrides_rejection:
            status = self.client.move_submission(order.submission_id, "UNREJECT").status
        if status in DECIDED - {"REJECTED"}:
            raise AlreadyDone("It is approved.")
        if status != "AWAITING REVIEW":
            raise StateRefused(f"It is {status}, so it cannot be approved.")
        return Receipt(is_paid=self._decide(order.submission_id, "APPROVE") == "APPROVED")

    def approve(self, submission_ids: Sequence[str]) -> None:
        for start in range(0, len(submission_ids), MOST_APPROVALS):
            self.client.approve(submission_ids[start : start + MOST_APPROVALS])

    def evidence(self, order: PaymentOrder) -> Proof:
        if not isinstance(order, RewardOrder):
            return Proof.UNCLEAR
        found = self._submission(order.submission_id)
        return Proof.PAID if found is not None and found.status in DECIDED - {"REJECTED"} else Proof.NOT_PAID

    def bonuses(self, offer_id: str) -> Iterator[BonusReport]:
        return self.bonus_calls.bonuses(offer_id)

    def reject(self, submission_id: str, *, reason: str, category: str = "") -> None:
        status = self.client.submission(submission_id).status
        if status == "REJECTED":
            raise AlreadyDone("It is rejected.")
        if status != "AWAITING REVIEW":
            raise StateRefused(f"It is {status}, so it cannot be rejected.")
        if self._decide(submission_id, "REJECT", message=reason, rejection_category=category) != "REJECTED":
            raise RecruiterUnavailable(f"{self.environment}: the rejection does not show yet.")

    def ask_for_return(self, submission_id: str, *, reason: str) -> None:
        self.client.request_return(submission_id, [reason])

    def _decide(self, submission_id: str, action: str, **more: str) -> str:
        """Believed only when it is read back."""
        self.client.move_submission(submission_id, action, **more)
        return self.client.submission(submission_id).status

    # People

    def publish_qualification(self, order: QualificationOrder) -> str:
        """A group of participants. Its name is looked for first: a lost answer made it all the same."""
        known = next((one.id for one in self.client.groups(self.workspace) if one.name == order.name), None)
        return known or self.client.create_group(self.workspace, order.name).id

    def _kept_out(self, order: OfferOrder, terms: OfferTerms) -> str:
        """The group of those whom the study is not for; whom the service does not know need not be kept out."""
        people = terms.requirements.not_people
        if not people:
            return ""
        group = self.publish_qualification(QualificationOrder(name=f"{order.annotation}: not these", description=""))
        try:
            self.client.add_members(group, people)
        except Refused:
            for person in people:
                with suppress(NotAtRecruiter):
                    self.grant(group, person)
        return group

    def grant(self, type_id: str, person_id: str) -> None:
        self._of_person(lambda: self.client.add_members(type_id, [person_id]))

    def revoke(self, type_id: str, person_id: str, *, reason: str) -> None:
        self._of_person(lambda: self.client.remove_members(type_id, [person_id]))

    def holds(self, type_id: str, person_id: str) -> bool:
        return person_id in self.client.members(type_id)

    def _of_person(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Refused as error:
            if error.status == 400:
                raise NotAtRecruiter("The recruiter knows no such person.") from None
            raise

    def ask_for_hints(self, terms_id: str) -> None:
        if self._hooks is not None:
            subscribe(self.client, self.workspace, self._hooks)

    def hints(self) -> list[str]:
        return []

    def notify(self, person_ids: list[str], *, subject: str, text: str, offer_id: str = "") -> list[str]:
        if not offer_id:
            return list(person_ids)  # a message is always about a study
        try:
            self.client.send_message(offer_id, person_ids, f"{subject}\n\n{text}")
        except (NotAtRecruiter, Refused):
            return list(person_ids)
        return []
