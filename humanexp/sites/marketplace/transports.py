"""The way out for notifications: SQS and SNS, or what speaks like them. The one module that calls out."""

from __future__ import annotations

from functools import cache
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.db import connection

from humanexp.sites.marketplace.errors import InvalidTransportEndpoint
from humanexp.sites.marketplace.models.notifications import Transport

_ENDPOINTS = {
    Transport.SQS: "MARKETPLACE_SQS_ENDPOINT_URL",
    Transport.SNS: "MARKETPLACE_SNS_ENDPOINT_URL",
}


def require_offered(transport: str, destination: str) -> None:
    """Only to the endpoints that this site's people have set, whatever address a requester names."""
    if transport not in _ENDPOINTS:
        raise InvalidTransportEndpoint(f"Transport: {transport} is not offered here. Use SQS or SNS.")
    if not getattr(settings, _ENDPOINTS[Transport(transport)]):
        raise InvalidTransportEndpoint(f"Transport: this marketplace has no {transport} service to send to.")
    expected = ("https://", "http://") if transport == Transport.SQS else ("arn:",)
    if not destination.startswith(expected):
        what = "the URL of a queue" if transport == Transport.SQS else "the ARN of a topic"
        raise InvalidTransportEndpoint(f"Destination: {transport} needs {what}.")


def send(*, transport: str, destination: str, body: str) -> None:
    """Raise InvalidTransportEndpoint when it could not be handed over."""
    if connection.in_atomic_block:
        raise RuntimeError("No call to the outside within a transaction.")
    require_offered(transport, destination)
    try:
        if transport == Transport.SQS:
            _client("sqs").send_message(QueueUrl=destination, MessageBody=body)
        else:
            _client("sns").publish(TopicArn=destination, Message=body)
    except (BotoCoreError, ClientError) as err:
        raise InvalidTransportEndpoint(f"The notification could not be sent: {err}") from err


@cache
def _client(name: str) -> Any:
    session = botocore.session.Session()
    return session.create_client(
        name,
        endpoint_url=getattr(settings, _ENDPOINTS[Transport(name.upper())]),
        region_name=settings.MARKETPLACE_NOTIFICATION_REGION,
        aws_access_key_id=settings.MARKETPLACE_NOTIFICATION_ACCESS_KEY_ID or "none",
        aws_secret_access_key=settings.MARKETPLACE_NOTIFICATION_SECRET_ACCESS_KEY or "none",
        config=Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=10),
    )
