"""A requester's money, workers and notifications."""

from __future__ import annotations

from humanexp.sites.marketplace.api.registry import Answer, Call, list_answer, operation
from humanexp.sites.marketplace.api.structures import worker_block_structure
from humanexp.sites.marketplace.money import cents_to_dollars
from humanexp.sites.marketplace.selectors.accounts import balance_of
from humanexp.sites.marketplace.selectors.work import hit_type_of
from humanexp.sites.marketplace.services.notifications import send_test, set_notification
from humanexp.sites.marketplace.services.workers import block, notify_workers, unblock


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


@operation("GetAccountBalance")
def get_account_balance(call: Call) -> Answer:
    """Available: paid in and not yet paid out. On hold: the part of it that open HITs may still cost."""
    balance = balance_of(call.requester, call.now)
    return {
        "AvailableBalance": cents_to_dollars(balance.available),
        "OnHoldBalance": cents_to_dollars(balance.on_hold),
    }


@operation("UpdateNotificationSettings", writes=True)
def update_notification_settings(call: Call) -> None:
    set_notification(
        hit_type=hit_type_of(call.requester, call.parameters["HITTypeId"]),
        wanted=call.parameters.get("Notification"),
        is_active=call.parameters.get("Active"),
        now=call.now,
    )


@operation("SendTestEventNotification")  # it calls out, so it holds no transaction
def send_test_event_notification(call: Call) -> None:
    send_test(
        wanted=call.parameters["Notification"],
        event_type=call.parameters["TestEventType"],
        requester_id=str(call.requester.pk),
        now=call.now,
    )
