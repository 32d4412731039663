from __future__ import annotations

from humanexp.marketplace.pagination import page_of
from humanexp.marketplace.registry import Answer, Call, operation
from humanexp.marketplace.services.blocks import block, unblock
from humanexp.marketplace.services.qualifications import notify_workers
from humanexp.marketplace.structures import worker_block_structure


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


@operation("CreateWorkerBlock", writes=True)
def create_worker_block(call: Call) -> Answer:
    block(
        requester=call.requester,
        worker_id=call.parameters["WorkerId"],
        reason=call.parameters["Reason"],
        now=call.now,
    )
    return {}


@operation("DeleteWorkerBlock", writes=True)
def delete_worker_block(call: Call) -> Answer:
    unblock(requester=call.requester, worker_id=call.parameters["WorkerId"])
    return {}


@operation("ListWorkerBlocks")
def list_worker_blocks(call: Call) -> Answer:
    rows, token = page_of(
        call.requester.worker_blocks.select_related("worker"),
        call.parameters,
        order=("pk",),
        scope=f"{call.operation}:{call.requester.pk}",
    )
    structures = [worker_block_structure(row) for row in rows]
    return {"NextToken": token, "NumResults": len(rows), "WorkerBlocks": structures}
