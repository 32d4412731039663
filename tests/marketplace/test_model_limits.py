"""Every rule of the service model and of the guide, broken one at a time: refused, and the member is named."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from humanexp.sites.marketplace.api.protocol import read_parameters
from humanexp.sites.marketplace.errors import InvalidParameterValue
from tests.marketplace.model_requests import (
    NUMBERS,
    OPERATIONS,
    SERVICE,
    YEAR,
    Violation,
    operation_parameters,
    violations,
    with_value,
)
from tests.marketplace.requester import code, refused
from tests.marketplace.server import MarketplaceServer, RequesterKeys

ALL = [violation for operation in OPERATIONS for violation in violations(operation)]


def read(operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return read_parameters(operation, json.dumps(parameters).encode())


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_requests_made_from_the_model_are_read(operation: str, every: bool) -> None:
    parameters = operation_parameters(operation, every=every)
    assert read(operation, parameters).keys() == parameters.keys()


def test_every_rule_is_tried() -> None:
    assert len(ALL) > 400
    rules = {violation.rule for violation in ALL}
    assert rules == {
        "unknown",
        "required",
        "type",
        "entries",
        "least",
        "most",
        "enum",
        "pattern",
        "pattern-newline",
        "shortest",
        "longest",
        "bytes",
        "nul",
    }


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_broken_rule_is_refused_and_named(operation: str) -> None:
    for violation in violations(operation):
        with pytest.raises(InvalidParameterValue) as caught:
            read(operation, violation.parameters())
        named = [step for step in violation.path if isinstance(step, str)][-1]
        assert named in caught.value.message or violation.rule == "type", str(violation)


@given(st.data())
@settings(deadline=None)
def test_values_at_random_are_held_to_the_model(data: st.DataObject) -> None:
    """Any text and any number, in any member: read if and only if the model and the guide allow it."""
    operation = data.draw(st.sampled_from(OPERATIONS))
    shape = SERVICE.operation_model(operation).input_shape
    members = {name: one for name, one in shape.members.items() if one.type_name in ("string", "integer", "long")}
    if not members:
        return
    name = data.draw(st.sampled_from(sorted(members)))
    member, limits = members[name], members[name].metadata
    value: Any
    if member.type_name == "string":
        forms = [st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=70)]
        if limits.get("pattern"):
            forms.append(st.from_regex(limits["pattern"].removesuffix("$"), fullmatch=True).map(lambda text: text[:70]))
        if limits.get("enum"):
            forms.append(st.sampled_from(limits["enum"]))
        value = data.draw(st.one_of(forms))
        allowed = (
            (not limits.get("enum") or value in limits["enum"])
            and (not limits.get("pattern") or bool(re.fullmatch(limits["pattern"].strip("^$"), value)))
            and limits.get("min", 0) <= len(value) <= limits.get("max", 10**6)
            and not (name in ("QualificationRequestId",) and len(value) > 64)
        )
    else:
        value = data.draw(st.integers(-(2**33), 2**33))
        default = (0, YEAR) if name == "RetryDelayInSeconds" else (1, YEAR) if name == "TestDurationInSeconds" else None
        fallback = (1, 10**9) if name == "NumberOfAdditionalAssignments" else (-(2**31), 2**31 - 1)
        least, most = NUMBERS.get(name) or default or (limits.get("min", fallback[0]), limits.get("max", fallback[1]))
        allowed = least <= value <= most
    parameters = with_value(operation_parameters(operation), (name,), value)
    if allowed:
        assert read(operation, parameters)[name] == value
    else:
        with pytest.raises(InvalidParameterValue, match=name):
            read(operation, parameters)


_one_of_each: dict[tuple[str, str], Violation] = {(one.operation, one.rule): one for one in ALL}


def test_the_service_says_so_over_http(marketplace: MarketplaceServer, rich_keys: RequesterKeys) -> None:
    """boto3 with its own check switched off: each rule once for each operation, and the error that the model has."""
    client = marketplace.client(rich_keys, checked=False)
    names = {value: key for key, value in client.meta.method_to_api_mapping.items()}
    for violation in _one_of_each.values():
        if violation.rule in ("type", "unknown"):  # boto3 cannot write them
            continue
        parameters = violation.parameters()
        err = refused(getattr(client, names[violation.operation]), **parameters)
        assert err.response["Error"]["Code"] == "RequestError", str(violation)
        assert code(err) == "InvalidParameterValue", str(violation)
