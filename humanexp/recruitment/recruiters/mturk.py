"""Anything that speaks MTurk's requester API: Amazon's two endpoints and our marketplace. The only user of boto3.

Reads are retried by botocore. A write is attempted once: every retry mode of botocore pays a bonus twice when one
reply is lost. What became of a write whose reply was lost is asked, never assumed (services/sending.py).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn

import boto3
from botocore import exceptions as botocore_errors
from botocore.config import Config
from django.db import connection

from humanexp.core.errors import (
    AlreadyDone,
    InsufficientFunds,
    InvalidRequest,
    KeysRefused,
    NotAtRecruiter,
    OutcomeUnknown,
    RecruiterError,
    RecruiterUnavailable,
    StateRefused,
)
from humanexp.recruitment import money
from humanexp.recruitment.pricing import FeeTable
from humanexp.recruitment.recruiters.answers import external_question, read_answers
from humanexp.recruitment.recruiters.base import (
    AssignmentReport,
    BonusOrder,
    BonusReport,
    HitOrder,
    HitReport,
    HitTerms,
)
from humanexp.recruitment.recruiters.limits import check_parameters
from humanexp.recruitment.states import AssignmentState

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

#: The service exists here alone; botocore would build a host for any other region.
REGION = "us-east-1"
PAGE = 100
#: A time long past: expires a HIT now, and is the same in every attempt.
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)

KEY_FAULTS = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AWS.NotAuthorized",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "OptInRequired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
THROTTLES = frozenset(
    {"Throttling", "ThrottlingException", "ThrottledException", "TooManyRequestsException", "RequestLimitExceeded"}
)
STATES = {
    "Submitted": AssignmentState.SUBMITTED,
    "Approved": AssignmentState.APPROVED,
    "Rejected": AssignmentState.REJECTED,
}


class CalledInTransaction(RuntimeError):
    """A recruiter was called inside a database transaction: it would hold the writer's lock while the network waits."""


