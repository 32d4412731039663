"""The account, its workspaces and projects, prices, filters, groups, messages and webhooks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpResponse
from django.utils.dateparse import parse_datetime

from humanexp.addresses import is_loopback
from humanexp.sites.panel import keys
from humanexp.sites.panel.actions import add_members, send
from humanexp.sites.panel.api.bodies import BulkMessage, CostQuestion, NewGroup, NewMessage, NewProject, NewSubscription
from humanexp.sites.panel.api.protocol import Call, created, endpoint, iso, listed
from humanexp.sites.panel.errors import Refused, Shape, invalid
from humanexp.sites.panel.models import (
    Event,
    HookSecret,
    Membership,
    Message,
    Participant,
    ParticipantGroup,
    Project,
    Subscription,
    Workspace,
)
from humanexp.sites.panel.progress import EVENT_TYPES
from humanexp.sites.panel.studies import (
    LEAST_COUNT,
    filters_of,
    group_of,
    is_eligible,
    one,
    participants_by_id,
    study_of,
    workspace_of,
)
from humanexp.sites.panel.wallet import (
    RECOMMENDED_PER_HOUR,
    Cost,
    balance as balance_of,
    cost_in,
    least_hourly_cents,
    shares_of,
)
from humanexp.sites.rows import change

#: Messages can be read for so long.
_KEPT = timedelta(days=30)


def _me(call: Call) -> dict[str, Any]:
    who = call.researcher
    first = who.workspaces.order_by("pk").first()
    return {
        "id": who.researcher_id,
        "email": f"{who.researcher_id}@panel.invalid",
        "name": who.name,
        "currency_code": first.currency if first else None,
    }


def _workspace_json(workspace: Workspace) -> dict[str, Any]:
    return {
        "id": workspace.workspace_id,
        "title": workspace.title,
        "description": "",
        "owner": workspace.researcher.researcher_id,
        "currency_code": workspace.currency,
        "naivety_distribution_rate": None,
    }


def _workspaces(call: Call) -> dict[str, Any]:
    return listed(call, call.researcher.workspaces.order_by("pk"), _workspace_json)


def _balance(call: Call, workspace_id: str) -> dict[str, Any]:
    workspace = workspace_of(call.researcher, workspace_id)
    found = balance_of(workspace)

    def shares(total: int) -> dict[str, int]:
        split = shares_of(max(0, total), is_academic=workspace.is_academic, vat_percent=workspace.vat_percent)
        return {"rewards": split.amount, "fees": split.fees, "vat": split.vat}

    return {
        "currency_code": workspace.currency,
        "total_balance": found.total,
        "balance_breakdown": shares(found.total),
        "available_balance": found.available,
        "available_balance_breakdown": shares(found.available),
    }


def _project_json(project: Project) -> dict[str, Any]:
    return {
        "id": project.project_id,
        "title": project.title,
        "description": project.description,
        "owner": project.workspace.researcher.researcher_id,
        "workspace": project.workspace.workspace_id,
        "type": "PRIVATE",
    }


def _projects(call: Call, workspace_id: str) -> dict[str, Any]:
    return listed(call, workspace_of(call.researcher, workspace_id).projects.order_by("pk"), _project_json)


def _new_project(call: Call, workspace_id: str) -> HttpResponse:
    wanted: NewProject = call.body
    project = workspace_of(call.researcher, workspace_id).projects.create(**wanted.model_dump())
    return created(_project_json(project))


def _calculated_cost(call: Call) -> dict[str, Any]:
    wanted: CostQuestion = call.body
    workspace = call.researcher.workspaces.order_by("pk").first()
    one = cost_in(workspace, wanted.reward) if workspace else Cost()
    return {"total_cost": (one * wanted.total_available_places).total}


def _recommendations(call: Call) -> list[dict[str, Any]]:
    currency = call.query("currency")
    rates = {
        "currency": currency,
        "min_reward_per_hour": least_hourly_cents(currency),
        "recommended_reward_per_hour": RECOMMENDED_PER_HOUR[currency],
    }
    return [rates]


def _filters(call: Call) -> dict[str, Any]:
    workspace_id = call.query("workspace_id")
    return {"results": filters_of(workspace_of(call.researcher, workspace_id) if workspace_id else None)}


def _eligibility(call: Call) -> dict[str, Any]:
    filters = call.body.filters
    count = sum(is_eligible(one, filters) for one in Participant.objects.all())
    return {"count": count if count >= LEAST_COUNT else 0}


def _group_json(group: ParticipantGroup) -> dict[str, Any]:
    return {
        "id": group.group_id,
        "name": group.name,
        "project_id": None,
        "workspace_id": group.workspace.workspace_id,
        "organisation_id": None,
        "description": group.description,
        "participant_count": group.memberships.count(),
        "is_deleted": False,
        "feeder_studies": [],
    }


def _groups(call: Call) -> dict[str, Any]:
    groups = workspace_of(call.researcher, call.query("workspace_id")).groups.select_related("workspace")
    return listed(call, groups.order_by("pk"), _group_json)


def _new_group(call: Call) -> HttpResponse:
    wanted: NewGroup = call.body
    group = workspace_of(call.researcher, wanted.workspace_id).groups.create(
        name=wanted.name, description=wanted.description
    )
    add_members(group, participants_by_id(wanted.participant_ids), call.now)
    return created(_group_json(group))


def _member_json(membership: Membership) -> dict[str, Any]:
    return {"participant_id": membership.participant.participant_id, "datetime_created": iso(membership.made_at)}


def _members(call: Call, group_id: str) -> dict[str, Any]:
    members = group_of(call.researcher, group_id).memberships.select_related("participant").order_by("pk")
    return {"results": [_member_json(one) for one in members]}


def _add_members(call: Call, group_id: str) -> dict[str, Any]:
    people = participants_by_id(call.body.participant_ids)
    add_members(group_of(call.researcher, group_id), people, call.now)
    return _members(call, group_id)


def _remove_members(call: Call, group_id: str) -> dict[str, Any]:
    ids = call.body.participant_ids
    group_of(call.researcher, group_id).memberships.filter(participant__participant_id__in=ids).delete()
    return _members(call, group_id)


def _message_json(message: Message) -> dict[str, Any]:
    return {
        "id": message.message_id,
        "sender_id": message.sender_id,
        "body": message.body,
        "sent_at": iso(message.sent_at),
        "type": "message",
        "channel_id": message.participant.participant_id,
        "data": {"study_id": message.study.study_id},
    }


def _messages(call: Call) -> dict[str, Any]:
    after = _moment(call.query("created_after")) if call.query("created_after") else None
    person = call.query("user_id")
    if after is None and not person:
        raise Refused(400, "Validation error", "user_id or created_after is needed.")
    if after is not None and after < call.now - _KEPT:
        raise invalid("created_after", "At most 30 days ago.")
    messages = call.researcher.messages.filter(sent_at__gt=after or call.now - _KEPT)
    if person:
        messages = messages.filter(participant__participant_id=person)
    rows = messages.select_related("participant", "study", "researcher").order_by("sent_at", "pk")
    return {"results": [_message_json(one) for one in rows]}


def _moment(text: str) -> datetime:
    try:
        at = parse_datetime(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise invalid("created_after", "A time in ISO 8601 with its zone is needed.")
    return at


def _unread(call: Call) -> dict[str, Any]:
    """Written by participants; reading them here does not make them read."""
    rows = call.researcher.messages.filter(is_from_participant=True, sent_at__gt=call.now - _KEPT)
    return {"results": [_message_json(one) for one in rows.select_related("participant", "study").order_by("pk")]}


def _send(call: Call) -> HttpResponse:
    wanted: NewMessage = call.body
    send(study_of(call.researcher, wanted.study_id), participants_by_id([wanted.recipient_id]), wanted.body, call.now)
    return HttpResponse(status=204)


def _send_to_many(call: Call) -> HttpResponse:
    wanted: BulkMessage = call.body
    send(study_of(call.researcher, wanted.study_id), participants_by_id(wanted.ids), wanted.body, call.now)
    return HttpResponse(status=204)


me = endpoint(GET=_me)
workspaces = endpoint(GET=_workspaces)
balance = endpoint(GET=_balance)
projects = endpoint(GET=_projects, POST=_new_project)
cost_calculator = endpoint(POST=_calculated_cost)
recommendations = endpoint(GET=_recommendations)
filters = endpoint(GET=_filters)
eligibility = endpoint(POST=_eligibility)
groups = endpoint(GET=_groups, POST=_new_group)
members = endpoint(GET=_members, POST=_add_members, DELETE=_remove_members)
messages = endpoint(GET=_messages, POST=_send)
bulk_messages = endpoint(POST=_send_to_many)
unread = endpoint(GET=_unread)


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
