"""Webhooks: types of events, secrets, subscriptions, and the events that were sent."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpResponse

from humanexp.addresses import is_loopback
from humanexp.sites.panel import keys
from humanexp.sites.panel.api.bodies import NewSubscription
from humanexp.sites.panel.api.protocol import Call, created, endpoint, iso, listed
from humanexp.sites.panel.errors import Shape, invalid
from humanexp.sites.panel.models.hooks import Event, HookSecret, Subscription
from humanexp.sites.panel.selectors.studies import one, workspace_of
from humanexp.sites.panel.services.events import EVENT_TYPES
from humanexp.sites.rows import change


def _event_types(call: Call) -> dict[str, Any]:
    return {"results": [{"event_type": name, "description": text} for name, text in EVENT_TYPES.items()]}


def _secret_json(secret: HookSecret) -> dict[str, Any]:
    return {"id": secret.secret_id, "value": secret.value, "workspace_id": secret.workspace.workspace_id}


def _secrets(call: Call) -> dict[str, Any]:
    rows = HookSecret.objects.filter(workspace=workspace_of(call.researcher, call.query("workspace_id")))
    return {"results": [_secret_json(secret) for secret in rows.select_related("workspace").order_by("pk")]}


def _new_secret(call: Call) -> HttpResponse:
    """It replaces the old one at once."""
    workspace = workspace_of(call.researcher, call.body.workspace_id)
    HookSecret.objects.filter(workspace=workspace).delete()
    return created(_secret_json(HookSecret.objects.create(workspace=workspace)))


def _subscription_json(subscription: Subscription) -> dict[str, Any]:
    return {
        "id": subscription.subscription_id,
        "event_type": subscription.event_type,
        "target_url": subscription.target_url,
        "is_enabled": subscription.is_enabled,
        "workspace_id": subscription.workspace.workspace_id,
    }


def _mine(call: Call, subscription_id: str) -> Subscription:
    rows = Subscription.objects.filter(workspace__researcher=call.researcher, subscription_id=subscription_id)
    return one(rows.select_related("workspace"), "subscription")


def _subscriptions(call: Call) -> dict[str, Any]:
    rows = Subscription.objects.filter(workspace__researcher=call.researcher).select_related("workspace")
    if call.query("workspace_id"):
        rows = rows.filter(workspace__workspace_id=call.query("workspace_id"))
    if call.query("is_enabled"):
        rows = rows.filter(is_enabled=call.query("is_enabled") == "true")
    return listed(call, rows.order_by("pk"), _subscription_json)


def _check(event_type: str, target_url: str) -> None:
    if event_type not in EVENT_TYPES:
        raise invalid("event_type", "This is not an event type.")
    address = urlsplit(target_url)
    # The service wants public addresses with https; the panel sends to this machine, too.
    if not (address.scheme == "https" or (address.scheme == "http" and is_loopback(address.hostname or ""))):
        raise invalid("target_url", "An address with https is needed.")


def _subscribe(call: Call) -> HttpResponse:
    wanted: NewSubscription = call.body
    _check(wanted.event_type, wanted.target_url)
    workspace = workspace_of(call.researcher, wanted.workspace_id)
    subscription = Subscription.objects.create(
        workspace=workspace, event_type=wanted.event_type, target_url=wanted.target_url, confirmation=keys.token()
    )
    answer = created(_subscription_json(subscription))
    answer["X-Hook-Secret"] = subscription.confirmation
    return answer


def _subscription(call: Call, subscription_id: str) -> dict[str, Any]:
    return _subscription_json(_mine(call, subscription_id))


def _confirm(call: Call, subscription_id: str) -> dict[str, Any]:
    subscription = _mine(call, subscription_id)
    if call.body.secret != subscription.confirmation:
        raise invalid("secret", "This is not the secret of the subscription.")
    return _subscription_json(change(subscription, is_confirmed=True))


def _change(call: Call, subscription_id: str) -> dict[str, Any]:
    subscription = _mine(call, subscription_id)
    for name, value in call.body.model_dump(exclude_none=True).items():
        setattr(subscription, name, value)
    _check(subscription.event_type, subscription.target_url)
    subscription.save()
    return _subscription_json(subscription)


def _unsubscribe(call: Call, subscription_id: str) -> HttpResponse:
    _mine(call, subscription_id).delete()
    return HttpResponse(status=204)


def _event_json(event: Event) -> dict[str, Any]:
    return {
        "id": event.event_id,
        "datetime_created": iso(event.happened_at),
        "datetime_updated": iso(event.changed_at),
        "event_type": event.subscription.event_type,
        "resource_id": event.resource_id,
        "status": event.status,
        "target_url": event.subscription.target_url,
        "payload": event.payload,
    }


def _events(call: Call, subscription_id: str) -> dict[str, Any]:
    rows = _mine(call, subscription_id).events.select_related("subscription").order_by("pk")
    for name in ("status", "resource_id"):
        if call.query(name):
            rows = rows.filter(**{name: call.query(name)})
    return listed(call, rows, _event_json)


event_types = endpoint(GET=_event_types, shape=Shape.MESSAGE)
secrets = endpoint(GET=_secrets, POST=_new_secret, shape=Shape.MESSAGE)
subscriptions = endpoint(GET=_subscriptions, POST=_subscribe, shape=Shape.MESSAGE)
subscription = endpoint(GET=_subscription, POST=_confirm, PATCH=_change, DELETE=_unsubscribe, shape=Shape.MESSAGE)
events = endpoint(GET=_events, shape=Shape.MESSAGE)
