"""The part of an MTurk recruiter that marks people and writes to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from humanexp.core.errors import AlreadyDone, NotAtRecruiter, RecruiterUnavailable, StateRefused
from humanexp.recruitment.recruiters.base import QualificationOrder

#: Most that one call takes or gives.
PAGE = 100


class Qualifications(ABC):
    """Operations over three ways to call, which the recruiter provides."""

    @abstractmethod
    def _read(self, method: str, **parameters: Any) -> Mapping[str, Any]: ...

    @abstractmethod
    def _pages(self, method: str, member: str, **parameters: Any) -> Iterator[Mapping[str, Any]]: ...

    @abstractmethod
    def _write(self, method: str, **parameters: Any) -> Mapping[str, Any]: ...

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
