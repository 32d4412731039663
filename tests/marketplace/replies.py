"""Every reply that a test's client gets is held against botocore's service model, by another walk than the server's."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import IncompleteReadError

_GENERAL = {  # AWS's own, which no service model lists
    "MissingAuthenticationTokenException",
    "IncompleteSignatureException",
    "UnrecognizedClientException",
    "InvalidSignatureException",
    "ExpiredTokenException",
    "ThrottlingException",
    "SerializationException",
    "UnknownOperationException",
}
_STAMP = re.compile(r" \((\d{13})\)$", re.DOTALL)


def hold_replies_to_the_model(client: Any) -> None:
    client.meta.events.register("after-call.mturk", _check)


def _check(http_response: Any, model: Any, **_: Any) -> None:
    expected = int(http_response.headers["Content-Length"])
    if len(http_response.content) < expected:  # a killed server: boto3 takes an empty reply for one without members
        raise IncompleteReadError(actual_bytes=len(http_response.content), expected_bytes=expected)
    body = json.loads(http_response.content)
    assert http_response.headers["x-amzn-RequestId"]
    assert http_response.headers["Content-Type"] == "application/x-amz-json-1.1"
    if http_response.status_code == 200:
        problems = list(_problems(model.output_shape, body, model.name))
        assert not problems, problems
        return
    kind = body["__type"]
    if kind in _GENERAL:
        assert http_response.status_code == 400
        assert set(body) == {"__type", "message"}
        return
    assert kind in {shape.name for shape in model.error_shapes}, kind
    assert http_response.status_code == {"RequestError": 400, "ServiceFault": 500}[kind]
    assert set(body) == {"__type", "Message", "TurkErrorCode"}
    assert body["TurkErrorCode"].startswith("AWS."), body
    stamp = _STAMP.search(body["Message"])
    assert stamp, body
    assert abs(int(stamp[1]) / 1000 - datetime.now(UTC).timestamp()) < 120


def _problems(shape: Any, value: Any, path: str) -> Any:
    kind = shape.type_name
    if kind == "structure":
        if not isinstance(value, dict):
            yield f"{path} is no structure"
            return
        yield from (f"{path}.{name} is not in the model" for name in value.keys() - shape.members.keys())
        yield from (f"{path}.{name} is missing" for name in set(shape.required_members) - value.keys())
        for name in value.keys() & shape.members.keys():
            yield from _problems(shape.members[name], value[name], f"{path}.{name}")
    elif kind == "list":
        for number, one in enumerate(value):
            yield from _problems(shape.member, one, f"{path}[{number}]")
    elif kind == "string":
        limits = shape.metadata
        if not isinstance(value, str):
            yield f"{path} is no string"
        elif limits.get("enum") and value not in limits["enum"]:
            yield f"{path}: {value!r} is not in the enum"
        elif not limits.get("min", 0) <= len(value) <= limits.get("max", 10**6):
            yield f"{path}: {len(value)} characters"
        elif limits.get("pattern") and not re.search(limits["pattern"], value):
            yield f"{path}: {value!r} does not match {limits['pattern']}"
    elif kind == "boolean":
        if not isinstance(value, bool):
            yield f"{path} is no boolean"
    elif isinstance(value, bool) or not isinstance(value, (int, float) if kind == "timestamp" else int):
        yield f"{path}: {value!r} is no {kind}"
