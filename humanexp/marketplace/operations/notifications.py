from __future__ import annotations

from humanexp.marketplace.registry import Call, operation
from humanexp.marketplace.selectors.work import hit_type_of
from humanexp.marketplace.services.notifications import send_test, set_notification


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
