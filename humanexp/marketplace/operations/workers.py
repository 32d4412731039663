from __future__ import annotations

from humanexp.marketplace.registry import Answer, Call, operation
from humanexp.marketplace.services.qualifications import notify_workers


@operation("NotifyWorkers", writes=True)
def notify(call: Call) -> Answer:
    """The message lands on the worker's messages page."""
    undelivered = notify_workers(
        requester=call.requester,
        subject=call.parameters["Subject"],
        text=call.parameters["MessageText"],
        worker_ids=call.parameters["WorkerIds"],
        now=call.now,
    )
    failures = [
        {
            "NotifyWorkersFailureCode": "HardFailure",
            "NotifyWorkersFailureMessage": failure.reason,
            "WorkerId": failure.worker_id,
        }
        for failure in undelivered
    ]
    return {"NotifyWorkersFailureStatuses": failures}
