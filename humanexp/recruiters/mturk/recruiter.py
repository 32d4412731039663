"""Anything that speaks MTurk's requester API, behind the port. The only user of boto3.

Reads are retried. A write is attempted once: every retry mode of botocore pays a bonus twice when one reply is lost.
What became of a write whose reply was lost, or is none (replies.py), is asked, never assumed (ledger/sender.py).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
from botocore import exceptions as botocore_errors
from botocore.config import Config
from django.db import connection

from humanexp.core.errors import (
    AlreadyDone,
    InvalidRequest,
    KeysRefused,
    NotAtRecruiter,
    OutcomeUnknown,
    RecruiterUnavailable,
    StateRefused,
)
from humanexp.recruiters import money
from humanexp.recruiters.money import FeeTable
from humanexp.recruiters.mturk.replies import (
    NotAReply,
    cents_of,
    check_answer,
    check_parameters,
    external_question,
    fault_of,
    hits_told,
    is_refusal,
    offer_report,
    refuse_what_is_none,
    requirement_list,
    submission_report,
)
from humanexp.recruiters.port import (
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
from humanexp.recruiters.states import AssignmentState

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient


#: Most that one call takes or gives.
PAGE = 100


#: The service exists here alone; botocore would build a host for any other region.
REGION = "us-east-1"
#: A time long past: expires a HIT now, and is the same in every attempt.
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
#: After any of these a look is due; what it finds is the truth.
EVENTS = (
    "AssignmentAbandoned",
    "AssignmentReturned",
    "AssignmentSubmitted",
    "AssignmentApproved",
    "AssignmentRejected",
    "HITReviewable",
    "HITExpired",
)
#: Before a read is repeated whose reply was none; longer each time.
READ_AGAIN_S = 0.1
#: One call for hints takes at most so many messages; the rest is there for the next.
MESSAGES_AT_ONCE = 100


@dataclass(frozen=True, kw_only=True)
class Queue:
    """An SQS queue that the recruiter puts events into."""

    url: str
    region: str = REGION
    #: empty: Amazon's own
    endpoint_url: str = ""


class MTurkRecruiter:
    """One endpoint with one pair of keys; without keys boto3's own search applies (profile, environment, role)."""

    bonus_calls = None
    token_memory = timedelta(hours=24)

    def __init__(
        self,
        *,
        environment: str,
        endpoint_url: str,
        fees: FeeTable,
        capabilities: Capabilities,
        access_key_id: str = "",
        secret_access_key: str = "",
        read_attempts: int = 8,
        writes_per_second: float = 4.0,
        queue: Queue | None = None,
    ) -> None:
        self.environment, self.endpoint_url, self.fees, self.queue = environment, endpoint_url, fees, queue
        self.capabilities = capabilities
        self._session = boto3.session.Session(
            aws_access_key_id=access_key_id or None,
            aws_secret_access_key=secret_access_key or None,
            region_name=REGION,
        )

        def client(attempts: int) -> MTurkClient:
            made = self._session.client(
                "mturk",
                region_name=REGION,
                endpoint_url=endpoint_url,
                config=Config(
                    connect_timeout=5,
                    read_timeout=20,
                    retries={"mode": "standard", "total_max_attempts": attempts},
                    user_agent_extra="humanexp",
                ),
            )
            made.meta.events.register("before-parse.mturk.*", refuse_what_is_none)
            return made

        self._reader, self._writer = client(read_attempts), client(1)
        self._read_attempts = read_attempts
        self._pace_s, self._last_write, self._pacing = 1 / writes_per_second, 0.0, threading.Lock()
        self.breath_s = 2 * self._pace_s
        self._events: Any = None

    # Reads ------------------------------------------------------------------------------------------------------

    def balance_cents(self) -> int | None:
        return cents_of(self._read("get_account_balance")["AvailableBalance"])

    def find(self, annotation: str) -> OfferReport | None:
        for hit in self._pages("list_hits", "HITs"):
            if hit.get("RequesterAnnotation") == annotation:
                return offer_report(hit)
        return None

    def offer(self, offer_id: str) -> OfferReport:
        return offer_report(self._read("get_hit", HITId=offer_id)["HIT"])

    def offers(self, offer_ids: Collection[str]) -> Iterator[OfferReport]:
        """The list of all HITs, read as far as needed."""
        wanted = set(offer_ids)
        for hit in self._pages("list_hits", "HITs"):
            if hit["HITId"] in wanted:
                wanted.remove(hit["HITId"])
                yield offer_report(hit)
            if not wanted:
                return

    def submissions(
        self, offer_id: str, *, states: Collection[str] = (), since: datetime | None = None
    ) -> Iterator[SubmissionReport]:
        for assignment in self._pages("list_assignments_for_hit", "Assignments", HITId=offer_id):
            yield submission_report(assignment)

    def submission(self, submission_id: str) -> SubmissionReport | None:
        try:
            found = self._read("get_assignment", AssignmentId=submission_id)["Assignment"]
        except (NotAtRecruiter, StateRefused):
            return None
        return submission_report(found)

    def bonuses(self, offer_id: str) -> Iterator[BonusReport]:
        return self._bonuses(HITId=offer_id)

    def _bonuses(self, **about: str) -> Iterator[BonusReport]:
        for payment in self._pages("list_bonus_payments", "BonusPayments", **about):
            yield BonusReport(
                submission_id=payment["AssignmentId"],
                person_id=payment["WorkerId"],
                amount_cents=cents_of(payment["BonusAmount"]),
                reason=payment["Reason"],
                paid_at=payment.get("GrantTime"),
            )

    # HITs -------------------------------------------------------------------------------------------------------

    def publish_terms(self, terms: OfferTerms) -> str:
        # The same terms give the same id, so this one write may be repeated as it is.
        required = requirement_list(terms, is_sandbox=self.capabilities.is_sandbox)
        made = self._write(
            "create_hit_type",
            Title=terms.title,
            Description=terms.description,
            Reward=money.decimal(terms.reward_cents),
            AssignmentDurationInSeconds=terms.assignment_duration_s,
            AutoApprovalDelayInSeconds=terms.auto_approval_s,
            **({"Keywords": terms.keywords} if terms.keywords else {}),
            **({"QualificationRequirements": required} if required else {}),
        )
        return str(made["HITTypeId"])

    def publish(self, order: OfferOrder) -> str:
        created = self._write(
            "create_hit_with_hit_type",
            HITTypeId=order.terms_id,
            MaxAssignments=order.places,
            LifetimeInSeconds=order.lifetime_s,
            Question=external_question(url=order.url, frame_height_px=order.frame_height_px),
            RequesterAnnotation=order.annotation,
            UniqueRequestToken=order.token,
        )
        return str(created["HIT"]["HITId"])

    def close(self, offer_id: str) -> None:
        self._end_at(offer_id, LONG_AGO)

    def change(self, offer_id: str, *, places: int | None = None, until: datetime | None = None, token: str) -> None:
        if until is not None:
            self._end_at(offer_id, until)
        more = 0 if places is None else places - self.offer(offer_id).places
        if more > 0:
            self._write(
                "create_additional_assignments_for_hit",
                HITId=offer_id,
                NumberOfAdditionalAssignments=more,
                UniqueRequestToken=token,
            )

    def _end_at(self, offer_id: str, at: datetime) -> None:
        try:
            self._write("update_expiration_for_hit", HITId=offer_id, ExpireAt=at)
        except AlreadyDone:
            return

    # Money ------------------------------------------------------------------------------------------------------

    def pay(self, order: PaymentOrder) -> Receipt:
        if isinstance(order, RewardOrder):
            self._write(
                "approve_assignment",
                AssignmentId=order.submission_id,
                OverrideRejection=order.overrides_rejection,
                **({"RequesterFeedback": order.feedback} if order.feedback else {}),
            )
        else:
            self._write(
                "send_bonus",
                WorkerId=order.person_id,
                AssignmentId=order.submission_id,
                BonusAmount=money.decimal(order.amount_cents),
                Reason=order.reason,
                UniqueRequestToken=order.token,
            )
        return Receipt()

    def evidence(self, order: PaymentOrder) -> Proof:
        if isinstance(order, RewardOrder):
            found = self.submission(order.submission_id)
            is_paid = found is not None and found.state == AssignmentState.APPROVED
            return Proof.PAID if is_paid else Proof.NOT_PAID
        return order.proof_in(bonus.reason for bonus in self._bonuses(AssignmentId=order.submission_id))

    def reject(self, submission_id: str, *, reason: str, category: str = "") -> None:
        self._write("reject_assignment", AssignmentId=submission_id, RequesterFeedback=reason)

    # People ---------------------------------------------------------------------------------------------------

    def publish_qualification(self, order: QualificationOrder) -> str:
        try:
            made = self._write(
                "create_qualification_type",
                Name=order.name,
                Description=order.description,
                QualificationTypeStatus="Active",
            )
        except AlreadyDone as err:
            found = self._qualification_named(order.name)
            if found is None:  # the list lags behind
                raise RecruiterUnavailable(f"{err.message} It is not listed yet.") from err
            return found
        return str(made["QualificationType"]["QualificationTypeId"])

    def _qualification_named(self, name: str) -> str | None:
        listed = self._pages(
            "list_qualification_types", "QualificationTypes", MustBeRequestable=False, MustBeOwnedByCaller=True
        )
        return next((str(one["QualificationTypeId"]) for one in listed if one.get("Name") == name), None)

    def grant(self, type_id: str, person_id: str) -> None:
        self._write(
            "associate_qualification_with_worker",
            QualificationTypeId=type_id,
            WorkerId=person_id,
            IntegerValue=1,
            SendNotification=False,  # by default the service writes to the worker
        )

    def revoke(self, type_id: str, person_id: str, *, reason: str) -> None:
        try:
            self._write(
                "disassociate_qualification_from_worker",
                QualificationTypeId=type_id,
                WorkerId=person_id,
                Reason=reason,
            )
        except (NotAtRecruiter, StateRefused):
            return

    def holds(self, type_id: str, person_id: str) -> bool:
        try:
            held = self._read("get_qualification_score", QualificationTypeId=type_id, WorkerId=person_id)
        except (NotAtRecruiter, StateRefused):
            return False
        return bool(held["Qualification"].get("Status") == "Granted")

    def notify(self, person_ids: list[str], *, subject: str, text: str, offer_id: str = "") -> list[str]:
        failed: list[str] = []
        for start in range(0, len(person_ids), PAGE):
            reply = self._write(
                "notify_workers", Subject=subject, MessageText=text, WorkerIds=person_ids[start : start + PAGE]
            )
            failed += [fault["WorkerId"] for fault in reply.get("NotifyWorkersFailureStatuses", [])]
        return failed

    # Hints -------------------------------------------------------------------------------------------------------

    def ask_for_hints(self, terms_id: str) -> None:
        if self.queue is None:
            return
        self._write(
            "update_notification_settings",
            HITTypeId=terms_id,
            Active=True,
            Notification={
                "Destination": self.queue.url,
                "Transport": "SQS",
                "Version": "2014-08-15",
                "EventTypes": list(EVENTS),
            },
        )

    def hints(self) -> list[str]:
        queue = self.queue
        if queue is None:
            return []
        _refuse_in_transaction("receive_message")
        if self._events is None:
            self._events = self._session.client(
                "sqs", region_name=queue.region, endpoint_url=queue.endpoint_url or None
            )
        told: list[str] = []
        try:
            for _ in range(MESSAGES_AT_ONCE // 10):
                reply = self._events.receive_message(QueueUrl=queue.url, MaxNumberOfMessages=10)
                messages = reply.get("Messages", [])
                for message in messages:
                    told += hits_told(message["Body"])
                    self._events.delete_message(QueueUrl=queue.url, ReceiptHandle=message["ReceiptHandle"])
                if not messages:
                    break
        except (botocore_errors.ClientError, botocore_errors.BotoCoreError) as err:
            raise RecruiterUnavailable(f"{self.environment}: the queue of events cannot be read: {err}") from err
        return list(dict.fromkeys(told))

    # The wire ---------------------------------------------------------------------------------------------------

    def _read(self, method: str, **parameters: Any) -> Mapping[str, Any]:
        attempts = 0
        while True:
            attempts += 1
            try:
                return self._call(self._reader, method, parameters)
            except OutcomeUnknown as err:  # a read changes nothing
                # botocore has repeated what was lost; what came and is no reply it takes for one
                if attempts == self._read_attempts or not isinstance(err.__cause__, NotAReply):
                    raise RecruiterUnavailable(f"{self.environment}: {err.message}") from err
            time.sleep(READ_AGAIN_S * attempts)

    def _pages(self, method: str, member: str, **parameters: Any) -> Iterator[Mapping[str, Any]]:
        token: dict[str, str] = {}
        while True:
            page = self._read(method, MaxResults=PAGE, **parameters, **token)
            yield from page.get(member, [])
            if not page.get("NextToken"):
                return
            token = {"NextToken": page["NextToken"]}

    def _write(self, method: str, **parameters: Any) -> Mapping[str, Any]:
        with self._pacing:
            wait_s = self._last_write + self._pace_s - time.monotonic()
            if wait_s > 0:
                time.sleep(wait_s)
            self._last_write = time.monotonic()
        return self._call(self._writer, method, parameters)

    def _call(self, client: MTurkClient, method: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        _refuse_in_transaction(method)
        operation = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method])
        check_parameters(operation.input_shape, parameters)
        try:
            reply: Mapping[str, Any] = getattr(client, method)(**parameters)
            check_answer(operation.name, parameters, reply)
            return reply
        except botocore_errors.ClientError as err:
            if not is_refusal(err.response):
                raise OutcomeUnknown(f"{operation.name}: a refusal came that the recruiter has not written.") from None
            # Without its cause: the service's own words name workers, and errors are stored and logged.
            raise fault_of(self.environment, err.response, unsaid=_workers_in(parameters)) from None
        except botocore_errors.ParamValidationError as err:
            raise InvalidRequest(str(err)) from err
        except (botocore_errors.NoCredentialsError, botocore_errors.PartialCredentialsError) as err:
            raise KeysRefused(f"There are no access keys for {self.environment}.") from err
        except (
            botocore_errors.EndpointConnectionError,
            botocore_errors.ConnectTimeoutError,
            botocore_errors.ProxyConnectionError,
        ) as err:
            raise RecruiterUnavailable(f"{self.endpoint_url} cannot be reached; nothing was changed.") from err
        except NotAReply as err:
            raise OutcomeUnknown(f"{err} What came back is no reply of the recruiter.") from err
        except botocore_errors.BotoCoreError as err:
            raise OutcomeUnknown(f"{operation.name}: the reply was lost ({type(err).__name__}).") from err


def _workers_in(parameters: Mapping[str, Any]) -> list[str]:
    one = parameters.get("WorkerId")
    return [str(one)] if one else [str(worker_id) for worker_id in parameters.get("WorkerIds", ())]


def _refuse_in_transaction(method: str) -> None:
    if connection.in_atomic_block:
        raise CalledInTransaction(f"{method} inside a database transaction")