class MTurkRecruiter:
    """One endpoint with one pair of keys; without keys boto3's own search applies (profile, environment, role)."""

    pays = True

    def __init__(
        self,
        *,
        environment: str,
        endpoint_url: str,
        fees: FeeTable,
        access_key_id: str = "",
        secret_access_key: str = "",
        read_attempts: int = 8,
        writes_per_second: float = 4.0,
    ) -> None:
        self.environment, self.endpoint_url, self.fees = environment, endpoint_url, fees
        session = boto3.session.Session(
            aws_access_key_id=access_key_id or None,
            aws_secret_access_key=secret_access_key or None,
            region_name=REGION,
        )

        def client(attempts: int) -> MTurkClient:
            return session.client(
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

        self._reader, self._writer = client(read_attempts), client(1)
        self._pace_s, self._last_write, self._pacing = 1 / writes_per_second, 0.0, threading.Lock()

    # Reads ------------------------------------------------------------------------------------------------------

    def balance_cents(self) -> int | None:
        return _cents(self._read("get_account_balance")["AvailableBalance"])

    def find_hit(self, annotation: str) -> HitReport | None:
        for hit in self._pages("list_hits", "HITs"):
            if hit.get("RequesterAnnotation") == annotation:
                return _hit_report(hit)
        return None

    def hit(self, hit_id: str) -> HitReport:
        return _hit_report(self._read("get_hit", HITId=hit_id)["HIT"])

    def assignments(self, hit_id: str) -> Iterator[AssignmentReport]:
        for assignment in self._pages("list_assignments_for_hit", "Assignments", HITId=hit_id):
            yield _assignment_report(assignment)

    def assignment(self, assignment_id: str) -> AssignmentReport | None:
        try:
            found = self._read("get_assignment", AssignmentId=assignment_id)["Assignment"]
        except (NotAtRecruiter, StateRefused):
            return None
        return _assignment_report(found)

    def bonuses(self, *, hit_id: str = "", assignment_id: str = "") -> Iterator[BonusReport]:
        about = {"AssignmentId": assignment_id} if assignment_id else {"HITId": hit_id}
        for payment in self._pages("list_bonus_payments", "BonusPayments", **about):
            yield BonusReport(
                assignment_id=payment["AssignmentId"],
                worker_id=payment["WorkerId"],
                amount_cents=_cents(payment["BonusAmount"]),
                reason=payment.get("Reason", ""),
            )

    # Writes -----------------------------------------------------------------------------------------------------

    def publish_type(self, terms: HitTerms) -> str:
        # The same terms give the same id, so this one write may be repeated as it is.
        return str(
            self._write(
                "create_hit_type",
                Title=terms.title,
                Description=terms.description,
                Reward=money.dollars(terms.reward_cents),
                AssignmentDurationInSeconds=terms.assignment_duration_s,
                AutoApprovalDelayInSeconds=terms.auto_approval_s,
                **({"Keywords": terms.keywords} if terms.keywords else {}),
            )["HITTypeId"]
        )

    def publish_hit(self, order: HitOrder) -> str:
        created = self._write(
            "create_hit_with_hit_type",
            HITTypeId=order.hit_type_id,
            MaxAssignments=order.places,
            LifetimeInSeconds=order.lifetime_s,
            Question=external_question(url=order.url, frame_height_px=order.frame_height_px),
            RequesterAnnotation=order.annotation,
            UniqueRequestToken=order.token,
        )
        return str(created["HIT"]["HITId"])

    def expire_hit(self, hit_id: str) -> None:
        try:
            self._write("update_expiration_for_hit", HITId=hit_id, ExpireAt=LONG_AGO)
        except AlreadyDone:
            return

    def extend_hit(self, hit_id: str, *, places: int, token: str) -> None:
        self._write(
            "create_additional_assignments_for_hit",
            HITId=hit_id,
            NumberOfAdditionalAssignments=places,
            UniqueRequestToken=token,
        )

    def approve(self, assignment_id: str, *, feedback: str = "", override_rejection: bool = False) -> None:
        self._write(
            "approve_assignment",
            AssignmentId=assignment_id,
            OverrideRejection=override_rejection,
            **({"RequesterFeedback": feedback} if feedback else {}),
        )

    def reject(self, assignment_id: str, *, reason: str) -> None:
        self._write("reject_assignment", AssignmentId=assignment_id, RequesterFeedback=reason)

    def bonus(self, order: BonusOrder) -> None:
        self._write(
            "send_bonus",
            WorkerId=order.worker_id,
            AssignmentId=order.assignment_id,
            BonusAmount=money.dollars(order.amount_cents),
            Reason=order.reason,
            UniqueRequestToken=order.token,
        )

    def notify(self, worker_ids: list[str], *, subject: str, text: str) -> list[str]:
        failed: list[str] = []
        for start in range(0, len(worker_ids), PAGE):
            reply = self._write(
                "notify_workers", Subject=subject, MessageText=text, WorkerIds=worker_ids[start : start + PAGE]
            )
            failed += [fault["WorkerId"] for fault in reply.get("NotifyWorkersFailureStatuses", [])]
        return failed

    # The wire ---------------------------------------------------------------------------------------------------

    def _read(self, method: str, **parameters: Any) -> Mapping[str, Any]:
        try:
            return self._call(self._reader, method, parameters)
        except OutcomeUnknown as err:  # a read changes nothing
            raise RecruiterUnavailable(f"{self.environment}: {err.message}") from err

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
        if connection.in_atomic_block:
            raise CalledInTransaction(f"{method} inside a database transaction")
        operation = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method])
        check_parameters(operation.input_shape, parameters)
        try:
            return getattr(client, method)(**parameters)  # type: ignore[no-any-return]
        except botocore_errors.ClientError as err:
            self._refused(err)
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
        except botocore_errors.BotoCoreError as err:
            raise OutcomeUnknown(f"{operation.name}: the reply was lost ({type(err).__name__}).") from err

    def _refused(self, err: botocore_errors.ClientError) -> NoReturn:
        fault = err.response.get("Error", {})
        code, message = str(fault.get("Code", "")), str(fault.get("Message", ""))
        # Turk codes are not in the service model: match the code or the stable part of the sentence.
        turk_code = str(err.response.get("TurkErrorCode", "")).rpartition(".")[2]
        said = f"{self.environment}: {message or code}"
        if code in KEY_FAULTS or turk_code == "NotAuthorized":
            raise KeysRefused(f"{said} Check the access keys.") from err
        if code in THROTTLES:
            raise RecruiterUnavailable(f"{said} Too many requests; nothing was changed.") from err
        if turk_code == "InsufficientFunds":
            raise InsufficientFunds(f"{said} Add money to the requester's account; then it is sent.") from err
        if turk_code == "HitAlreadyExists" or "already been processed" in message:
            raise AlreadyDone(said) from err
        if turk_code.endswith("DoesNotExist"):
            raise NotAtRecruiter(said) from err
        if turk_code in ("InvalidAssignmentState", "InvalidHITState"):
            raise StateRefused(said) from err
        if err.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500) >= 500:
            raise OutcomeUnknown(f"{said} Whether it took effect is unknown.") from err
        raise RecruiterError(said) from err


def _cents(amount: str) -> int:
    return money.cents(amount.rstrip("."))


def _hit_report(hit: Mapping[str, Any]) -> HitReport:
    return HitReport(
        hit_id=hit["HITId"],
        annotation=hit.get("RequesterAnnotation", ""),
        is_open=hit.get("HITStatus") in ("Assignable", "Unassignable"),
        max_assignments=hit.get("MaxAssignments", 0),
        available=hit.get("NumberOfAssignmentsAvailable", 0),
        pending=hit.get("NumberOfAssignmentsPending", 0),
        completed=hit.get("NumberOfAssignmentsCompleted", 0),
        expires_at=hit.get("Expiration"),
    )


def _assignment_report(assignment: Mapping[str, Any]) -> AssignmentReport:
    return AssignmentReport(
        assignment_id=assignment["AssignmentId"],
        worker_id=assignment["WorkerId"],
        hit_id=assignment["HITId"],
        state=STATES[assignment["AssignmentStatus"]],
        submitted_at=assignment["SubmitTime"],
        accepted_at=assignment.get("AcceptTime"),
        auto_approves_at=assignment.get("AutoApprovalTime"),
        decided_at=assignment.get("ApprovalTime") or assignment.get("RejectionTime"),
        answers=read_answers(assignment.get("Answer", "")),
    )
