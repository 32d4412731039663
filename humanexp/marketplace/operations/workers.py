from __future__ import annotations

from humanexp.marketplace.pagination import list_answer
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
            "NotifyWorkersFailureMessage": reason,
            "WorkerId": worker_id,
        }
        for worker_id, reason in undelivered.items()
    ]
    return {"NotifyWorkersFailureStatuses": failures}


@operation("CreateWorkerBlock", writes=True)
def create_worker_block(call: Call) -> None:
    block(
        requester=call.requester,
        worker_id=call.parameters["WorkerId"],
        reason=call.parameters["Reason"],
        now=call.now,
    )


@operation("DeleteWorkerBlock", writes=True)
def delete_worker_block(call: Call) -> None:
    unblock(requester=call.requester, worker_id=call.parameters["WorkerId"])


@operation("ListWorkerBlocks")
def list_worker_blocks(call: Call) -> Answer:
    blocks = call.requester.worker_blocks.select_related("worker")
    return list_answer(call, "WorkerBlocks", blocks, worker_block_structure)
