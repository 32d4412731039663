"""Prolific behind the port: an offer is a study, a submission is one, and a place is a place."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from functools import cached_property
from typing import NoReturn

from humanexp.core.errors import NotAtRecruiter, RecruiterError
from humanexp.recruitment.pricing import FeeTable
from humanexp.recruitment.recruiters.base import (
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
    SubmissionReport,
)
from humanexp.recruitment.recruiters.prolific_client import ProlificClient
from humanexp.recruitment.recruiters.prolific_money import ProlificMoney
from humanexp.recruitment.recruiters.tickets import Ticket


class ProlificRecruiter:
    """One account: a token, a workspace with a wallet, and a project in which its studies lie."""

    breath_s = 1.0
    token_memory = timedelta()

    def __init__(
        self,
        *,
        environment: str,
        client: ProlificClient,
        workspace: str,
        project: str,
        fees: FeeTable,
        capabilities: Capabilities,
    ) -> None:
        self.environment, self.client, self.fees, self.capabilities = environment, client, fees, capabilities
        self._given_workspace, self._given_project = workspace, project

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
        return ProlificMoney(self.client, self.workspace)

    def balance_cents(self) -> int | None:
        return self.client.balance(self.workspace).available_balance

    def publish_terms(self, terms: OfferTerms) -> str:
        return ""

    def publish(self, order: OfferOrder) -> str:
        self._not_yet()

    def find(self, annotation: str) -> OfferReport | None:
        return None

    def offer(self, offer_id: str) -> OfferReport:
        raise NotAtRecruiter(f"There is no study {offer_id}.")

    def offers(self, offer_ids: Collection[str]) -> Iterator[OfferReport]:
        return iter(())

    def change(self, offer_id: str, *, places: int | None = None, until: datetime | None = None, token: str) -> None:
        self._not_yet()

    def close(self, offer_id: str) -> None:
        self._not_yet()

    def submissions(self, offer_id: str) -> Iterator[SubmissionReport]:
        return iter(())

    def submission(self, submission_id: str) -> SubmissionReport | None:
        return None

    def verify(self, ticket: Ticket) -> bool | None:
        return None

    def pay(self, order: PaymentOrder) -> Receipt:
        if isinstance(order, BonusOrder):
            raise RecruiterError("Bonuses have no token here: they are paid by `bonus_calls`.")
        self._not_yet()

    def evidence(self, order: PaymentOrder) -> Proof:
        return Proof.UNCLEAR

    def bonuses(self, offer_id: str) -> Iterator[BonusReport]:
        return self.bonus_calls.bonuses(offer_id)

    def reject(self, submission_id: str, *, reason: str) -> None:
        self._not_yet()

    def publish_qualification(self, order: QualificationOrder) -> str:
        return order.name

    def grant(self, type_id: str, person_id: str, *, value: int = 1) -> None:
        self._not_yet()

    def revoke(self, type_id: str, person_id: str, *, reason: str) -> None:
        self._not_yet()

    def score(self, type_id: str, person_id: str) -> int | None:
        return None

    def ask_for_hints(self, terms_id: str) -> None:
        return

    def hints(self) -> list[str]:
        return []

    def notify(self, person_ids: list[str], *, subject: str, text: str) -> list[str]:
        self._not_yet()

    def _not_yet(self) -> NoReturn:
        raise RecruiterError("This cannot be done through this account yet.")
